// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evenkeel::detail {

/// Refuses a sum or a product that does not fit, with what it is of.
///
///     throw_overflow("orchestrate", "the length of sample 3", 7, "+", 9);
///     // "orchestrate: the length of sample 3, 7 + 9, exceeds 64 bits"
[[noreturn]] inline void throw_overflow(std::string_view function, std::string_view what, std::uint64_t a,
                                        std::string_view sign, std::uint64_t b) {
    std::string text{function};
    text.append(": ").append(what).append(", ").append(std::to_string(a)).append(" ").append(sign).append(" ");
    throw std::overflow_error{text.append(std::to_string(b)).append(", exceeds 64 bits")};
}

/// a + b, or an error.
///
/// @param name  Makes the name of the sum, only where it is needed.
template <class Name>
[[nodiscard]] std::uint64_t sum_or_throw(std::string_view function, std::uint64_t a, std::uint64_t b,
                                         Name const& name) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        throw_overflow(function, name(), a, "+", b);
    }
    return sum;
}

/// a * b, or an error.
template <class Name>
[[nodiscard]] std::uint64_t product_or_throw(std::string_view function, std::uint64_t a, std::uint64_t b,
                                             Name const& name) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        throw_overflow(function, name(), a, "*", b);
    }
    return product;
}

}  // namespace evenkeel::detail
