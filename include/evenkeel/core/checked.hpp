// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evenkeel {

/// a + b, or an error: a wrapped sum would make a heavy rank look idle.
///
/// @param what  Names the sum in the message: "total load" gives "total load exceeds 64 bits".
/// @throws std::overflow_error  if the sum does not fit into 64 bits.
[[nodiscard]] constexpr std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, std::string_view what) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        throw std::overflow_error{std::string{what}.append(" exceeds 64 bits")};
    }
    return sum;
}

/// a * b, or an error.
///
/// @throws std::overflow_error  if the product does not fit into 64 bits.
[[nodiscard]] constexpr std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b, std::string_view what) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        throw std::overflow_error{std::string{what}.append(" exceeds 64 bits")};
    }
    return product;
}

}  // namespace evenkeel
