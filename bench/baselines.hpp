// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::bench {

/// Longest first as it is commonly written: `std::sort` of the samples, `std::priority_queue` of the ranks.
///
/// @return  The rank of each sample.
[[nodiscard]] std::vector<std::uint32_t> heap_longest_first(std::span<std::uint64_t const> lengths, std::size_t ranks);

/// `count` random 32-bit keys: what `std::sort` takes for them depends on nothing else, so it is a yardstick that
/// carries results from one machine to another.
[[nodiscard]] std::vector<std::uint32_t> random_keys(std::size_t count);

}  // namespace evenkeel::bench
