// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/lower_bound.hpp>

namespace evenkeel::detail {

inline constexpr std::size_t many_per_rank = 1024;

/// The same as `heavy_ones_are_few` for each k + 1 from `parts` to before twice as many.
///
/// @param heavy  What of `items` items weighs more than the bound in 2 * parts - 1.
[[nodiscard]] inline bool one_by_one(std::span<std::uint64_t const> heavy, std::uint64_t bound, std::size_t ranks,
                                     std::size_t items, std::size_t parts) noexcept {
    std::array<std::uint32_t, many_per_rank> counts;  // of those that weigh more than the bound in so many parts first
    std::fill_n(counts.begin(), parts, 0U);
    std::uint64_t weight_before = 0;
    std::uint64_t part = 0;
    for (auto const weight : heavy) {
        // Where there are few weights, those of a node that are alike follow one another.
        if (weight != weight_before) {
            weight_before = weight;
            std::uint64_t const of_part = bound / weight + 1;
            part = of_part - std::min<std::uint64_t>(of_part, parts);
        }
        ++counts[part];
    }
    std::size_t heavier = 0;
    for (std::size_t each = parts; each < 2 * parts && (each - 1) * ranks < items; ++each) {
        heavier += counts[each - parts];
        if (heavier > (each - 1) * (ranks - 1)) {
            return false;
        }
    }
    return true;
}

/// Whether so few items are heavy that no k + 1 of the k * ranks + 1 heaviest, which share a rank, weigh more than
/// `bound`: that needs so many items of more than a (k + 1)-th of it.
///
/// Looked at from the lightest that count, twice as heavy ones each time, so that ever fewer are left to look at; mostly
/// there are so few that none in between need be counted.
///
/// @param spare  Where heavy items are kept.
[[nodiscard]] inline bool heavy_ones_are_few(std::span<std::uint64_t const> weights, std::uint64_t bound,
                                             std::size_t ranks, std::vector<std::uint64_t>& spare) {
    std::size_t parts = 2;
    while ((2 * parts - 1) * ranks < weights.size()) {
        parts *= 2;
    }
    spare.resize(weights.size());
    std::span<std::uint64_t const> heavy = weights;
    for (; parts >= 2; parts /= 2) {
        std::uint64_t const least = bound / (2 * parts - 1);
        std::size_t count = 0;
        for (auto const weight : heavy) {
            spare[count] = weight;  // which ones count no processor foresees
            count += weight > least ? 1U : 0U;
        }
        heavy = std::span{spare}.first(count);
        if (count > (parts - 1) * (ranks - 1) && !one_by_one(heavy, bound, ranks, weights.size(), parts)) {
            return false;
        }
    }
    return true;
}

/// The bound of `lower_bound` for items that are sorted node by node, if at all.
///
/// With many items per rank the mean decides, or the heaviest item; only where others may, all items are sorted.
///
/// @param items  Some.
/// @param spare  Where they are sorted.
[[nodiscard]] inline std::uint64_t lower_bound(stay_items const& items, std::size_t ranks, sorted_items& spare) {
    if (items.is_falling()) {
        return lower_bound(items.sorted(), ranks);
    }
    std::uint64_t const mean = items.total() / ranks + (items.total() % ranks != 0 ? 1 : 0);
    std::uint64_t const bound = std::max(mean, items.heaviest());
    if (items.size() / ranks < many_per_rank &&
        heavy_ones_are_few(items.weights_at_hand(), bound, ranks, spare.weights)) {
        return bound;
    }
    sort_items("rebalance", items.weights(), spare);
    return lower_bound(spare, ranks);
}

}  // namespace evenkeel::detail
