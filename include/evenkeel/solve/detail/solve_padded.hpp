// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/padded_reach.hpp>
#include <evenkeel/solve/detail/padded_search.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// Appends the items of the batch that weigh nothing and, dealt in turn, are those of `rank`.
///
/// @return  The new end of `items`, which has room for one more.
[[nodiscard]] inline std::size_t append_absent(std::span<std::uint64_t const> weights, std::size_t rank,
                                               std::size_t ranks, std::span<item_id> items, std::size_t end) {
    std::size_t const size = weights.size();
    auto const first_of = [&](std::size_t one) { return (one * size + ranks - 1) / ranks; };
    for (std::size_t item = first_of(rank); item < first_of(rank + 1); ++item) {
        // Without a branch, which could not be foreseen.
        items[end] = to_id<item_id>(item);
        end += weights[item] == 0 ? 1U : 0U;
    }
    return end;
}

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

    auto& plan = buffers.result.plan;
    plan.micro_batches = 1;
    plan.offsets.assign(ranks.value + 1, 0);
    plan.items.resize(size + 1);  // room for an item that is written before it is known whether it belongs there
    padded_reach reach{.bound = bracket.load};
    std::size_t end = 0;
    std::uint64_t total = 0;
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        if (reach.items < items.size()) {
            std::size_t const first = reach.items;
            reach.take(items.weights);
            total = checked_add(total, checked_multiply(reach.last, items.unit, "balance: the padded load of a rank"),
                                "balance: the total padded load");
            for (std::size_t item = first; item < reach.items; ++item) {
                plan.items[end++] = item_id{items.positions[item]};
            }
        }
        if (items.size() < size) {
            end = append_absent(buffers.weights, rank, ranks.value, plan.items, end);
        }
        plan.offsets[rank + 1] = end;
    }
    plan.items.resize(size);
    buffers.result.quality = {.max_load = reach.largest * items.unit,
                              .total_load = total,
                              .lower_bound = bracket.bound * items.unit,
                              .ranks = ranks};
}

/// `balance` for the padded weights in `buffers.weights`.
inline void solve_padded(buffers& buffers, rank_count ranks, balance_options const& options) {
    buffers.items.reserve(buffers.weights.size());
    buffers.result.plan.items.reserve(buffers.weights.size() + 1);
    sort_items("balance", buffers.weights, buffers.items);
    place_padded(buffers, ranks, options);
}

}  // namespace evenkeel::detail
