// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <array>

#include <fmt/format.h>

namespace evenkeel::examples {

character first_character(std::string_view text) noexcept {
    auto const lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) {
        return {.bytes = 1, .code = lead, .valid = true};
    }
    auto const bytes = lead >= 0xf0 ? 4u : lead >= 0xe0 ? 3u : 2u;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) {
        return {};
    }
    auto code = static_cast<char32_t>(lead & (0x7fu >> bytes));
    for (auto const byte : text.substr(1, bytes - 1)) {
        auto const value = static_cast<unsigned char>(byte);
        if ((value & 0xc0u) != 0x80u) {
            return {};
        }
        code = (code << 6u) | (value & 0x3fu);
    }
    // Longer than it need be, half of a UTF-16 pair, or beyond Unicode.
    constexpr auto least = std::array<char32_t, 5>{0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) {
        return {};
    }
    return {.bytes = bytes, .code = code, .valid = true};
}

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        auto const next = first_character(text);
        if (!next.valid) {
            return false;
        }
        text.remove_prefix(next.bytes);
    }
    return true;
}

std::string_view trimmed(std::string_view text) noexcept {
    constexpr auto blanks = std::string_view{" \t"};
    auto const first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string printable(std::string_view text) {
    auto result = std::string{};
    result.reserve(text.size());
    while (!text.empty()) {
        auto const next = first_character(text);
        if (next.valid && !is_control(next.code)) {
            result += text.substr(0, next.bytes);
        } else {
            for (auto const byte : text.substr(0, next.bytes)) {
                result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
            }
        }
        text.remove_prefix(next.bytes);
    }
    return result;
}

std::string shortened(std::string_view text, std::size_t most) {
    auto rest = text;
    auto kept = std::size_t{0};
    for (auto count = std::size_t{0}; !rest.empty(); ++count) {
        if (count == most) {
            return std::string{text.substr(0, kept)} + "…";
        }
        auto const next = first_character(rest);
        rest.remove_prefix(next.bytes);
        if (count + 1 < most) {
            kept += next.bytes;
        }
    }
    return std::string{text};
}

std::string in_quotes(std::string_view text) {
    constexpr auto most = std::size_t{40};
    // Only the beginning matters, however long the line is.
    return fmt::format("'{}'", shortened(printable(text.substr(0, 4 * most)), most));
}

std::size_t width_of(std::string_view text) noexcept {
    auto width = std::size_t{0};
    for (; !text.empty(); ++width) {
        text.remove_prefix(first_character(text).bytes);
    }
    return width;
}

std::string human_bytes(double bytes) {
    constexpr auto units = std::array{"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"};
    auto unit = std::size_t{0};
    // 999.5 would be shown as 1000 of the smaller unit.
    for (; bytes >= 999.5 && unit + 1 < units.size(); ++unit) {
        bytes /= 1000;
    }
    if (unit == 0) {
        return fmt::format("{:.0f} {}", bytes, units[unit]);
    }
    return fmt::format("{:.{}f} {}", bytes, bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, units[unit]);
}

}  // namespace evenkeel::examples
