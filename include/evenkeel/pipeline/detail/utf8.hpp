// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace evenkeel::detail {

/// How many bytes the character has that `text` begins with; 0 if it begins with none of UTF-8. `text` is not empty.
///
/// The well-formed sequences of the Unicode Standard, table 3-7.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    auto const between = [&](std::size_t position, unsigned least, unsigned most) {
        auto const byte = position < text.size() ? static_cast<unsigned char>(text[position]) : 0u;
        return byte >= least && byte <= most;
    };
    if (between(0, 0x00, 0x7f)) {
        return 1;
    }
    if (between(0, 0xc2, 0xdf)) {
        return between(1, 0x80, 0xbf) ? 2 : 0;
    }
    bool const third = between(2, 0x80, 0xbf);
    if (between(0, 0xe0, 0xef)) {
        // Neither longer than it need be nor half of a UTF-16 pair.
        unsigned const least = between(0, 0xe0, 0xe0) ? 0xa0 : 0x80;
        unsigned const most = between(0, 0xed, 0xed) ? 0x9f : 0xbf;
        return between(1, least, most) && third ? 3 : 0;
    }
    if (between(0, 0xf0, 0xf4)) {
        // Neither longer than it need be nor beyond Unicode.
        unsigned const least = between(0, 0xf0, 0xf0) ? 0x90 : 0x80;
        unsigned const most = between(0, 0xf4, 0xf4) ? 0x8f : 0xbf;
        return between(1, least, most) && third && between(3, 0x80, 0xbf) ? 4 : 0;
    }
    return 0;
}

}  // namespace evenkeel::detail
