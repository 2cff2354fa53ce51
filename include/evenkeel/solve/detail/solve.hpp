// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/fine_loads.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/search.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// The steps that `options.effort` allows for a batch, where a small batch counts as one of 1024 samples.
[[nodiscard]] inline step_budget steps_for(std::size_t samples, balance_options const& options,
                                           std::uint64_t fewest = 1024) {
    std::uint64_t steps = 0;
    bool const unlimited = __builtin_mul_overflow(std::max<std::uint64_t>(samples, fewest), options.effort, &steps);
    return step_budget{unlimited ? std::numeric_limits<std::uint64_t>::max() : steps};
}

/// What `options.effort` leaves as good enough of a goal of a million units or more.
[[nodiscard]] inline std::uint64_t close_to(std::uint64_t goal, std::uint64_t effort) noexcept {
    return goal < fine_load || effort >= goal / 80 ? goal : goal + goal / (80 * std::max<std::uint64_t>(effort, 1));
}

/// Sends item i of n to rank floor(i * ranks / n).
///
/// For items that weigh nothing and need no search: in the order of the batch and in equal numbers, most stay at home.
inline void deal_in_turn(std::span<std::uint32_t> rank_of_item, std::size_t ranks) {
    std::size_t const size = rank_of_item.size();
    std::size_t item = 0;
    for (std::size_t rank = 0; item < size; ++rank) {
        // One division per rank instead of one per item.
        std::size_t const end = ((rank + 1) * size + ranks - 1) / ranks;
        std::fill_n(rank_of_item.begin() + static_cast<std::ptrdiff_t>(item), end - item,
                    static_cast<std::uint32_t>(rank));
        item = end;
    }
}

/// Writes the plan for the sorted items, whose ranks are in `buffers.rank_of`, and for what weighs nothing.
inline void write_whole_plan(buffers& buffers, std::size_t batch, std::size_t ranks) {
    auto const& items = buffers.items;
    auto& plan = buffers.result.plan;
    if (items.size() == batch && !items.places.empty()) {
        write_sorted_plan(items.places, buffers.rank_of, ranks, plan);
        return;
    }
    buffers.rank_of_item.resize(batch);
    if (items.size() < batch) {
        deal_in_turn(buffers.rank_of_item, ranks);
    }
    write_to_batch(items, buffers.rank_of, buffers.rank_of_item);
    write_plan(buffers.rank_of_item, ranks, plan);
}

/// `balance` for the weights in `buffers.weights`, which are used up; the result is in `buffers.result`.
inline void solve(buffers& buffers, rank_count ranks, balance_options const& options) {
    auto& items = buffers.items;
    std::size_t const size = buffers.weights.size();
    buffers.reserve(size, ranks.value);
    sort_places("balance", buffers.weights, items);
    buffers.rank_of.resize(items.size());
    standing best{.busiest = buffers.longest(items.weights, items.total, ranks.value, buffers.rank_of),
                  .bound = lower_bound(items, ranks.value)};
    std::uint64_t const goal = goal_of(best.bound, options.tolerance);
    std::uint64_t const close = items.size() > complete_search::most_items ? close_to(goal, options.effort) : goal;
    // Samples that weigh nothing leave their steps to the others, the more so the fewer these are.
    std::size_t const often = 10 * items.size() <= 33 * ranks.value ? 6 : items.size() < 5 * ranks.value ? 3 : 1;
    // Ranks of a few nodes have few to exchange with; there, more steps take no longer than a millisecond or two.
    std::size_t const longer = ranks.value > 16 && ranks.value <= 64 ? 4 : 1;
    auto const steps = steps_for(items.size() * 7 / 4 * often * longer, options, 512);
    buffers.searching(items, buffers.longest.loads(), close, buffers.rank_of, best, steps);
    if (best.busiest > goal && options.effort > 0 && differencing::suits(items.size(), ranks.value)) {
        buffers.differing.improve(items.weights, ranks.value, buffers.rank_of, best.busiest);
    }
    write_whole_plan(buffers, size, ranks.value);
    buffers.result.quality = {.max_load = best.busiest * items.unit,
                              .total_load = items.total * items.unit,
                              .lower_bound = best.bound * items.unit,
                              .ranks = ranks};
}

}  // namespace evenkeel::detail
