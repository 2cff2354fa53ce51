// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/ids.hpp>

#include "../fault.hpp"
#include "operation.hpp"

namespace evenkeel::comm::nccl {

/// A hash of all messages of a rank: those of all ranks add up to 0 exactly if every message is sent as it is expected
/// (but for a chance of 2^-64). So ranks agree on all pairs with 8 bytes each.
[[nodiscard]] std::uint64_t hash_of(world_rank self, std::span<outgoing const> sends,
                                    std::span<incoming const> receives);

/// What a rank sends to each, then what it expects from each; for when the hashes do not add up.
[[nodiscard]] std::vector<std::uint64_t> account_of(std::size_t ranks, std::span<outgoing const> sends,
                                                    std::span<incoming const> receives);

/// Which two ranks do not call the same, if there are any. Every rank comes to the same judgement.
[[nodiscard]] std::optional<fault> confusion_in(std::string_view operation, std::span<greeting const> all);

/// The first message whose two ends do not agree. @param accounts  Of all ranks, as `account_of` gives them.
[[nodiscard]] fault mismatch_in(std::string_view operation, std::size_t ranks, std::span<std::uint64_t const> accounts);

}  // namespace evenkeel::comm::nccl
