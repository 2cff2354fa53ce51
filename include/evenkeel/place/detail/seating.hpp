// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/place/detail/auction.hpp>
#include <evenkeel/place/detail/gains.hpp>
#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/detail/node_traffic.hpp>

namespace evenkeel::detail {

/// Which batch runs on which node, and what it keeps there.
struct seating {
    std::vector<std::uint32_t> batches;  ///< by slot of `node_slots`
    std::vector<std::uint32_t> nodes;    ///< by batch
    std::vector<std::uint32_t>
        entries;  ///< by batch: of `node_traffic`, with its node; `nobody`: it draws nothing there
    std::vector<std::uint32_t> rank_of;  ///< by batch, once ranks are chosen
    std::uint64_t kept = 0;              ///< bytes of all batches on their nodes

    [[nodiscard]] std::uint64_t kept_by(std::uint32_t batch, node_traffic const& traffic) const noexcept {
        return entries[batch] == nobody ? 0 : traffic.bytes[entries[batch]];
    }
};

/// The entry of `batch` with `node`, or `nobody`.
[[nodiscard]] inline std::uint32_t entry_at(node_traffic const& traffic, std::uint32_t batch, std::uint32_t node) {
    auto const first = traffic.nodes.begin() + traffic.offsets[batch];
    auto const last = traffic.nodes.begin() + traffic.offsets[batch + 1];
    auto const found = std::find(first, last, node);
    return found == last ? nobody : static_cast<std::uint32_t>(found - traffic.nodes.begin());
}

/// Every batch on the node that it was given.
inline void seat_as_given(node_slots const& slots, node_traffic const& traffic, seating& seats) {
    std::size_t const batches = slots.node_of_rank.size();
    seats.batches.assign(slots.ranks.begin(), slots.ranks.end());
    seats.nodes.assign(slots.node_of_rank.begin(), slots.node_of_rank.end());
    seats.entries.resize(batches);
    seats.kept = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        seats.entries[batch] = entry_at(traffic, static_cast<std::uint32_t>(batch), slots.node_of_rank[batch]);
        seats.kept += traffic.kept[batch];
    }
}

/// Every batch where the auction put it; those that go without stay where they are if there is room, else fill it.
inline void seat_as_won(node_slots& slots, node_traffic const& traffic, auction_room const& room, seating& seats) {
    std::size_t const batches = slots.node_of_rank.size();
    seats.batches.assign(room.bidders.begin(), room.bidders.end());
    seats.nodes.resize(batches);
    seats.entries.assign(room.won.begin(), room.won.end());
    seats.kept = 0;
    slots.filled.assign(room.taken.begin(), room.taken.end());

    auto const seat = [&](std::uint32_t batch, std::uint32_t node) {
        seats.batches[slots.offsets[node] + slots.filled[node]++] = batch;
        seats.nodes[batch] = node;
        seats.entries[batch] = entry_at(traffic, batch, node);
        seats.kept += seats.kept_by(batch, traffic);
    };
    bool all_seated = true;
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
        if (std::uint32_t const won = room.won[batch]; won != nobody) {
            seats.nodes[batch] = traffic.nodes[won];
            seats.kept += traffic.bytes[won];
        } else if (std::uint32_t const own = slots.node_of_rank[batch]; slots.filled[own] < slots.size(own)) {
            seat(batch, own);
        } else {
            seats.nodes[batch] = nobody;
            all_seated = false;
        }
    }
    if (all_seated) {
        return;
    }
    std::uint32_t node = 0;
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
        if (seats.nodes[batch] == nobody) {
            while (slots.filled[node] == slots.size(node)) {
                ++node;
            }
            seat(batch, node);
        }
    }
}

}  // namespace evenkeel::detail
