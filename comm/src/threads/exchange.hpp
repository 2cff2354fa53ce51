// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/pending.hpp>

#include "hub.hpp"

namespace evenkeel::comm::threads {

/// One message per pair of ranks, copied once from buffer to buffer.
///
/// When the last rank has come, the statements are compared and the messages of both sides matched; only then is
/// anything copied. Each message is then copied by whichever of its two ends waits first, so neither end depends on
/// when the other one waits.
[[nodiscard]] pending exchange(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank,
                               std::span<outgoing const> sends, std::span<incoming const> receives,
                               statement const& mine);

}  // namespace evenkeel::comm::threads
