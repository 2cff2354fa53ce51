// SPDX-License-Identifier: Apache-2.0
#include "link_measurement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>
#include <utility>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::comm {

namespace {

// What is compared takes turns: the median of each counts.
constexpr std::size_t turns = 9;
constexpr int calls_in_a_row = 10;

std::uint64_t median_of_turns(std::vector<std::uint64_t>& times) {
    std::ranges::sort(times);
    return times[turns / 2];
}

std::uint64_t time_beyond(std::uint64_t time, std::uint64_t part) { return time - std::min(time, part); }

}  // namespace

link_measurement::link_measurement(circle const& all, circle const& node, circle const& rail, node_members const& nodes,
                                   deadline until, std::size_t bytes)
    : all_{all},
      node_{node},
      rail_{rail},
      nodes_{nodes},
      until_{until},
      out_(bytes),
      in_(bytes),
      self_{all.ranks->rank()} {
    for (std::size_t node_number = 0; node_number < nodes.of_nodes().size(); ++node_number) {
        auto const& members = nodes.of_nodes()[node_number];
        largest_ = std::max(largest_, members.size());
        if (!members.empty()) {
            occupied_.push_back(node_number);
        }
    }
    std::size_t const own = to_index(all.ranks->topology().node_of(self_));
    here_ = static_cast<std::size_t>(std::ranges::find(occupied_, own) - occupied_.begin());
}

link_costs link_measurement::operator()(link_costs known) {
    time_empty_exchanges();
    if (largest_ > 1) {
        measure_inside(known);
    }
    if (others() > 0) {
        reckon_latency_between(known);
        measure_between(known);
        known.crowding_percent = crowding_percent();
    }
    return known;
}

void link_measurement::time_empty_exchanges() {
    std::array<circle const*, 3> const circles{&node_, &rail_, &all_};
    std::array<std::vector<std::uint64_t>, 3> times;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        for (std::size_t c = 0; c < circles.size(); ++c) {
            times[c].push_back(
                time_once([&] { circles[c]->ranks->exchange({}, {}).wait(until_); }, turn == 0 ? 1 : calls_in_a_row));
        }
    }
    empty_inside_ = median_of_turns(times[0]);
    empty_rail_ = median_of_turns(times[1]);
    empty_all_ = median_of_turns(times[2]);
}

void link_measurement::measure_inside(link_costs& found) {
    found.inside_ns_per_message = empty_inside_ / (largest_ - 1);
    auto const& members = node_.members;
    std::size_t const position = nodes_.position_of(self_);
    auto const busy = time_ring(node_, true, members[(position + 1) % members.size()],
                                members[(position + members.size() - 1) % members.size()]);
    found.inside_ps_per_byte = time_beyond(busy, empty_inside_) * 1000 / std::max<std::size_t>(out_.size(), 1);
}

/// So that the model is exact where nothing but this counts: flat, and two_hop as its hops one after the other.
void link_measurement::reckon_latency_between(link_costs& found) const {
    auto const inside_part = largest_ > 1 ? empty_inside_ : 0;
    auto const on_rail = (all_.members.size() + nodes_.rails() - 1) / nodes_.rails() - 1;
    if (others() > on_rail) {
        found.between_ns_per_message = time_beyond(empty_all_, inside_part + empty_rail_) / (others() - on_rail);
        found.between_ns_per_hop = time_beyond(empty_rail_, found.between_ns_per_message * on_rail);
    } else {
        found.between_ns_per_message = time_beyond(empty_all_, inside_part) / others();
        found.between_ns_per_hop = 0;
    }
}

/// By the first ranks of all nodes in a ring of nodes, alone and then beside all other rails.
void link_measurement::measure_between(link_costs& found) {
    auto const one = time_ring(all_, nodes_.position_of(self_) == 0, next(), last());
    auto const every = time_ring(all_, on_ring(), next(), last());
    auto const alone = std::max<std::uint64_t>(time_beyond(one, empty_all_), 1);
    auto const together = std::max<std::uint64_t>(time_beyond(every, empty_all_), 1);
    found.between_ps_per_byte = alone * 1000 / std::max<std::size_t>(out_.size(), 1);
    auto const cards = (nodes_.rails() * alone + together / 2) / together;
    found.cards_per_node = cards >= nodes_.rails() ? 0 : std::max<std::size_t>(cards, 1);
}

/// By the same bytes to all ranks of the next node, in turns with the ring: how evenly streams share a link is a matter
/// of luck, so that the median counts, and shows only when several follow each other.
std::uint64_t link_measurement::crowding_percent() {
    std::size_t const rails = nodes_.rails();
    std::size_t const share = out_.size() / rails;
    if (rails == 1 || share == 0) {
        return 0;
    }
    std::array<hop, 2> ways;
    auto& [alone_on_rail, crowded] = ways;
    if (on_ring()) {
        alone_on_rail.sends.push_back({next(), out_});
        alone_on_rail.receives.push_back({last(), in_});
        auto const& topology = all_.ranks->topology();
        auto const& next_node = nodes_.of_nodes()[to_index(topology.node_of(next()))];
        auto const& last_node = nodes_.of_nodes()[to_index(topology.node_of(last()))];
        for (std::size_t rail = 0; rail < rails; ++rail) {
            crowded.sends.push_back({next_node[rail], std::span{out_}.subspan(rail * share, share)});
            crowded.receives.push_back({last_node[rail], std::span{in_}.subspan(rail * share, share)});
        }
    }
    std::array<std::vector<std::uint64_t>, 2> times;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        for (std::size_t way = 0; way < ways.size(); ++way) {
            auto const& moved = ways[way];
            times[way].push_back(
                time_once([&] { all_.ranks->exchange(moved.sends, moved.receives).wait(until_); }, calls_in_a_row / 2));
        }
    }
    auto const on_rails = std::max<std::uint64_t>(median_of_turns(times[0]), 1);
    auto const in_a_crowd = std::max<std::uint64_t>(median_of_turns(times[1]), 1);
    return time_beyond(in_a_crowd, on_rails) * 100 / on_rails;
}

template <class Call>
std::uint64_t link_measurement::time_once(Call const& call, int times) {
    using clock = std::chrono::steady_clock;
    auto& world = *all_.ranks;
    world.barrier().wait(until_);
    auto const begun = clock::now();
    for (int time = 0; time < times; ++time) {
        call();
    }
    std::uint64_t const mine =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - begun).count());
    std::vector<std::uint64_t> every(world.size().value);
    world.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{every})).wait(until_);
    return *std::ranges::max_element(every) / static_cast<std::uint64_t>(times);
}

std::uint64_t link_measurement::time_ring(circle const& around, bool takes_part, world_rank to, world_rank from) {
    hop one;
    if (takes_part && to != self_ && !out_.empty()) {
        one.sends.push_back({to, out_});
        one.receives.push_back({from, in_});
    }
    auto const inside = around.inside(std::move(one));
    // The shortest of a few: what the links can do, not what the machine did meanwhile.
    constexpr int rounds = 5;
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    for (int round = 0; round < rounds; ++round) {
        shortest = std::min(shortest,
                            time_once([&] { around.ranks->exchange(inside.sends, inside.receives).wait(until_); }, 1));
    }
    return shortest;
}

world_rank link_measurement::neighbour(std::size_t steps) const {
    auto const node = occupied_[(here_ + steps) % occupied_.size()];
    return nodes_.of_nodes()[node][nodes_.rail_of(self_)];
}

}  // namespace evenkeel::comm
