// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/lower_bound.hpp>

namespace evenkeel::detail {

/// How many items weigh more than `least`.
[[nodiscard]] inline std::size_t count_heavier(stay_items const& items, std::uint64_t least) noexcept {
    std::size_t count = 0;
    std::size_t first = 0;
    for (auto const end : items.district_ends()) {
        auto const district = std::span{items.sorted.weights}.subspan(first, end - first);
        count += static_cast<std::size_t>(std::ranges::lower_bound(district, least, std::greater{}) - district.begin());
        first = end;
    }
    return count;
}

/// The bound of `lower_bound` for items that are sorted district by district.
///
/// With many items per rank the mean decides, or the heaviest item. That k + 1 of the k * ranks + 1 heaviest items,
/// which share a rank, weigh more needs so many items of more than a (k + 1)-th of it; only where there are, all items
/// are sorted.
///
/// @param items  Some.
/// @param spare  Where they are sorted.
[[nodiscard]] inline std::uint64_t lower_bound(stay_items const& items, std::size_t ranks, sorted_items& spare) {
    if (items.is_falling()) {
        return lower_bound(items.sorted, ranks);
    }
    constexpr std::size_t many_per_rank = 1024;
    std::uint64_t const bound =
        std::max(items.sorted.total / ranks + (items.sorted.total % ranks != 0 ? 1 : 0), items.heaviest());
    bool decides = items.size() / ranks < many_per_rank;
    for (std::size_t count = 2; (count - 1) * ranks < items.size() && decides; ++count) {
        decides = count_heavier(items, bound / count) <= (count - 1) * (ranks - 1);
    }
    if (decides) {
        return bound;
    }
    spare.weights.assign(items.sorted.weights.begin(), items.sorted.weights.end());
    std::ranges::sort(spare.weights, std::greater{});
    spare.total = items.sorted.total;
    return lower_bound(spare, ranks);
}

}  // namespace evenkeel::detail
