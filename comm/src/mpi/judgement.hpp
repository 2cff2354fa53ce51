// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>

#include "../agreement.hpp"
#include "../fault.hpp"
#include "operation.hpp"

namespace evenkeel::comm::mpi {

/// What a rank tells the others when it comes to an exchange.
struct stated {
    std::uint64_t value = 0;
    std::uint64_t refused = 0;
    /// A hash of its messages, such that those of all ranks add up to 0 exactly if every message is sent as it is
    /// expected (but for a chance of 2^-64). So ranks agree on all pairs with 8 bytes each.
    std::uint64_t messages = 0;
};

/// A hash of what must be the same in the calls of all ranks.
[[nodiscard]] std::uint64_t identity_of(subject about, std::string_view operation,
                                        std::span<std::uint64_t const> counts = {});

[[nodiscard]] stated state(world_rank self, std::span<outgoing const> sends, std::span<incoming const> receives,
                           statement const& mine);

/// Whether all ranks call the same operation.
[[nodiscard]] bool is_one_call(round const& arrivals);
/// What the ranks state differently in an exchange, if they do.
[[nodiscard]] std::optional<dissent> dissent_in(round const& arrivals);
/// Whether every message of an exchange is sent as it is expected.
[[nodiscard]] bool messages_match(round const& arrivals);

/// All that a rank calls, to find out what does not match.
[[nodiscard]] std::vector<std::byte> details_of(part const& part);
/// The same on every process. @param operation  Its arrivals and details are complete, and something does not match.
[[nodiscard]] fault judge(operation const& operation);

}  // namespace evenkeel::comm::mpi
