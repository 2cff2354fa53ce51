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
[[nodiscard]] std::vector<std::uint32_t> heap_longest_first(std::span<std::uint64_t const> costs, std::size_t ranks);

/// Largest differencing (N. Karmarkar and R. M. Karp 1982), for any number of ranks: the two partial partitions whose
/// loads differ most are put together, heaviest rank of the one to lightest of the other, until one is left.
///
/// Memory and time grow with samples times ranks.
/// @return  The rank of each sample.
[[nodiscard]] std::vector<std::uint32_t> largest_differencing(std::span<std::uint64_t const> costs, std::size_t ranks);

/// `count` random 32-bit keys: what `std::sort` takes for them depends on nothing else, so it is a yardstick that
/// carries results from one machine to another.
[[nodiscard]] std::vector<std::uint32_t> random_keys(std::size_t count);

}  // namespace evenkeel::bench
