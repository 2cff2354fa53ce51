// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace evenkeel::detail {

/// weight = linear * length + quadratic * length^2 + fixed; false if that does not fit.
[[nodiscard]] constexpr bool polynomial(std::uint64_t linear, std::uint64_t quadratic, std::uint64_t fixed,
                                        std::uint64_t length, std::uint64_t& weight) noexcept {
    // (linear + quadratic * length) * length + fixed: one multiplication less than term by term.
    return !(__builtin_mul_overflow(quadratic, length, &weight) || __builtin_add_overflow(linear, weight, &weight) ||
             __builtin_mul_overflow(weight, length, &weight) || __builtin_add_overflow(weight, fixed, &weight));
}

}  // namespace evenkeel::detail
