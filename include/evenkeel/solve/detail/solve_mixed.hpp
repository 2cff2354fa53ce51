// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/mixed_bound.hpp>
#include <evenkeel/solve/detail/mixed_buffers.hpp>
#include <evenkeel/solve/detail/mixed_patterns.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// Finds a rank for each sorted item.
///
/// @return  The best lower bound.
/// @throws std::overflow_error  if the load of a rank exceeds 64 bits.
inline std::uint64_t place_mixed(buffers& buffers, std::size_t ranks, balance_options const& options) {
    auto& [padded, sizes, searching, patterns, exchanging, complete, cursors, loads] = buffers.mixed;
    // A local search of a large batch comes to an end by itself only after long.
    constexpr std::uint64_t most_exchanging = std::uint64_t{1} << 16;

    std::uint64_t bound = mixed_bound(sizes, ranks);
    std::uint64_t goal = goal_of(bound, options.tolerance);
    step_budget steps = steps_for(buffers.weights.size(), options);
    auto const found = searching(sizes, ranks, bound, goal, steps);
    if (!found) {
        throw std::overflow_error{"balance: the padded load of a rank exceeds 64 bits"};
    }
    cursors.assign(sizes.first.begin(), sizes.first.end());
    searching.place(*found, [&](std::size_t rank, std::uint32_t size, std::uint64_t count) {
        for (std::uint64_t item = 0; item < count; ++item) {
            buffers.rank_of[cursors[size]++] = static_cast<std::uint32_t>(rank);
        }
    });
    std::uint64_t busiest = found->load;
    if (busiest > goal && !steps.exhausted() && sizes.size() <= mixed_patterns::most_sizes) {
        step_budget part = steps.part(steps.left() / 4);
        bound = patterns(sizes, ranks, bound, busiest, part);
        goal = goal_of(bound, options.tolerance);
        steps.give_back(part);
    }
    if (busiest > goal && !steps.exhausted()) {
        step_budget part = steps.part(std::min(most_exchanging, steps.left() / 2));
        busiest = exchanging(sizes, ranks, goal, buffers.rank_of, part);
        steps.give_back(part);
    }
    if (busiest > goal && !steps.exhausted() && sizes.items() <= mixed_complete::most_items &&
        complete(sizes, ranks, goal, busiest, buffers.rank_of, steps)) {
        bound = busiest;
    }
    return bound;
}

/// Writes the ranks of the sorted items into `buffers.rank_of_item`, and what their loads come to into the result.
inline void assess_mixed(buffers& buffers, rank_count ranks, std::uint64_t bound) {
    auto const& items = buffers.items;
    auto const& sizes = buffers.mixed.sizes;
    auto& loads = buffers.mixed.loads;
    loads.assign(ranks.value, {});
    for (std::size_t item = 0; item < items.size(); ++item) {
        std::uint32_t const rank = buffers.rank_of[item];
        std::uint32_t const size = sizes.of_item[item];
        buffers.rank_of_item[items.positions[item]] = rank;
        auto& load = loads[rank];
        load.longest = load.count == 0 ? size : load.longest;
        ++load.count;
        load.packed += sizes.packed[size];
    }
    quality result{.lower_bound = bound, .ranks = ranks};
    for (auto const& [count, packed, longest] : loads) {
        if (count > 0) {
            constexpr auto what = "balance: the padded load of a rank";
            std::uint64_t const load = checked_add(packed, checked_multiply(count, sizes.padded[longest], what), what);
            result.max_load = std::max(result.max_load, load);
            result.total_load = checked_add(result.total_load, load, "balance: the total padded load");
        }
    }
    buffers.result.quality = result;
}

/// `balance` for the sums of padded and packed weights in `buffers.weights`, of which `buffers.mixed.padded` is a part.
inline void solve_mixed(buffers& buffers, rank_count ranks, balance_options const& options) {
    auto& items = buffers.items;
    std::size_t const size = buffers.weights.size();
    items.reserve(size);
    buffers.mixed.reserve(size, ranks.value);
    buffers.rank_of.reserve(size);
    buffers.rank_of_item.reserve(size);
    sort_items("balance", buffers.weights, items);
    buffers.mixed.sizes.assign(items, buffers.mixed.padded);
    buffers.rank_of.resize(items.size());
    std::uint64_t const bound = items.size() > 0 ? place_mixed(buffers, ranks.value, options) : 0;

    auto& rank_of_item = buffers.rank_of_item;
    rank_of_item.resize(size);
    if (items.size() < size) {
        deal_in_turn(rank_of_item, ranks.value);
    }
    assess_mixed(buffers, ranks, bound);
    write_plan(rank_of_item, ranks.value, buffers.result.plan);
}

}  // namespace evenkeel::detail
