// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// The items of one size.
struct size_count {
    std::uint64_t weight = 0;
    std::uint64_t count = 0;
};

/// Counts the items of each size, heaviest first, and stops where there are more than `most` sizes.
///
/// @param weights  In falling order.
/// @return         Whether there are no more.
[[nodiscard]] inline bool count_sizes(std::span<std::uint64_t const> weights, std::size_t most,
                                      std::vector<size_count>& sizes) {
    sizes.clear();
    auto first = weights.begin();
    while (first != weights.end()) {
        auto const next = std::upper_bound(first, weights.end(), *first, std::greater<>{});
        if (sizes.size() == most) {
            return false;
        }
        sizes.push_back({*first, static_cast<std::uint64_t>(next - first)});
        first = next;
    }
    return true;
}

/// worths[load]: the most that items of this load are worth, or of less, if there are enough of each size.
///
/// @param price_of  What an item of a size is worth.
/// @param most      The largest load.
/// @complexity O(sizes * most)
template <class Price>
void fill_load_worths(std::span<size_count const> sizes, Price price_of, std::uint64_t most,
                      std::vector<std::int64_t>& worths) {
    worths.assign(static_cast<std::size_t>(most) + 1, 0);
    for (std::size_t size = 0; size < sizes.size(); ++size) {
        std::int64_t const price = price_of(size);
        if (price == 0 || sizes[size].weight > most) {
            continue;
        }
        std::int64_t const* const before = worths.data();
        std::int64_t* const after = worths.data() + sizes[size].weight;
        std::size_t const loads = worths.size() - static_cast<std::size_t>(sizes[size].weight);
        for (std::size_t load = 0; load < loads; ++load) {
            after[load] = std::max(after[load], before[load] + price);
        }
    }
}

}  // namespace evenkeel::detail
