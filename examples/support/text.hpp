// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel::examples {

/// One character of UTF-8 text, or one byte that is none.
struct character {
    std::size_t bytes = 1;
    char32_t code = 0;
    bool valid = false;
};

/// The character that `text` begins with. `text` must not be empty.
[[nodiscard]] character first_character(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Whether a terminal or a parser may take it for more than text: C0, DEL and C1.
[[nodiscard]] constexpr bool is_control(char32_t code) noexcept { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

/// `text` without the blanks and tabs around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// `text` on one line: control characters and bytes that are no UTF-8 become `\x1b`.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` cut to `most` characters, the last of them an ellipsis where something was cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// How an error shows what it found: 'on one line, in quotes, and not too long'.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// How many columns of a terminal `text` takes, one per character.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;

/// "0 B", "999 B", "41.3 MB": decimal units, three digits.
[[nodiscard]] std::string human_bytes(double bytes);

}  // namespace evenkeel::examples
