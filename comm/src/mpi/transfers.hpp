// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/pending.hpp>

#include "hub.hpp"

namespace evenkeel::comm::mpi {

/// Everybody's bytes to everybody: each rank sends its own to every other process, once, and takes the whole out of
/// what its process has received.
///
/// @param operation  How an error calls it: a barrier is a gathering of nothing.
[[nodiscard]] pending gather(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank,
                             std::string_view operation, std::span<std::byte const> mine,
                             std::span<std::uint64_t const> counts, std::span<std::byte> all);

/// One message per pair of ranks. Every rank tells all others that it has come, what it states and a hash of its
/// messages, and short messages right behind these. Only when all agree are those put in their places, and do the
/// longer ones leave, in pieces, each of which is copied to its place when it comes. A neighbour on the same host is
/// told where they, or copies of them, are instead, and fetches them.
[[nodiscard]] pending exchange(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank,
                               std::span<outgoing const> sends, std::span<incoming const> receives,
                               statement const& mine);

}  // namespace evenkeel::comm::mpi
