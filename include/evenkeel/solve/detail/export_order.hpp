// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>

namespace evenkeel::detail {

/// Puts what a node may give away in the order of leaving, by class and bytes per weight, as far as an excess reaches
/// into it; what is of later classes is left as it is, the heaviest first.
///
/// @param most  What an item may weigh to be of use.
inline void order_exports(stay_items const& items, std::span<export_item const> list, std::uint64_t most,
                          std::uint64_t excess, std::vector<export_item>& order) {
    constexpr unsigned beyond = 256;
    std::uint64_t can_leave = 0;
    order.clear();
    for (unsigned at = 0, next = beyond; order.size() < list.size(); at = next, next = beyond) {
        auto const first = static_cast<std::ptrdiff_t>(order.size());
        bool const matters = can_leave < excess;
        for (auto const& item : list) {
            unsigned const of = items.class_of(item.item);
            if (of == at) {
                order.push_back(item);
                can_leave += item.weight <= most ? item.weight : 0;
            }
            next = of > at ? std::min(next, of) : next;
        }
        if (matters) {
            std::sort(order.begin() + first, order.end(),
                      [&](export_item const& a, export_item const& b) { return items.costs_less(a.item, b.item); });
        }
    }
}

}  // namespace evenkeel::detail
