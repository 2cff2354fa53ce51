// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel {

/// One direction of an exchange: for each peer the items of its one message, in order of their id.
///
/// Message m goes to or comes from `peers[m]`, carries `items[item_offsets[m]] .. items[item_offsets[m + 1])` and lies
/// at `byte_offsets[m] .. byte_offsets[m + 1])` of a buffer without gaps. Peers ascend; only those with at least one
/// byte are listed.
struct messages {
    std::vector<world_rank> peers;
    std::vector<std::size_t> item_offsets = {0};
    std::vector<std::uint64_t> byte_offsets = {0};
    std::vector<item_id> items;

    [[nodiscard]] std::size_t size() const noexcept { return peers.size(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return byte_offsets.back(); }
    [[nodiscard]] std::span<item_id const> items_of(std::size_t message) const noexcept {
        return std::span{items}.subspan(item_offsets[message], item_offsets[message + 1] - item_offsets[message]);
    }

    friend bool operator==(messages const&, messages const&) = default;
};

/// A rearrangement seen by the wire, from one world rank: what it sends to and receives from each peer.
///
/// What the rank keeps is no message: it is one local copy and never meets the network. Peers, buffers and bytes are
/// known before anything is allocated.
struct exchange {
    world_rank self{};
    messages sends;
    messages receives;
    std::vector<item_id> kept;

    friend bool operator==(exchange const&, exchange const&) = default;
};

namespace detail {

/// Groups items by peer: peers ascending, items ascending within a peer.
[[nodiscard]] inline messages group_by_peer(std::vector<std::pair<world_rank, item_id>> pairs,
                                            std::span<std::uint64_t const> bytes) {
    // By peer alone would do with a stable sort; the full key makes any sort give the same messages.
    std::ranges::sort(pairs);
    messages result;
    for (auto const& [peer, item] : pairs) {
        if (result.peers.empty() || result.peers.back() != peer) {
            result.peers.push_back(peer);
            result.item_offsets.push_back(result.item_offsets.back());
            result.byte_offsets.push_back(result.byte_offsets.back());
        }
        result.items.push_back(item);
        ++result.item_offsets.back();
        result.byte_offsets.back() =
            checked_add(result.byte_offsets.back(), bytes[to_index(item)], "exchange_of: the size of an exchange");
    }
    return result;
}

}  // namespace detail

/// What `self` sends and receives to carry out `move`.
///
///     // Items of 10, 20 and 30 bytes, of which the second one goes from rank 0 to rank 1, where the third is.
///     auto const mine = evenkeel::exchange_of(move, evenkeel::world_rank{1}, std::vector<std::uint64_t>{10, 20, 30});
///     mine.receives.bytes();   // 20: allocate this much, then receive
///     mine.receives.peers;     // from rank 0
///     mine.kept;               // item 2
///
/// Items without a byte are in no message; where they are is known from the layouts alone.
///
/// @param bytes  Of each item, over all its fields (`bytes_of_items`).
/// @throws std::invalid_argument  if there is not one size per item, or `self` is not in the world.
/// @throws std::overflow_error    if the bytes do not fit into 64 bits.
/// @complexity O(items + k log k) for k items that leave or reach `self`
[[nodiscard]] inline exchange exchange_of(rearrangement const& move, world_rank self,
                                          std::span<std::uint64_t const> bytes) {
    if (bytes.size() != move.size()) {
        throw_invalid("exchange_of", "bytes.size()", bytes.size(),
                      "one size for each of " + std::to_string(move.size()) + " items");
    }
    if (to_index(self) >= move.ranks().value) {
        throw_invalid("exchange_of", "self", to_index(self),
                      "a world rank below " + std::to_string(move.ranks().value));
    }
    exchange result;
    result.self = self;
    std::vector<std::pair<world_rank, item_id>> outgoing;
    std::vector<std::pair<world_rank, item_id>> incoming;
    for (std::size_t position = 0; position < move.size(); ++position) {
        auto const item = to_id<item_id>(position);
        world_rank const source = move.from()[item].rank;
        world_rank const target = move.to()[item].rank;
        if (bytes[position] == 0 || (source != self && target != self)) {
            continue;
        }
        if (source == target) {
            result.kept.push_back(item);
        } else if (source == self) {
            outgoing.emplace_back(target, item);
        } else {
            incoming.emplace_back(source, item);
        }
    }
    result.sends = detail::group_by_peer(std::move(outgoing), bytes);
    result.receives = detail::group_by_peer(std::move(incoming), bytes);
    return result;
}

}  // namespace evenkeel
