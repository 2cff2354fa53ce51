// SPDX-License-Identifier: Apache-2.0
#include "payload.hpp"

#include <algorithm>
#include <array>

namespace evenkeel::examples {

namespace {

/// Eight bytes at a time: the finaliser of splitmix64 over all that a byte depends on, in order from the lowest byte on
/// every machine.
std::array<std::byte, 8> known_bytes(std::uint64_t sample, std::uint64_t phase, std::uint64_t eighth) {
    std::uint64_t mixed = (sample * 0x9e3779b97f4a7c15ULL) ^ (phase * 0xc2b2ae3d27d4eb4fULL) ^ eighth;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31;
    std::array<std::byte, 8> bytes;
    for (auto& byte : bytes) {
        byte = static_cast<std::byte>(mixed & 0xff);
        mixed >>= 8;
    }
    return bytes;
}

}  // namespace

void fill_payload(std::span<std::byte> bytes, std::uint64_t sample, std::uint64_t phase) {
    for (std::size_t offset = 0; offset < bytes.size(); offset += 8) {
        auto const part = bytes.subspan(offset, std::min<std::size_t>(8, bytes.size() - offset));
        std::ranges::copy_n(known_bytes(sample, phase, offset / 8).begin(), static_cast<std::ptrdiff_t>(part.size()),
                            part.begin());
    }
}

std::uint64_t wrong_bytes(std::span<std::byte const> bytes, std::uint64_t sample, std::uint64_t phase) {
    std::uint64_t wrong = 0;
    for (std::size_t offset = 0; offset < bytes.size(); offset += 8) {
        auto const known = known_bytes(sample, phase, offset / 8);
        auto const part = bytes.subspan(offset, std::min<std::size_t>(8, bytes.size() - offset));
        for (std::size_t byte = 0; byte < part.size(); ++byte) {
            wrong += part[byte] != known[byte] ? 1U : 0U;
        }
    }
    return wrong;
}

}  // namespace evenkeel::examples
