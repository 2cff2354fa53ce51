// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/place/detail/auction.hpp>
#include <evenkeel/place/detail/best_matching.hpp>
#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/detail/node_traffic.hpp>
#include <evenkeel/place/detail/seating.hpp>

namespace evenkeel::detail {

/// The memory of `seat_inside_nodes`.
struct inside_room {
    matching_room matching;
    auction_room auction;
    std::vector<std::uint64_t> from_rank;  ///< of the node at hand: what its batches draw from each of its ranks

    // Sparse, for nodes too large for a table of batches and ranks.
    std::vector<std::uint32_t> places;
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> ones;  ///< 0, 1, 2, ...: one slot per rank

    std::vector<std::pair<std::uint64_t, std::uint32_t>> senders;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> receivers;
};

/// Up to this many ranks per node, the rank that keeps most bytes is found exactly.
inline constexpr std::uint32_t largest_exact_node = 64;

/// What the choice of ranks needs to know.
struct inside_view {
    node_slots const& slots;
    node_traffic const& traffic;
    evenkeel::plan const& plan;
    layout const& home;
    std::span<std::uint64_t const> item_bytes;
};

/// Calls `visit(local rank, bytes)` for every item behind `entry` whose home is a rank of its node.
template <class Visit>
void for_each_local(inside_view const& view, std::uint32_t entry, Visit visit) {
    if (entry == nobody) {
        return;
    }
    for (std::uint32_t next = view.traffic.latest[entry]; next != 0; next = view.traffic.earlier[next - 1]) {
        item_id const item = view.plan.items[next - 1];
        std::uint32_t const local = view.slots.local_of_world[to_index(view.home[item].rank)];
        // A home that leads no instance can keep nothing.
        if (local < view.slots.ranks.size()) {
            visit(local, view.item_bytes[to_index(item)]);
        }
    }
}

/// Of one node with few ranks: who keeps what as a table, and the best pairs of it.
inline void match_densely(inside_view const& view, std::span<std::uint32_t const> batches,
                          std::span<std::uint32_t const> entries, inside_room& room) {
    auto const size = static_cast<std::uint32_t>(batches.size());
    room.matching.values.assign(std::size_t{size} * size, 0);
    for (std::uint32_t row = 0; row < size; ++row) {
        for_each_local(view, entries[batches[row]], [&](std::uint32_t local, std::uint64_t bytes) {
            room.matching.values[std::size_t{row} * size + local] += bytes;
            room.from_rank[local] += bytes;
        });
    }
    best_matching(size, size, room.matching);
}

/// Of one node with many ranks: the pairs of an auction, within `increment` per batch of the best.
inline void match_sparsely(inside_view const& view, std::span<std::uint32_t const> batches,
                           std::span<std::uint32_t const> entries, std::uint64_t increment, inside_room& room) {
    auto const size = static_cast<std::uint32_t>(batches.size());
    room.places.clear();
    room.values.clear();
    room.offsets.assign(1, 0);
    auto& sums = room.matching.values;
    sums.assign(size, 0);
    for (std::uint32_t const batch : batches) {
        auto const first = static_cast<std::ptrdiff_t>(room.places.size());
        for_each_local(view, entries[batch], [&](std::uint32_t local, std::uint64_t bytes) {
            if (sums[local] == 0) {
                room.places.push_back(local);
            }
            sums[local] += bytes;
            room.from_rank[local] += bytes;
        });
        for (auto place = room.places.begin() + first; place != room.places.end(); ++place) {
            room.values.push_back(std::exchange(sums[*place], 0));
        }
        room.offsets.push_back(static_cast<std::uint32_t>(room.places.size()));
    }
    room.ones.resize(size + 1);
    std::iota(room.ones.begin(), room.ones.end(), 0U);
    hold_auction({room.places, room.values, room.offsets}, room.ones, increment, room.auction);
    room.matching.row_of.assign(size, nobody);
    room.matching.column_of.assign(size, nobody);
    for (std::uint32_t row = 0; row < size; ++row) {
        if (std::uint32_t const won = room.auction.won[row]; won != nobody) {
            room.matching.row_of[room.places[won]] = row;
            room.matching.column_of[row] = room.places[won];
        }
    }
}

/// Pairs the batches and ranks of a node that keep nothing for each other: whoever sends most to other nodes with the
/// batch that receives least from them, which makes the largest sum of both as small as it can be.
inline void level_the_rest(inside_view const& view, std::uint32_t first, std::span<std::uint32_t const> batches,
                           std::span<std::uint32_t const> entries, inside_room& room) {
    room.senders.clear();
    room.receivers.clear();
    for (std::uint32_t local = 0; local < batches.size(); ++local) {
        if (room.matching.row_of[local] == nobody) {
            std::uint32_t const leader = view.slots.leaders[view.slots.ranks[first + local]];
            // Counted down from the top, so that the order rises for both.
            room.senders.emplace_back(most_bytes - (view.traffic.home_bytes[leader] - room.from_rank[local]), local);
        }
        if (room.matching.column_of[local] == nobody) {
            std::uint32_t const batch = batches[local];
            std::uint64_t const kept = entries[batch] == nobody ? 0 : view.traffic.bytes[entries[batch]];
            room.receivers.emplace_back(view.traffic.of_batch[batch] - kept, batch);
        }
    }
    std::sort(room.senders.begin(), room.senders.end());
    std::sort(room.receivers.begin(), room.receivers.end());
}

/// Chooses the rank of every batch within its node: the ranks that keep most bytes, then those that level what ranks
/// carry over the slow links.
///
/// @param increment  See `match_sparsely`.
/// @return           The bytes that stay on their rank.
/// @complexity O(ranks of a node) per batch as a rule, that squared at worst
inline std::uint64_t seat_inside_nodes(inside_view const& view, std::uint64_t increment, inside_room& room,
                                       seating& seats) {
    std::uint64_t kept = 0;
    seats.rank_of.resize(seats.batches.size());
    for (std::size_t node = 0; node < view.slots.nodes(); ++node) {
        std::uint32_t const first = view.slots.offsets[node];
        auto const batches = std::span<std::uint32_t const>{seats.batches}.subspan(first, view.slots.size(node));
        room.from_rank.assign(batches.size(), 0);
        bool const dense = batches.size() <= largest_exact_node;
        if (dense) {
            match_densely(view, batches, seats.entries, room);
        } else {
            match_sparsely(view, batches, seats.entries, increment, room);
        }
        for (std::size_t local = 0; local < batches.size(); ++local) {
            if (std::uint32_t const column = room.matching.column_of[local]; column != nobody) {
                seats.rank_of[batches[local]] = view.slots.ranks[first + column];
                kept += dense ? room.matching.values[local * batches.size() + column]
                              : room.values[room.auction.won[local]];
            }
        }
        level_the_rest(view, first, batches, seats.entries, room);
        for (std::size_t pair = 0; pair < room.senders.size(); ++pair) {
            std::uint32_t const batch = room.receivers[pair].second;
            std::uint32_t const local = room.senders[pair].second;
            seats.rank_of[batch] = view.slots.ranks[first + local];
        }
    }
    return kept;
}

}  // namespace evenkeel::detail
