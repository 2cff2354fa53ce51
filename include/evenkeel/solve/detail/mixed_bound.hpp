// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <evenkeel/solve/detail/mixed_sizes.hpp>

namespace evenkeel::detail {

/// A load that no partition of the items is below, whatever is padded and what is not.
///
/// The mean without padding; the heaviest item; and, as some rank has k + 1 of the kd + 1 heaviest items, what those
/// cost together, the longest of them padding the others. All loads are multiples of the unit.
[[nodiscard]] inline std::uint64_t mixed_bound(mixed_sizes const& sizes, std::size_t ranks) {
    std::uint64_t bound = std::max(sizes.total / ranks + (sizes.total % ranks != 0 ? 1 : 0), sizes.whole(0));
    // More per rank are lighter together than the mean.
    constexpr std::size_t most = 8;
    std::uint64_t count = 2;
    for (std::size_t last = ranks; last < sizes.items() && count <= most; last += ranks, ++count) {
        std::size_t const first = last + 1 - static_cast<std::size_t>(count);
        std::uint64_t load = 0;
        bool fits = !__builtin_mul_overflow(count, sizes.padded[sizes.of_item[first]], &load);
        for (std::size_t item = first; item <= last; ++item) {
            fits = fits && !__builtin_add_overflow(load, sizes.packed[sizes.of_item[item]], &load);
        }
        if (fits) {
            bound = std::max(bound, load);
        }
    }
    std::uint64_t const surplus = bound % sizes.unit;
    return surplus == 0 ? bound : bound + (sizes.unit - surplus);
}

}  // namespace evenkeel::detail
