// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/delivery.hpp>
#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel {

/// Whose gradient of a delivered output travels back.
enum class gradients : std::uint8_t {
    of_leader,  ///< that of the first copy: members hold the same
    summed      ///< those of all copies: each member holds a part, and the receiver adds them up
};

/// The way back of a delivered field: the transpose of each copy that counts.
///
///     evenkeel::invert(outputs, evenkeel::gradients::summed).copies;      // as many as there are of `outputs`
///     evenkeel::invert(outputs, evenkeel::gradients::of_leader).copies;   // one
[[nodiscard]] inline delivered_field invert(delivered_field const& field, gradients which) {
    delivered_field result{.pieces = field.pieces, .copies = {}};
    std::size_t const count = which == gradients::of_leader && !field.copies.empty() ? 1 : field.copies.size();
    for (std::size_t copy = 0; copy < count; ++copy) {
        result.copies.push_back(invert(field.copies[copy]));
    }
    return result;
}

/// What `self` sends and receives to deliver all copies of a field, as one exchange.
///
///     auto const mine = evenkeel::exchange_of(labels, self, evenkeel::pieces_of(label_field, labels.pieces).bytes);
///
/// A message to a peer carries each piece that this peer needs once, so a piece may be in several messages; on the way
/// back, `receives` has a piece once for each peer that sends its gradient. The items of the messages are pieces.
///
/// @param bytes  Of each piece.
/// @throws std::invalid_argument  if there is not one size per piece, or `self` is not in the world.
/// @throws std::overflow_error    if the bytes do not fit into 64 bits.
/// @complexity O(pieces) per copy, and k log k for k pieces that leave or reach `self`
[[nodiscard]] inline exchange exchange_of(delivered_field const& field, world_rank self,
                                          std::span<std::uint64_t const> bytes) {
    exchange result;
    result.self = self;
    std::vector<std::pair<world_rank, item_id>> outgoing;
    std::vector<std::pair<world_rank, item_id>> incoming;
    for (auto const& copy : field.copies) {
        auto const one = exchange_of(copy, self, bytes);
        for (std::size_t message = 0; message < one.sends.size(); ++message) {
            for (item_id const piece : one.sends.items_of(message)) {
                outgoing.emplace_back(one.sends.peers[message], piece);
            }
        }
        for (std::size_t message = 0; message < one.receives.size(); ++message) {
            for (item_id const piece : one.receives.items_of(message)) {
                incoming.emplace_back(one.receives.peers[message], piece);
            }
        }
        result.kept.insert(result.kept.end(), one.kept.begin(), one.kept.end());
    }
    result.sends = detail::group_by_peer(std::move(outgoing), bytes);
    result.receives = detail::group_by_peer(std::move(incoming), bytes);
    return result;
}

}  // namespace evenkeel
