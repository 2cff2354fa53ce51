// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evenkeel {

/// Refuses a caller's wrong value with the one wording that all of evenkeel uses.
///
///     throw_invalid("balance", "ranks", "0", "at least 1");   // "balance: ranks = 0, expected at least 1"
///
/// @throws std::invalid_argument  always.
[[noreturn]] inline void throw_invalid(std::string_view function, std::string_view argument, std::string_view found,
                                       std::string_view expected) {
    std::string text;
    text.append(function).append(": ").append(argument).append(" = ").append(found);
    text.append(", expected ").append(expected);
    throw std::invalid_argument{text};
}

/// As above, for a number, with as many digits as tell it from its neighbours and none that depend on the locale.
template <class Number>
requires std::integral<Number> || std::floating_point<Number>
[[noreturn]] void throw_invalid(std::string_view function, std::string_view argument, Number found,
                                std::string_view expected) {
    char digits[64];  // the longest number, a 128-bit floating one, takes 44
    auto const end = std::to_chars(digits, digits + sizeof digits, found).ptr;
    throw_invalid(function, argument, std::string_view(digits, static_cast<std::size_t>(end - digits)), expected);
}

/// Names one element of an argument: `element("samples", 7)` is "samples[7]".
[[nodiscard]] inline std::string element(std::string_view argument, std::size_t position) {
    return std::string{argument}.append("[").append(std::to_string(position)).append("]");
}

}  // namespace evenkeel
