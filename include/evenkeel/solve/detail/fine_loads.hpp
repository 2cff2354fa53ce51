// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace evenkeel::detail {

/// From here on loads are fine: one part in a million of them is a difference, as where the square of a length counts.
///
/// Such loads hardly ever meet a goal to the unit, and are worth approaching step by step.
inline constexpr std::uint64_t fine_load = std::uint64_t{1} << 20;

/// Whether ranks have fine loads of few items each: the lightest of these are too few to make fine differences.
[[nodiscard]] inline bool few_and_fine(std::size_t items, std::size_t ranks, std::uint64_t load) noexcept {
    return load >= fine_load && items < 13 * ranks;
}

}  // namespace evenkeel::detail
