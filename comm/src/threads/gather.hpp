// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <evenkeel/comm/pending.hpp>

#include "hub.hpp"

namespace evenkeel::comm::threads {

/// Everybody's bytes to everybody, through a buffer that all ranks share: a rank leaves its part when it calls, so
/// nobody waits for it to read, and it takes the whole when it waits.
///
/// @param operation  How an error calls it: a barrier is a gathering of nothing.
[[nodiscard]] pending gather(std::shared_ptr<hub> hub, std::uint64_t number, world_rank rank,
                             std::string_view operation, std::span<std::byte const> mine,
                             std::span<std::uint64_t const> counts, std::span<std::byte> all);

}  // namespace evenkeel::comm::threads
