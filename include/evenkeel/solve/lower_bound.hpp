// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>

namespace evenkeel {

namespace detail {

/// The bound of `lower_bound`, in units.
[[nodiscard]] inline std::uint64_t lower_bound(sorted_items const& items, std::size_t ranks) {
    auto const& weights = items.weights;
    if (weights.empty()) {
        return 0;
    }
    std::uint64_t bound = std::max(items.total / ranks + (items.total % ranks != 0 ? 1 : 0), weights.front());

    // The window holds the k + 1 smallest of the k * ranks + 1 heaviest items. With few items per rank it is summed up
    // anew, which touches few of them; with many it slides.
    bool const few = weights.size() / ranks < ranks;
    std::size_t first = 0;
    std::uint64_t window = weights.front();
    for (std::size_t last = ranks, count = 2; last < weights.size(); last += ranks, ++count) {
        if (few) {
            auto const smallest = std::span{weights}.subspan(last + 1 - count, count);
            window = std::accumulate(smallest.begin(), smallest.end(), std::uint64_t{0});
        } else {
            for (std::size_t next = last + 1 - ranks; next <= last; ++next) {
                window += weights[next];
            }
            for (std::size_t const end = first + ranks - 1; first < end; ++first) {
                window -= weights[first];
            }
        }
        bound = std::max(bound, window);
    }
    return bound;
}

}  // namespace detail

/// A load that the busiest of `ranks` ranks cannot fall below, whatever the plan.
///
///     evenkeel::lower_bound(std::vector<std::uint64_t>{6, 6, 4, 4, 4}, evenkeel::rank_count{2});   // 12 = total / 2
///     evenkeel::lower_bound(std::vector<std::uint64_t>{9, 9, 9}, evenkeel::rank_count{2});       // 18 = two of three
///
/// The largest of, with the weights in falling order a_1 >= a_2 >= ... and d ranks:
///  - the mean load, rounded up to a multiple of the weights' greatest common divisor: every load is such a multiple;
///  - a_1: some rank has the heaviest item;
///  - for every k with k * d < n, the sum a_{kd-k+1} + ... + a_{kd+1}. Of the kd + 1 heaviest items some rank has k + 1
///    by the pigeonhole principle, and no k + 1 of them weigh less than the lightest k + 1.
///
/// The first two are Graham's (1969); the third generalises his n = d + 1 argument. Never above the optimum; with ten
/// or more items per rank nearly always equal to it.
///
/// @throws std::invalid_argument  if `ranks` is zero or there are 2^32 weights or more.
/// @throws std::overflow_error    if the sum of the weights does not fit into 64 bits.
/// @complexity O(weights)
[[nodiscard]] inline std::uint64_t lower_bound(std::span<std::uint64_t const> weights, rank_count ranks) {
    detail::require_counts("lower_bound", weights.size(), ranks);
    detail::sorted_items items;
    detail::sort_items("lower_bound", weights, items);
    return detail::lower_bound(items, ranks.value) * items.unit;
}

}  // namespace evenkeel
