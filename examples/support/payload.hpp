// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace evenkeel::examples {

/// Writes the payload of an item: every byte follows from (sample, phase, offset), so that whoever holds it can check
/// it without having seen the original.
void fill_payload(std::span<std::byte> bytes, std::uint64_t sample, std::uint64_t phase);

/// How many bytes of an item's payload are not what they have to be.
[[nodiscard]] std::uint64_t wrong_bytes(std::span<std::byte const> bytes, std::uint64_t sample, std::uint64_t phase);

}  // namespace evenkeel::examples
