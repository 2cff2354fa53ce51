// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include <evenkeel/core/errors.hpp>

namespace evenkeel::detail {

/// Sizes, rates and times beyond these are slips of the pen; within them no product of the planner overflows a double.
inline constexpr double least_amount = 1e-24;
inline constexpr double most_amount = 1e24;

/// Refuses what is no amount of anything; NaN fails every comparison.
inline void require_amount(std::string_view function, std::string_view name, double value) {
    if (!(value == 0 || (value >= least_amount && value <= most_amount))) {
        throw_invalid(function, name, value, "a number from 1e-24 to 1e24, or 0");
    }
}

inline void require_positive(std::string_view function, std::string_view name, double value) {
    if (!(value >= least_amount && value <= most_amount)) {
        throw_invalid(function, name, value, "a number from 1e-24 to 1e24");
    }
}

/// A time or a size to 40 significant bits. Two formulas of one time differ in the last of 53, and a compiler may fuse
/// a multiplication with an addition; rounded, they compare as equal and the tie-breaks decide.
[[nodiscard]] inline double rounded(double amount) noexcept {
    constexpr std::uint64_t dropped = 13;
    auto bits = std::bit_cast<std::uint64_t>(amount);
    bits += std::uint64_t{1} << (dropped - 1);
    return std::bit_cast<double>(bits >> dropped << dropped);
}

}  // namespace evenkeel::detail
