// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/exchange_algorithm.hpp>
#include <evenkeel/rearrange/node_members.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>
#include <evenkeel/rearrange/passages.hpp>
#include <evenkeel/rearrange/prediction.hpp>

namespace evenkeel::detail {

/// The time that the bytes of one hop take on the busiest link.
[[nodiscard]] inline std::uint64_t hop_nanoseconds(std::vector<link_load> const& loads, topology const& topology,
                                                   node_members const& nodes, link_costs const& costs) {
    constexpr auto what = "predict: the time";
    std::uint64_t inside = 0;
    std::uint64_t between = 0;
    std::uint64_t partners = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> cards(loads.size());
    std::vector<std::size_t> first(topology.nodes());
    for (std::size_t node = 1; node < first.size(); ++node) {
        first[node] = first[node - 1] + nodes.of_nodes()[node - 1].size();
    }
    for (std::size_t rank = 0; rank < loads.size(); ++rank) {
        auto const& load = loads[rank];
        inside = std::max({inside, load.sent_inside, load.received_inside});
        partners = std::max(partners, load.messages_between);
        auto const id = to_id<world_rank>(rank);
        std::size_t const node = to_index(topology.node_of(id));
        std::size_t const position = nodes.position_of(id);
        std::size_t const count = costs.cards_per_node == 0 ? nodes.of_nodes()[node].size() : costs.cards_per_node;
        auto& [sent, received] = cards[first[node] + position % count];
        sent += load.sent_between;
        received += load.received_between;
        between = std::max({between, sent, received});
    }
    std::uint64_t const apart = checked_multiply(between, costs.between_ps_per_byte, what);
    std::uint64_t const longer =
        partners >= topology.nodes() ? checked_multiply(apart / 100, costs.crowding_percent, what) : 0;
    return std::max(checked_multiply(inside, costs.inside_ps_per_byte, what), checked_add(apart, longer, what)) / 1000;
}

/// One message for each pair of ranks of a group that holds `inside` others of a rank's node and `between` elsewhere.
[[nodiscard]] inline std::uint64_t greeting_nanoseconds(std::uint64_t inside, std::uint64_t between,
                                                        link_costs const& costs) {
    constexpr auto what = "predict: the time";
    return checked_add(between > 0 ? costs.between_ns_per_hop : 0,
                       checked_add(checked_multiply(inside, costs.inside_ns_per_message, what),
                                   checked_multiply(between, costs.between_ns_per_message, what), what),
                       what);
}

/// What the ranks tell each other in each hop before bytes move.
[[nodiscard]] inline std::array<std::uint64_t, 3> hop_greetings(exchange_algorithm algorithm, std::size_t ranks,
                                                                node_members const& nodes, link_costs const& costs) {
    std::size_t largest = 0;
    for (auto const& members : nodes.of_nodes()) {
        largest = std::max(largest, members.size());
    }
    auto const in_node = greeting_nanoseconds(largest - 1, 0, costs);
    auto const in_world = greeting_nanoseconds(largest - 1, ranks - largest, costs);
    if (algorithm == exchange_algorithm::flat) {
        return {0, in_world, 0};
    }
    if (algorithm == exchange_algorithm::two_hop) {
        auto const on_rail = (ranks + nodes.rails() - 1) / nodes.rails();
        return {in_node, greeting_nanoseconds(0, on_rail - 1, costs), 0};
    }
    return {in_node, in_world, in_node};
}

/// What travels in a hop, by sender and receiver. What travels between the same two ranks is one message.
[[nodiscard]] inline std::vector<pair_bytes> hop_legs(std::span<passage const> passages, std::size_t hop) {
    std::vector<pair_bytes> legs;
    for (auto const& one : passages) {
        std::array const stops{one.from, one.relay, one.landing, one.to};
        if (stops[hop] != stops[hop + 1]) {
            legs.push_back({stops[hop], stops[hop + 1], one.bytes});
        }
    }
    std::ranges::sort(legs, {}, [](pair_bytes const& leg) { return std::tuple{leg.from, leg.to, leg.bytes}; });
    return legs;
}

/// What each rank sends and receives in a hop.
[[nodiscard]] inline std::vector<link_load> hop_loads(std::span<pair_bytes const> legs, topology const& topology) {
    std::vector<link_load> loads(topology.size().value);
    std::vector<link_load> receiving(loads.size());
    for (std::size_t l = 0; l < legs.size(); ++l) {
        auto const& leg = legs[l];
        bool const inside = topology.node_of(leg.from) == topology.node_of(leg.to);
        bool const first = l == 0 || legs[l - 1].from != leg.from || legs[l - 1].to != leg.to;
        auto& sender = loads[to_index(leg.from)];
        auto& receiver = receiving[to_index(leg.to)];
        (inside ? sender.sent_inside : sender.sent_between) += leg.bytes;
        (inside ? receiver.received_inside : receiver.received_between) += leg.bytes;
        (inside ? sender.messages_inside : sender.messages_between) += first ? 1 : 0;
        (inside ? receiver.messages_inside : receiver.messages_between) += first ? 1 : 0;
    }
    for (std::size_t rank = 0; rank < loads.size(); ++rank) {
        auto& here = loads[rank];
        here.received_inside = receiving[rank].received_inside;
        here.received_between = receiving[rank].received_between;
        here.messages_inside = std::max(here.messages_inside, receiving[rank].messages_inside);
        here.messages_between = std::max(here.messages_between, receiving[rank].messages_between);
    }
    return loads;
}

/// Adds what one hop puts on the links of ranks and nodes.
inline void add_hop(std::span<link_load const> loads, topology const& topology, prediction& result) {
    for (std::size_t rank = 0; rank < loads.size(); ++rank) {
        auto const& here = loads[rank];
        auto& sum = result.of_ranks[rank];
        sum.sent_inside += here.sent_inside;
        sum.received_inside += here.received_inside;
        sum.sent_between += here.sent_between;
        sum.received_between += here.received_between;
        sum.messages_inside += here.messages_inside;
        sum.messages_between += here.messages_between;
        std::size_t const node = to_index(topology.nodes_of_ranks[rank]);
        result.sent_by_nodes[node] += here.sent_between;
        result.received_by_nodes[node] += here.received_between;
    }
}

}  // namespace evenkeel::detail
