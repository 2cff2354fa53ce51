// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>

namespace evenkeel::detail {

/// Lists the items of ranks, or of nodes, which are where `list_of(item)` says.
///
/// @param count  How many lists.
/// @param sums   Overwritten.
template <class ListOf>
void list_items(stay_items const& items, std::size_t count, std::vector<placement::summary>& sums, placement& lists,
                ListOf list_of) {
    auto const order = items.order();
    auto const weights = items.sorted_weights();
    sums.assign(count, {});
    for (std::size_t place = 0; place < order.size(); ++place) {
        auto& sum = sums[list_of(order[place])];
        ++sum.count;
        sum.load += weights[place];
    }
    lists.reset(weights, order, sums, [&](auto const& put) {
        for (std::size_t place = 0; place < order.size(); ++place) {
            put(place, list_of(order[place]));
        }
    });
    if (!items.is_falling()) {
        lists.restore_order();
    }
}

}  // namespace evenkeel::detail
