// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/wish_input.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// Lets ranks that are alike swap what they do, in turns, step by step.
///
/// @param order  Memory.
inline void take_turns(wish_problem const& problem, wishes const& asked, std::vector<std::uint32_t>& order,
                       std::span<std::uint32_t> rank_of) {
    if (asked.step == 0) {
        return;
    }
    // First which ranks have something pinned, then the ranks that can swap, those of one speed together.
    std::size_t const ranks = problem.ranks();
    order.assign(2 * ranks, 0);
    auto const successor = std::span{order}.first(ranks);
    for (auto const pin : asked.pinned) {
        if (pin != unpinned) {
            successor[to_index(pin)] = 1;
        }
    }
    std::size_t size = 0;
    auto const alike = std::span{order}.subspan(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (successor[rank] == 0) {
            alike[size++] = rank;
        }
        successor[rank] = rank;
    }
    auto const speed = [&](std::uint32_t rank) { return problem.speeds.empty() ? 1 : problem.speeds[rank]; };
    std::ranges::sort(alike.first(size), [&](std::uint32_t a, std::uint32_t b) {
        return speed(a) < speed(b) || (speed(a) == speed(b) && a < b);
    });
    for (std::size_t first = 0; first < size;) {
        std::size_t last = first;
        while (last < size && speed(alike[last]) == speed(alike[first])) {
            ++last;
        }
        std::size_t const count = last - first;
        for (std::size_t place = 0; place < count; ++place) {
            successor[alike[first + place]] = alike[first + (place + asked.step % count) % count];
        }
        first = last;
    }
    for (auto& rank : rank_of) {
        rank = successor[rank];
    }
}

/// Sends what weighs nothing back to where it was drawn, as far as counts stay the same: one such item is like another.
///
/// @param homes   Of the items.
/// @param counts  Memory.
inline void send_home(wish_input const& input, std::span<std::uint32_t const> homes, std::vector<std::size_t>& counts,
                      std::span<std::uint32_t> rank_of) {
    auto const& problem = input.problem;
    std::size_t const weighing =
        static_cast<std::size_t>(std::ranges::find(problem.weights, 0U) - problem.weights.begin());
    if (!problem.single || weighing == problem.size()) {
        return;
    }
    constexpr auto nowhere = static_cast<std::uint32_t>(unpinned);
    counts.assign(problem.ranks(), 0);
    auto const free = [&](std::size_t bundle) { return problem.quantities[bundle] == 0; };
    for (std::size_t bundle = weighing; bundle < problem.size(); ++bundle) {
        if (free(bundle)) {
            ++counts[rank_of[bundle]];
            rank_of[bundle] = nowhere;
        }
    }
    for (std::size_t bundle = weighing; bundle < problem.size(); ++bundle) {
        if (auto const home = homes[input.firsts[bundle]]; free(bundle) && counts[home] > 0) {
            --counts[home];
            rank_of[bundle] = home;
        }
    }
    std::uint32_t rank = 0;
    for (std::size_t bundle = weighing; bundle < problem.size(); ++bundle) {
        if (free(bundle) && rank_of[bundle] == nowhere) {
            while (counts[rank] == 0) {
                ++rank;
            }
            --counts[rank];
            rank_of[bundle] = rank;
        }
    }
}

}  // namespace evenkeel::detail
