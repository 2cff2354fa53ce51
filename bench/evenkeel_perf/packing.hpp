// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel::perf {

/// Times how the exchange packs samples of `bytes` out of 256 MiB, in a random order, beside one memcpy of as much.
///
/// @return a line for people
[[nodiscard]] std::string time_packing(std::uint64_t bytes, std::size_t rounds);

}  // namespace evenkeel::perf
