// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evenkeel::test {

/// Bytes that say where they belong: another `origin`, or another position, gives another byte in 255 of 256 cases.
[[nodiscard]] inline std::vector<std::byte> payload(std::uint64_t origin, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t position = 0; position < size; ++position) {
        std::uint64_t const word = (origin * 0x9e3779b97f4a7c15ULL + position) * 0xbf58476d1ce4e5b9ULL;
        bytes[position] = static_cast<std::byte>(word >> 56U);
    }
    return bytes;
}

/// What a buffer holds that nobody has written to.
inline constexpr std::byte untouched{0xa5};

[[nodiscard]] inline std::vector<std::byte> untouched_bytes(std::size_t size) {
    return std::vector<std::byte>(size, untouched);
}

}  // namespace evenkeel::test
