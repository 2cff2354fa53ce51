// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/place/detail/auction.hpp>
#include <evenkeel/place/detail/best_matching.hpp>
#include <evenkeel/place/detail/exact_assignment.hpp>
#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/detail/node_traffic.hpp>
#include <evenkeel/place/detail/seating.hpp>

namespace evenkeel::detail {

/// The memory of `seat_inside_nodes`, for the node at hand.
struct inside_room {
    // What its batches draw from its ranks, as the gains of an assignment.
    std::vector<std::uint32_t> places;
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint64_t> sums;       ///< of the batch at hand, by rank; zero between batches
    std::vector<std::uint64_t> from_rank;  ///< of all batches

    matching_room matching;
    wish_list wishes;
    auction_room auction;
    assignment_room exact;
    std::vector<std::uint32_t> single_slots;  ///< 0, 1, 2, ...

    std::vector<std::pair<std::uint64_t, std::uint32_t>> senders;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> receivers;
};

/// What the choice of ranks needs to know.
struct inside_view {
    node_slots const& slots;
    node_traffic const& traffic;
};

/// Calls `visit(local rank, bytes)` for every item behind `entry` whose home is a rank of its node.
template <class Visit>
void for_each_local(inside_view const& view, std::uint32_t entry, Visit visit) {
    if (entry == nobody) {
        return;
    }
    auto const& traffic = view.traffic;
    std::uint32_t const node = traffic.nodes[entry];
    std::uint64_t left = traffic.bytes[entry];
    for (std::size_t position = traffic.starts[entry]; left > 0; ++position) {
        auto const& item = traffic.placed[position];
        if (item.node != node) {
            continue;
        }
        left -= item.size;
        std::uint32_t const local = view.slots.local_of_world[item.source];
        // A home that leads no instance can keep nothing.
        if (local < view.slots.ranks.size()) {
            visit(local, item.size);
        }
    }
}

/// Collects what the batches of a node draw from its ranks.
inline void read_node(inside_view const& view, std::span<std::uint32_t const> batches,
                      std::span<std::uint32_t const> entries, inside_room& room) {
    room.places.clear();
    room.values.clear();
    room.offsets.assign(1, 0);
    room.sums.resize(batches.size());
    room.from_rank.assign(batches.size(), 0);
    for (std::uint32_t const batch : batches) {
        std::size_t const first = room.places.size();
        for_each_local(view, entries[batch], [&](std::uint32_t local, std::uint64_t bytes) {
            if (room.sums[local] == 0) {
                room.places.push_back(local);
            }
            room.sums[local] += bytes;
            room.from_rank[local] += bytes;
        });
        for (std::size_t place = first; place < room.places.size(); ++place) {
            room.values.push_back(std::exchange(room.sums[room.places[place]], 0));
        }
        room.offsets.push_back(static_cast<std::uint32_t>(room.places.size()));
    }
}

/// The pairs of batches and ranks of a node that keep most: exactly for up to `most_matched` ranks, above within
/// `increment` per batch, or exactly if that is 0.
inline void match_node(std::uint32_t size, std::uint64_t increment, inside_room& room) {
    gains const gains{room.places, room.values, room.offsets};
    if (size <= most_matched) {
        best_matching(gains, size, room.matching);
        return;
    }
    room.single_slots.resize(size + 1);
    std::iota(room.single_slots.begin(), room.single_slots.end(), 0U);
    if (increment == 0) {
        assign_exactly(gains, room.single_slots, room.exact, room.auction);
    } else {
        room.wishes.resize(size);
        for (std::size_t local = 0; local < size; ++local) {
            room.wishes.set(local, choose(room.offsets, local, [&](auto entry) { return room.values[entry]; }));
        }
        hold_auction(gains, room.single_slots, increment, room.wishes, 1, room.auction);
    }
    room.matching.won.assign(room.auction.won.begin(), room.auction.won.end());
    room.matching.bidder_of.assign(size, nobody);
    for (std::uint32_t local = 0; local < size; ++local) {
        if (std::uint32_t const won = room.matching.won[local]; won != nobody) {
            room.matching.bidder_of[room.places[won]] = local;
        }
    }
}

/// Pairs the batches and ranks of a node that keep nothing for each other: whoever sends most to other nodes with the
/// batch that receives least from them, which makes the largest sum of both as small as it can be.
inline void level_the_rest(inside_view const& view, std::uint32_t first, std::span<std::uint32_t const> batches,
                           std::span<std::uint32_t const> entries, inside_room& room) {
    std::size_t senders = 0;
    std::size_t receivers = 0;
    room.senders.resize(batches.size() + 1);
    room.receivers.resize(batches.size() + 1);
    for (std::uint32_t local = 0; local < batches.size(); ++local) {
        // Written in any case, and kept if it is wanted: who is left over is as good as random.
        std::uint32_t const leader = view.slots.leaders[view.slots.ranks[first + local]];
        // Counted down from the top, so that the order rises for both.
        room.senders[senders] = {most_bytes - (view.traffic.home_bytes[leader] - room.from_rank[local]), local};
        senders += room.matching.bidder_of[local] == nobody ? 1U : 0U;
        std::uint32_t const batch = batches[local];
        std::uint64_t const kept = entries[batch] == nobody ? 0 : view.traffic.bytes[entries[batch]];
        room.receivers[receivers] = {view.traffic.of_batch[batch] - kept, batch};
        receivers += room.matching.won[local] == nobody ? 1U : 0U;
    }
    room.senders.resize(senders);
    room.receivers.resize(receivers);
    std::sort(room.senders.begin(), room.senders.end());
    std::sort(room.receivers.begin(), room.receivers.end());
}

/// Chooses the rank of every batch within its node: the ranks that keep most bytes, then those that level what ranks
/// carry over the slow links.
///
/// @param increment  See `match_node`.
/// @return           The bytes that stay on their rank.
/// @complexity O(items kept in their node + ranks) as a rule
inline std::uint64_t seat_inside_nodes(inside_view const& view, std::uint64_t increment, inside_room& room,
                                       seating& seats) {
    std::uint64_t kept = 0;
    seats.rank_of.resize(seats.batches.size());
    // However the bytes of a plan lie, the next one needs no more.
    room.places.reserve(view.traffic.placed.size());
    room.values.reserve(view.traffic.placed.size());
    room.senders.reserve(seats.batches.size() + 1);
    room.receivers.reserve(seats.batches.size() + 1);
    room.sums.clear();
    for (std::size_t node = 0; node < view.slots.nodes(); ++node) {
        std::uint32_t const first = view.slots.offsets[node];
        std::uint32_t const size = view.slots.size(node);
        auto const batches = std::span<std::uint32_t const>{seats.batches}.subspan(first, size);
        // What the next nodes draw lies anywhere, and is there by the time that they are reached.
        std::size_t const last_ahead = std::min<std::size_t>(first + 3 * size, seats.batches.size());
        for (std::size_t slot = std::min<std::size_t>(first + 2 * size, last_ahead); slot < last_ahead; ++slot) {
            if (std::uint32_t const entry = seats.entries[seats.batches[slot]]; entry != nobody) {
                __builtin_prefetch(&view.traffic.placed[view.traffic.starts[entry]]);
                __builtin_prefetch(&view.traffic.nodes[entry]);
                __builtin_prefetch(&view.traffic.bytes[entry]);
            }
        }
        read_node(view, batches, seats.entries, room);
        match_node(size, increment, room);
        for (std::size_t local = 0; local < size; ++local) {
            if (std::uint32_t const won = room.matching.won[local]; won != nobody) {
                seats.rank_of[batches[local]] = view.slots.ranks[first + room.places[won]];
                kept += room.values[won];
            }
        }
        level_the_rest(view, first, batches, seats.entries, room);
        for (std::size_t pair = 0; pair < room.senders.size(); ++pair) {
            auto const [batch, sender] = std::pair{room.receivers[pair].second, room.senders[pair].second};
            seats.rank_of[batch] = view.slots.ranks[first + sender];
            // An auction leaves out who gains next to nothing, which some then keep after all.
            if (size > most_matched && increment > 0) {
                for_each_local(view, seats.entries[batch], [&, own = sender](std::uint32_t local, std::uint64_t bytes) {
                    kept += local == own ? bytes : 0;
                });
            }
        }
    }
    return kept;
}

}  // namespace evenkeel::detail
