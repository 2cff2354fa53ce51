// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/search.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// The steps that `options.effort` allows for a batch, of which the smallest count as one of 256 samples.
[[nodiscard]] inline step_budget steps_for(std::size_t samples, balance_options const& options) {
    std::uint64_t steps = 0;
    bool const unlimited = __builtin_mul_overflow(std::max<std::uint64_t>(samples, 256), options.effort, &steps);
    return step_budget{unlimited ? std::numeric_limits<std::uint64_t>::max() : steps};
}

/// `balance` for the weights in `buffers.weights`; the result is in `buffers.result`.
inline void solve(buffers& buffers, rank_count ranks, balance_options const& options) {
    auto& items = buffers.items;
    std::size_t const size = buffers.weights.size();
    items.reserve(size);
    buffers.searching.reserve(size, ranks.value);
    buffers.rank_of.reserve(size);

    sort_items("balance", buffers.weights, items);
    buffers.rank_of.resize(items.size());
    standing best{.busiest = longest_first(items.weights, ranks.value, buffers.loads, buffers.rank_of),
                  .bound = lower_bound(items, ranks.value)};
    buffers.searching(items, ranks.value, goal_of(best.bound, options.tolerance), buffers.loads, buffers.rank_of, best,
                      steps_for(size, options));

    // An item that weighs nothing needs no search: spread evenly in the order of the batch, it mostly stays at home.
    auto& rank_of_item = buffers.rank_of_item;
    rank_of_item.resize(size);
    for (std::size_t item = 0; item < size; ++item) {
        rank_of_item[item] = static_cast<std::uint32_t>(item * ranks.value / size);
    }
    for (std::size_t item = 0; item < items.size(); ++item) {
        rank_of_item[items.positions[item]] = buffers.rank_of[item];
    }
    write_plan(rank_of_item, ranks.value, buffers.result.plan);
    buffers.result.quality = {.max_load = best.busiest * items.unit,
                              .total_load = items.total * items.unit,
                              .lower_bound = best.bound * items.unit,
                              .ranks = ranks};
}

}  // namespace evenkeel::detail
