// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace evenkeel {

/// The way that the bytes of an exchange take. Whatever it is, the same bytes arrive.
enum class exchange_algorithm : std::uint8_t {
    /// Straight from each sender to each receiver: one message per pair of ranks, and no byte travels twice.
    flat,
    /// First inside the node to the rank that is on the receiver's rail, then between nodes along the rail: as many
    /// times fewer messages between nodes as a node has ranks. For many small messages.
    two_hop,
    /// What a rank sends to other nodes beyond the busiest node's mean goes to them over its neighbours, and so does
    /// what a rank receives: the time follows the mean of a node's ranks, not its worst one. For skewed exchanges where
    /// each rank has a network card of its own.
    spread,
    /// The one of these that `predict` expects to be fastest.
    automatic,
};

/// "two_hop"
[[nodiscard]] constexpr std::string_view name_of(exchange_algorithm algorithm) noexcept {
    switch (algorithm) {
        case exchange_algorithm::flat: return "flat";
        case exchange_algorithm::two_hop: return "two_hop";
        case exchange_algorithm::spread: return "spread";
        case exchange_algorithm::automatic: break;
    }
    return "automatic";
}

}  // namespace evenkeel
