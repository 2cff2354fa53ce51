// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel {

/// Carries out a rearrangement on values that lie in one memory: what the exchange does between ranks.
///
///     // Item 1 goes from rank 0, which has items 0 and 1, to rank 1, behind item 2.
///     evenkeel::rearrange(std::string{"abc"}, move);   // 'a', 'c', 'b'
///
/// `values` are in the order of `move.from()`: rank after rank, micro-batch by micro-batch, position by position. The
/// result is in the order of `move.to()`. Plain loaders use it to reorder a batch; tests hold the exchange against it.
///
/// @throws std::invalid_argument  if there is not one value per item.
/// @complexity O(n log n), O(n) where both layouts keep items in order of their id.
template <std::ranges::random_access_range Values>
requires std::ranges::sized_range<Values> && std::copyable<std::ranges::range_value_t<Values>>
[[nodiscard]] auto rearrange(Values&& values, rearrangement const& move) {
    auto const count = static_cast<std::size_t>(std::ranges::size(values));
    if (count != move.size()) {
        throw_invalid("rearrange", "values.size()", count,
                      "one value for each of " + std::to_string(move.size()) + " items");
    }
    std::vector<std::size_t> position(count);
    auto const before = items_in_order(move.from());
    for (std::size_t slot = 0; slot < count; ++slot) {
        position[to_index(before[slot])] = slot;
    }
    std::vector<std::ranges::range_value_t<Values>> result;
    result.reserve(count);
    auto const first = std::ranges::begin(values);
    for (item_id const item : items_in_order(move.to())) {
        result.push_back(first[static_cast<std::ranges::range_difference_t<Values>>(position[to_index(item)])]);
    }
    return result;
}

}  // namespace evenkeel
