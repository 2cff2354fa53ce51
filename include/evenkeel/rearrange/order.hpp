// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>

namespace evenkeel {

namespace detail {

inline void sort_by_place(layout const& layout, std::vector<item_id>& items) {
    auto const place = [&](item_id item) { return layout[item]; };
    if (!std::ranges::is_sorted(items, {}, place)) {
        std::ranges::sort(items, {}, place);
    }
}

}  // namespace detail

/// The items that a world rank holds, in the order of its memory: micro-batch by micro-batch, position by position.
///
///     evenkeel::items_on(evenkeel::home_layout(std::vector<std::size_t>{2, 3}), evenkeel::world_rank{1});
///     // items 2, 3, 4
///
/// @complexity O(items of the layout + k log k) for k items on the rank; O(items) where they lie in order of their id.
[[nodiscard]] inline std::vector<item_id> items_on(layout const& layout, world_rank rank) {
    std::vector<item_id> items;
    for (std::size_t item = 0; item < layout.size(); ++item) {
        if (layout.places[item].rank == rank) {
            items.push_back(to_id<item_id>(item));
        }
    }
    detail::sort_by_place(layout, items);
    return items;
}

/// The same for all ranks, one after the other, in memory that is kept.
inline void items_in_order(layout const& layout, std::vector<item_id>& items) {
    items.resize(layout.size());
    for (std::size_t item = 0; item < items.size(); ++item) {
        items[item] = to_id<item_id>(item);
    }
    detail::sort_by_place(layout, items);
}

/// All items in the order of memory, rank after rank.
///
///     // Item 1 of three is on rank 1, the others on rank 0.
///     evenkeel::items_in_order(layout);   // items 0, 2, 1
///
/// @complexity O(n log n), O(n) where they lie in order of their id.
[[nodiscard]] inline std::vector<item_id> items_in_order(layout const& layout) {
    std::vector<item_id> items;
    items_in_order(layout, items);
    return items;
}

}  // namespace evenkeel
