// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <evenkeel/place/detail/busiest.hpp>
#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/detail/node_traffic.hpp>
#include <evenkeel/place/detail/seating.hpp>

namespace evenkeel::detail {

/// Two slots whose batches change places, and what that makes of the busier of their nodes.
struct exchange_of_batches {
    std::size_t slot = 0;
    std::uint32_t other = nobody;  ///< batch
    std::uint64_t busy = 0;
};

/// The exchange of one of the batches of `node`, whose column has been read, with a batch elsewhere that leaves the
/// busier of both nodes with least; `other` is `nobody` if none leaves it with less than `node` has now.
///
/// @param spare  How many bytes fewer may be kept inside nodes than now.
[[nodiscard]] inline exchange_of_batches best_exchange(node_slots const& slots, node_traffic const& traffic,
                                                       seating const& seats, std::uint32_t node, std::uint64_t spare,
                                                       busiest_room const& room) {
    auto const& loads = room.loads;
    exchange_of_batches best{.busy = loads.busy(node)};
    auto const consider = [&](std::size_t slot, std::uint32_t other) {
        std::uint32_t const batch = seats.batches[slot];
        std::uint32_t const elsewhere = seats.nodes[other];
        if (elsewhere == node) {
            return;
        }
        std::uint64_t const kept = loads.kept[node] - room.column[batch] + room.column[other];
        std::uint64_t const arriving = loads.arriving[node] - traffic.of_batch[batch] + traffic.of_batch[other];
        std::uint64_t const here = std::max(loads.drawn[node], arriving) - kept;
        if (here >= best.busy) {
            return;
        }
        std::uint32_t const entry = entry_at(traffic, batch, elsewhere);
        std::uint64_t const kept_there =
            loads.kept[elsewhere] - seats.kept_by(other, traffic) + (entry == nobody ? 0 : traffic.bytes[entry]);
        std::uint64_t const arriving_there =
            loads.arriving[elsewhere] - traffic.of_batch[other] + traffic.of_batch[batch];
        std::uint64_t const there = std::max(loads.drawn[elsewhere], arriving_there) - kept_there;
        if (std::max(here, there) < best.busy &&
            kept + kept_there + spare >= loads.kept[node] + loads.kept[elsewhere]) {
            best = {slot, other, std::max(here, there)};
        }
    };

    std::size_t const last = slots.offsets[node + 1];
    bool const sends_most = loads.drawn[node] >= loads.arriving[node];
    for (std::size_t slot = slots.offsets[node]; slot < last; ++slot) {
        if (sends_most) {
            // Only a batch that draws from the node can make it send less.
            for (std::uint32_t const other : room.drawing) {
                consider(slot, other);
            }
        } else {
            // Only a batch that draws less from elsewhere can make it receive less.
            std::uint32_t const batch = seats.batches[slot];
            std::uint64_t const draws = traffic.of_batch[batch] - room.column[batch];
            for (std::uint32_t other = 0; other < seats.nodes.size(); ++other) {
                if (traffic.of_batch[other] - room.column[other] < draws) {
                    consider(slot, other);
                }
            }
        }
    }
    return best;
}

/// Lets the busiest node exchange batches with other nodes for as long as this makes it less busy.
///
/// @param least_kept  Bytes that have to be kept inside nodes, at most those kept now.
/// @return            A lower bound of the busiest node's bytes: of the nodes that have been the busiest on the way.
/// @complexity O(entries + ranks) per exchange; a handful of exchanges as a rule, at most one per rank
inline std::uint64_t relieve_busiest(node_slots const& slots, node_traffic const& traffic, std::uint64_t least_kept,
                                     busiest_room& room, seating& seats) {
    count_loads(
        slots, traffic, seats.nodes, [&](std::uint32_t batch) { return seats.kept_by(batch, traffic); }, room.loads);
    mark_entries(traffic, room);
    std::uint64_t bound = 0;
    auto read = std::numeric_limits<std::size_t>::max();
    for (std::size_t step = 0; step <= seats.nodes.size(); ++step) {
        std::size_t const busiest = room.loads.busiest();
        auto const node = static_cast<std::uint32_t>(busiest);
        if (room.loads.busy(busiest) <= bound) {
            break;
        }
        if (read != busiest) {
            read = busiest;
            read_column(traffic, node, room);
            bound = std::max(bound, least_busy(slots, traffic, node, room));
        }
        auto const found = room.loads.busy(busiest) <= bound
                               ? exchange_of_batches{}
                               : best_exchange(slots, traffic, seats, node, seats.kept - least_kept, room);
        if (found.other == nobody) {
            break;
        }
        std::uint32_t const batch = seats.batches[found.slot];
        std::uint32_t const elsewhere = seats.nodes[found.other];
        auto const there = seats.batches.begin() + slots.offsets[elsewhere];
        *std::find(there, seats.batches.begin() + slots.offsets[elsewhere + 1], found.other) = batch;
        seats.batches[found.slot] = found.other;

        auto const leave = [&](std::uint32_t who) {
            room.loads.arriving[seats.nodes[who]] -= traffic.of_batch[who];
            room.loads.kept[seats.nodes[who]] -= seats.kept_by(who, traffic);
            seats.kept -= seats.kept_by(who, traffic);
        };
        auto const enter = [&](std::uint32_t who, std::uint32_t where) {
            seats.nodes[who] = where;
            seats.entries[who] = entry_at(traffic, who, where);
            room.loads.arriving[where] += traffic.of_batch[who];
            room.loads.kept[where] += seats.kept_by(who, traffic);
            seats.kept += seats.kept_by(who, traffic);
        };
        leave(batch);
        leave(found.other);
        enter(batch, elsewhere);
        enter(found.other, node);
    }
    return bound;
}

}  // namespace evenkeel::detail
