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
#include <evenkeel/place/detail/gains.hpp>
#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/detail/node_traffic.hpp>
#include <evenkeel/place/detail/seating.hpp>

namespace evenkeel::detail {

/// The memory of `seat_inside_nodes`.
struct inside_room {
    // What batches draw from the ranks of their node, as the gains of an assignment: a bidder is a slot.
    std::vector<std::uint32_t> places;  ///< ranks, as counted in their node
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> entry_of;   ///< by rank of a node: one more than its latest entry
    std::vector<std::uint64_t> from_rank;  ///< by slot: what its rank sends to batches of its node

    matching_room matching;
    std::vector<std::uint64_t> tickets;
    std::vector<choice> wishes;
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

/// Collects what batches draw from the ranks of their node.
inline void read_nodes(inside_view const& view, seating const& seats, inside_room& room) {
    std::size_t const items = view.traffic.placed.size();
    // However the bytes of a plan lie, the next one needs no more.
    room.places.resize(items + 1);
    room.values.resize(items + 1);
    room.offsets.resize(seats.batches.size() + 1);
    room.entry_of.assign(seats.batches.size(), 0);
    room.from_rank.assign(seats.batches.size(), 0);
    std::uint32_t* const places = room.places.data();
    std::uint64_t* const values = room.values.data();
    std::uint32_t* const entry_of = room.entry_of.data();
    std::uint32_t count = 0;
    std::uint32_t slot = 0;
    for (std::size_t node = 0; node < view.slots.nodes(); ++node) {
        std::uint64_t* const from_rank = room.from_rank.data() + view.slots.offsets[node];
        for (; slot < view.slots.offsets[node + 1]; ++slot) {
            // What the next batches draw lies anywhere, and is there by the time that they are reached.
            constexpr std::size_t ahead = 16;
            if (slot + ahead < seats.batches.size()) {
                if (std::uint32_t const entry = seats.entries[seats.batches[slot + ahead]]; entry != nobody) {
                    __builtin_prefetch(&view.traffic.placed[view.traffic.starts[entry]]);
                }
            }
            std::uint32_t const first = count;
            room.offsets[slot] = first;
            for_each_local(view, seats.entries[seats.batches[slot]], [&](std::uint32_t local, std::uint64_t bytes) {
                from_rank[local] += bytes;
                if (std::uint32_t const known = entry_of[local]; known > first) {
                    values[known - 1] += bytes;
                } else {
                    places[count] = local;
                    values[count] = bytes;
                    entry_of[local] = ++count;
                }
            });
        }
    }
    room.offsets[slot] = count;
}

/// The pairs of batches and ranks of a node that keep most: exactly for up to `most_matched` ranks, above within
/// `increment` per batch, or exactly if that is 0.
inline void match_node(std::uint32_t first, std::uint32_t size, ticket_format format, std::uint64_t increment,
                       inside_room& room) {
    gains const gains{room.places, room.values, std::span{room.offsets}.subspan(first, size + 1)};
    if (size <= most_matched) {
        best_matching(gains, size, room.matching);
        return;
    }
    room.single_slots.resize(size + 1);
    std::iota(room.single_slots.begin(), room.single_slots.end(), 0U);
    if (increment == 0) {
        assign_exactly(gains, room.single_slots, room.exact, room.auction);
    } else {
        room.tickets.resize(room.places.size());
        room.wishes.assign(size, {});
        for (std::uint32_t local = 0; local < size; ++local) {
            for (std::size_t entry = gains.offsets[local]; entry < gains.offsets[local + 1]; ++entry) {
                room.tickets[entry] = format.ticket(room.values[entry], room.places[entry] ^ local);
                room.wishes[local].see(room.tickets[entry]);
            }
        }
        ticketed_gains const ticketed{room.tickets, gains.offsets, format, room.wishes};
        hold_auction(ticketed, room.single_slots, increment, room.auction);
        close_auction(ticketed, room.single_slots, room.auction);
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
        room.senders[senders] = {most_bytes - (view.traffic.home_bytes[leader] - room.from_rank[first + local]), local};
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
/// @param increment  See `match_node`; in units of the traffic's format.
/// @return           The bytes that stay on their rank.
/// @complexity O(items kept in their node + ranks) as a rule
inline std::uint64_t seat_inside_nodes(inside_view const& view, std::uint64_t increment, inside_room& room,
                                       seating& seats) {
    std::uint64_t kept = 0;
    seats.rank_of.resize(seats.batches.size());
    room.senders.reserve(seats.batches.size() + 1);
    room.receivers.reserve(seats.batches.size() + 1);
    read_nodes(view, seats, room);
    for (std::size_t node = 0; node < view.slots.nodes(); ++node) {
        std::uint32_t const first = view.slots.offsets[node];
        std::uint32_t const size = view.slots.size(node);
        auto const batches = std::span<std::uint32_t const>{seats.batches}.subspan(first, size);
        match_node(first, size, view.traffic.format, increment, room);
        for (std::size_t local = 0; local < size; ++local) {
            // Written in any case, and once more for those that are left over.
            std::uint32_t const won = room.matching.won[local];
            std::uint32_t const entry = won == nobody ? 0 : won;
            std::uint32_t const place = room.places[entry];
            seats.rank_of[batches[local]] = view.slots.ranks[first + (won == nobody ? local : place)];
            kept += won == nobody ? 0 : room.values[entry];
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
