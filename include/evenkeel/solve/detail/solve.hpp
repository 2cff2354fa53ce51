// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// `balance` for the weights in `buffers.weights`; the result is in `buffers.result`.
inline void solve(buffers& buffers, rank_count ranks, [[maybe_unused]] balance_options const& options) {
    auto& items = buffers.items;
    sort_items("balance", buffers.weights, items);
    std::uint64_t const bound = lower_bound(items, ranks.value);

    buffers.rank_of.resize(items.size());
    std::uint64_t const busiest = longest_first(items.weights, ranks.value, buffers.loads, buffers.rank_of);

    // An item that weighs nothing needs no search: spread evenly in the order of the batch, it mostly stays at home.
    std::size_t const size = buffers.weights.size();
    auto& rank_of_item = buffers.rank_of_item;
    rank_of_item.resize(size);
    for (std::size_t item = 0; item < size; ++item) {
        rank_of_item[item] = static_cast<std::uint32_t>(item * ranks.value / size);
    }
    for (std::size_t item = 0; item < items.size(); ++item) {
        rank_of_item[items.positions[item]] = buffers.rank_of[item];
    }
    write_plan(rank_of_item, ranks.value, buffers.result.plan);
    buffers.result.quality = {.max_load = busiest * items.unit,
                              .total_load = items.total * items.unit,
                              .lower_bound = bound * items.unit,
                              .ranks = ranks};
}

}  // namespace evenkeel::detail
