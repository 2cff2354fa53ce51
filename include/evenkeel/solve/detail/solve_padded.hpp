// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/padded_reach.hpp>
#include <evenkeel/solve/detail/padded_search.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// Plans padded batches of the sorted items; `buffers.result` is the result.
///
/// @throws std::overflow_error  if the load of a rank, or of all, exceeds 64 bits.
inline void place_padded(buffers& buffers, rank_count ranks, balance_options const& options) {
    auto const& items = buffers.items;
    std::size_t const size = buffers.weights.size();
    padded_bracket bracket;
    if (items.size() > 0) {
        auto const found =
            padded_search{items.weights, ranks.value}(items.total, options.tolerance, steps_for(size, options));
        if (!found) {
            throw std::overflow_error{"balance: the padded load of a rank exceeds 64 bits"};
        }
        bracket = *found;
    }

    auto& rank_of_item = buffers.rank_of_item;
    rank_of_item.resize(size);
    if (items.size() < size) {
        deal_in_turn(rank_of_item, ranks.value);
    }
    padded_reach reach{.bound = bracket.load};
    std::uint64_t total = 0;
    for (std::uint32_t rank = 0; reach.items < items.size(); ++rank) {
        std::size_t const first = reach.items;
        reach.take(items.weights);
        total = checked_add(total, checked_multiply(reach.last, items.unit, "balance: the padded load of a rank"),
                            "balance: the total padded load");
        for (std::size_t item = first; item < reach.items; ++item) {
            rank_of_item[items.positions[item]] = rank;
        }
    }
    write_plan(rank_of_item, ranks.value, buffers.result.plan);
    buffers.result.quality = {.max_load = reach.largest * items.unit,
                              .total_load = total,
                              .lower_bound = bracket.bound * items.unit,
                              .ranks = ranks};
}

/// `balance` for the padded weights in `buffers.weights`.
inline void solve_padded(buffers& buffers, rank_count ranks, balance_options const& options) {
    buffers.items.reserve(buffers.weights.size());
    buffers.rank_of_item.reserve(buffers.weights.size());
    sort_items("balance", buffers.weights, buffers.items);
    place_padded(buffers, ranks, options);
}

}  // namespace evenkeel::detail
