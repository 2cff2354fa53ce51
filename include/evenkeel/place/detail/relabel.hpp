// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/place/detail/auction.hpp>
#include <evenkeel/place/detail/busiest.hpp>
#include <evenkeel/place/detail/exact_assignment.hpp>
#include <evenkeel/place/detail/gains.hpp>
#include <evenkeel/place/detail/inside_nodes.hpp>
#include <evenkeel/place/detail/relieve.hpp>
#include <evenkeel/place/detail/seating.hpp>
#include <evenkeel/place/options.hpp>
#include <evenkeel/place/relabelled.hpp>
#include <evenkeel/place/workspace.hpp>

namespace evenkeel::detail {

/// Bids for nodes. Afterwards `seats` has the better of what was won and what was given.
///
/// @param increment  Set to what the bids rose by, in units of the format; 0: the best has been found.
/// @return           What no relabelling can keep more of.
inline std::uint64_t seat_on_nodes(double precision, relabel_room& room, std::uint64_t& increment) {
    auto const& traffic = room.traffic;
    auto const& format = traffic.format;
    std::size_t const batches = traffic.of_batch.size();
    std::size_t const entries = traffic.offsets.back();

    // Bids that rise by less may take longer than the optimum does.
    constexpr double finest = 1e-4;
    if (precision < finest || !format.fits()) {
        gains const gains{std::span{traffic.nodes}.first(entries), std::span{traffic.bytes}.first(entries),
                          traffic.offsets};
        increment = 0;
        assign_exactly(gains, room.slots.offsets, room.exact, room.auction);
        seat_as_won(room.slots, traffic, room.auction, room.seats);
        return dual_bound(gains, room.slots.offsets, room.auction.prices, traffic.total);
    }

    std::uint64_t wished = 0;
    for (auto const& wish : traffic.wishes) {
        wished += format.value(wish.best());
    }
    // Few batches are done in no time, so they may as well be done better.
    constexpr std::size_t few = 512;
    double const each = precision * static_cast<double>(wished) / static_cast<double>(batches + few);
    // Where batches draw from many nodes each, counting what from where takes longer than better bids do.
    constexpr double many_nodes = 24;
    double const nodes_per_batch =
        static_cast<double>(entries) / static_cast<double>(std::max<std::size_t>(batches, 1));
    double const allowed = each / std::max(1.0, nodes_per_batch / many_nodes);
    increment = std::max(format.numbers + 1, format.value(static_cast<std::uint64_t>(allowed)));

    ticketed_gains const gains{std::span{traffic.tickets}.first(entries), traffic.offsets, format, traffic.wishes};
    hold_auction(gains, room.slots.offsets, increment, room.auction);
    std::uint64_t const bound = close_auction(gains, room.slots.offsets, room.auction);
    seat_as_won(room.slots, traffic, room.auction, room.seats);
    return std::min(wished, bound) >> format.shift;
}

/// Writes the batches in the order of the ranks that they now run on.
inline void write_relabelled(plan const& given, std::span<std::uint32_t const> rank_of, relabel_room& room) {
    auto& result = room.result;
    std::size_t const batches = rank_of.size();
    room.batch_of.resize(batches);
    result.rank_of_batch.resize(batches);
    for (std::size_t batch = 0; batch < batches; ++batch) {
        room.batch_of[rank_of[batch]] = static_cast<std::uint32_t>(batch);
        result.rank_of_batch[batch] = static_cast<rank_id>(rank_of[batch]);
    }
    result.plan.micro_batches = given.micro_batches;
    result.plan.items.resize(given.items.size());
    result.plan.offsets.resize(given.offsets.size());
    auto offset = result.plan.offsets.begin();
    auto item = result.plan.items.begin();
    for (std::size_t const batch : room.batch_of) {
        std::size_t const* const list = &given.offsets[batch * given.micro_batches];
        auto const start = static_cast<std::size_t>(item - result.plan.items.begin());
        for (std::size_t number = 0; number < given.micro_batches; ++number) {
            *offset++ = start + (list[number] - list[0]);
        }
        auto const first = given.items.begin() + static_cast<std::ptrdiff_t>(list[0]);
        item = std::copy(first, given.items.begin() + static_cast<std::ptrdiff_t>(list[given.micro_batches]), item);
    }
    *offset = given.items.size();
}

/// The bytes that stay on their rank in the plan as given, `seats` being those of that plan.
[[nodiscard]] inline std::uint64_t kept_on_ranks_as_given(inside_view const& view, seating const& seats) {
    std::uint64_t kept = 0;
    for (std::size_t batch = 0; batch < seats.entries.size(); ++batch) {
        std::uint32_t const own = view.slots.local_of_world[view.slots.leaders[batch]];
        for_each_local(view, seats.entries[batch],
                       [&](std::uint32_t local, std::uint64_t bytes) { kept += local == own ? bytes : 0; });
    }
    return kept;
}

/// Refuses items that the traffic cannot be counted of.
inline void require_measured(measured found, plan const& plan, layout const& home) {
    if (found == measured::no_partition) {
        require_partition("relabel", plan, home.size());
    }
    if (found == measured::overflow) {
        throw std::overflow_error{"relabel: the total of all bytes exceeds 62 bits"};
    }
    for (std::size_t item = 0; found == measured::homeless && item < home.size(); ++item) {
        if (std::size_t const rank = to_index(home.places[item].rank); rank >= home.ranks.value) {
            throw_invalid("relabel", element("home", item) + ".rank", rank,
                          "a world rank below " + std::to_string(home.ranks.value));
        }
    }
}

/// Relabels a plan, over ranks whose leaders are in `room.slots`.
inline void relabel(plan const& plan, layout const& home, topology const& topology,
                    std::span<std::uint64_t const> bytes, relabel_options const& options, relabel_room& room) {
    bind_slots(topology, room.slots);
    require_measured(measure(plan, home, room.slots, bytes, room.traffic), plan, home);
    if (room.slots.leaders.empty()) {
        room.result = {};
        room.result.plan.micro_batches = plan.micro_batches;
        return;
    }
    auto& seats = room.seats;
    auto& result = room.result;
    inside_view const view{room.slots, room.traffic};
    std::uint64_t increment = 1;
    std::uint64_t const most_kept = seat_on_nodes(options.precision, room, increment);
    std::uint64_t const least_kept =
        std::accumulate(room.traffic.kept.begin(), room.traffic.kept.end(), std::uint64_t{0});
    if (seats.kept <= least_kept) {
        seat_as_given(room.slots, room.traffic, seats);
    }
    result.total = room.traffic.total;
    result.between_nodes_bound = result.total - most_kept;
    // All nodes together send what crosses between nodes, so one of them sends the mean of it.
    std::size_t const nodes = room.slots.nodes();
    result.busiest_node_bound = (result.between_nodes_bound + nodes - 1) / nodes;

    if (options.objective == relabel_objective::busiest) {
        auto& loads = room.busiest.loads;
        auto const relieve = [&] {
            result.busiest_node_bound = std::max(
                result.busiest_node_bound, relieve_busiest(room.slots, room.traffic, least_kept, room.busiest, seats));
        };
        relieve();
        // At the bound already, the plan as given is no better to start from.
        if (std::uint64_t const reached = loads.busy(loads.busiest()); reached > result.busiest_node_bound) {
            count_loads(
                room.slots, room.traffic, room.slots.node_of_rank,
                [&](std::uint32_t batch) { return room.traffic.kept[batch]; }, loads);
            if (loads.busy(loads.busiest()) < reached) {
                seat_as_given(room.slots, room.traffic, seats);
                relieve();
            }
        }
    }

    std::uint64_t kept_on_ranks = seat_inside_nodes(view, increment, room.inside, seats);
    count_loads(
        room.slots, room.traffic, seats.nodes, [&](std::uint32_t batch) { return seats.kept_by(batch, room.traffic); },
        room.busiest.loads);
    result.busiest_node = room.busiest.loads.busy(room.busiest.loads.busiest());
    // Nothing gained is no reason to move anybody.
    if (seats.kept == least_kept && seats.nodes == room.slots.node_of_rank) {
        std::uint64_t const as_given = kept_on_ranks_as_given(view, seats);
        if (kept_on_ranks <= as_given) {
            kept_on_ranks = as_given;
            std::iota(seats.rank_of.begin(), seats.rank_of.end(), 0U);
        }
    }
    result.moved = result.total - kept_on_ranks;
    result.between_nodes = result.total - seats.kept;
    write_relabelled(plan, seats.rank_of, room);
}

}  // namespace evenkeel::detail
