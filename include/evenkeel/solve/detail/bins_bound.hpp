// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace evenkeel::detail {

/// The fewest bins of `cap` that might hold all of `sizes`; never more than are needed.
///
///     bins_bound({6, 6, 6, 4}, 10) == 3: no two of the first three share a bin
///
/// For every k up to half the cap: an item above cap - k leaves no room for one of k or more, no two items above half
/// the cap share a bin, and what is from k to half the cap has to fit beside the latter or into bins of its own. This
/// is L2 of S. Martello and P. Toth (1990); with k = 0 it contains the sum over the cap.
///
/// @param sizes  In falling order, none above the cap.
/// @complexity O(sizes)
[[nodiscard]] inline std::uint64_t bins_bound(std::span<std::uint64_t const> sizes, std::uint64_t cap) {
    std::size_t const size = sizes.size();
    std::size_t large = 0;  // above half the cap
    while (large < size && sizes[large] > cap - sizes[large]) {
        ++large;
    }
    // As k rises, ever more items leave no room (the first `alone`), and ever fewer are at least k (up to `end`).
    std::uint64_t room_beside = 0;  // beside the items from `alone` to `large`
    for (std::size_t item = 0; item < large; ++item) {
        room_beside += cap - sizes[item];
    }
    std::uint64_t middle = 0;  // of the items from `large` to `end`
    for (std::size_t item = large; item < size; ++item) {
        middle += sizes[item];
    }
    std::uint64_t bound = large;
    std::size_t alone = 0;
    for (std::size_t end = size; end > large; --end) {
        std::uint64_t const k = sizes[end - 1];
        while (alone < large && cap - sizes[alone] < k) {
            room_beside -= cap - sizes[alone];
            ++alone;
        }
        std::uint64_t const homeless = middle - std::min(middle, room_beside);
        bound = std::max(bound, large + homeless / cap + (homeless % cap != 0 ? 1 : 0));
        middle -= k;
    }
    return bound;
}

/// The same for items of which a bin holds two, three, ... at most; dearer, and the larger of both is a bound, too.
///
///     pieces_bound({50, 50, 50, 50, 50, 50, 50, 50}, 149) == 4: two of them fill a bin, though 400 is less than three
///
/// For every k, an item counts as floor((k + 1) * size / cap) / k bins, or as size / cap where that is exact: what fits
/// into a bin never counts as more than one (S. P. Fekete and J. Schepers, 2001).
///
/// @complexity O(sizes)
[[nodiscard]] inline std::uint64_t pieces_bound(std::span<std::uint64_t const> sizes, std::uint64_t cap) {
    constexpr std::uint64_t most_pieces = 12;
    std::uint64_t bound = 0;
    if (cap > std::numeric_limits<std::uint64_t>::max() / (most_pieces + 1)) {
        return bound;
    }
    for (std::uint64_t k = 1; k <= most_pieces; ++k) {
        std::uint64_t pieces = 0;  // in units of 1 / (k * (k + 1)) bins: 32 bits of items times 8 bits are no overflow
        for (auto const size : sizes) {
            std::uint64_t const parts = (k + 1) * size / cap;
            pieces += parts * (parts * cap == (k + 1) * size ? k : k + 1);
        }
        std::uint64_t const unit = k * (k + 1);
        bound = std::max(bound, pieces / unit + (pieces % unit != 0 ? 1 : 0));
    }
    return bound;
}

}  // namespace evenkeel::detail
