// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <evenkeel/rearrange/pair_traffic.hpp>

#include "options.hpp"

namespace evenkeel::perf {

/// The exchanges to time, one per row: equal blocks of growing size, or what a matrix or a plan says.
///
/// @throws input_error  if a file cannot be read, or is of another number of ranks
[[nodiscard]] std::vector<pair_traffic> workloads(options const& options);

/// The bytes of a row: the most that a rank sends or receives, with what it would keep where all blocks are equal.
[[nodiscard]] std::uint64_t size_of(pair_traffic const& all, bool equal_blocks);

}  // namespace evenkeel::perf
