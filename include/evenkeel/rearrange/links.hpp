// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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

namespace evenkeel {

/// What the links cost: the latency of a message and the time of a byte, inside a node and between nodes, and what it
/// costs that nodes wait for each other at all. Integers, so that all ranks choose the same algorithm.
/// `comm::hierarchy::measure` finds them.
struct link_costs {
    // The defaults are of the order of 300 GB/s between the GPUs of a node and a network card of 400 Gbit/s for each.
    std::uint64_t inside_ns_per_message = 2'000;
    std::uint64_t between_ns_per_message = 10'000;
    std::uint64_t inside_ps_per_byte = 3;
    std::uint64_t between_ps_per_byte = 20;
    /// Of each hop between nodes, whatever moves.
    std::uint64_t between_ns_per_hop = 0;
    /// How many network cards the ranks of a node share, each every so many ranks; 0: each rank has its own.
    std::size_t cards_per_node = 0;
    /// By how much longer the bytes take in a hop in which a rank exchanges with more ranks elsewhere than there are
    /// other nodes, and so with several of one: their streams share a link less evenly than one stream per rank, and
    /// the last of them decides.
    std::uint64_t crowding_percent = 0;

    friend bool operator==(link_costs const&, link_costs const&) = default;
};

/// What one rank sends and receives over its links, relayed bytes included.
struct link_load {
    std::uint64_t sent_inside = 0;
    std::uint64_t received_inside = 0;
    std::uint64_t sent_between = 0;
    std::uint64_t received_between = 0;
    std::uint64_t messages_inside = 0;   ///< sent or received, whichever are more, hop by hop
    std::uint64_t messages_between = 0;  ///< likewise
    std::uint64_t relayed = 0;  ///< bytes that are received for others: buffers that the rank needs beside its own

    friend bool operator==(link_load const&, link_load const&) = default;
};

/// What an exchange will put on which link, and how long it should take.
struct prediction {
    exchange_algorithm algorithm = exchange_algorithm::flat;
    std::vector<link_load> of_ranks;
    std::vector<std::uint64_t> sent_by_nodes;      ///< to other nodes
    std::vector<std::uint64_t> received_by_nodes;  ///< from other nodes
    std::uint64_t nanoseconds = 0;

    /// The bytes of the busiest rank between nodes, in its busier direction: what an exchange takes at least, where
    /// each rank has a network card of its own.
    [[nodiscard]] std::uint64_t busiest_between() const noexcept {
        std::uint64_t most = 0;
        for (auto const& rank : of_ranks) {
            most = std::max({most, rank.sent_between, rank.received_between});
        }
        return most;
    }
    /// Likewise of the busiest node, where the ranks of a node share one.
    [[nodiscard]] std::uint64_t busiest_node() const noexcept {
        std::uint64_t most = 0;
        for (auto const bytes : sent_by_nodes) {
            most = std::max(most, bytes);
        }
        for (auto const bytes : received_by_nodes) {
            most = std::max(most, bytes);
        }
        return most;
    }

    friend bool operator==(prediction const&, prediction const&) = default;
};

namespace detail {

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

}  // namespace detail

/// What an exchange puts on which link under `algorithm`, and how long it takes by the alpha-beta model (Hockney 1994).
///
///     auto const flat = evenkeel::predict(all, cluster, evenkeel::exchange_algorithm::flat);
///     flat.sent_by_nodes[0];   // bytes that leave node 0
///
/// The hops follow each other. In each, the ranks that take part wait for each other, all of them, those of a node, or
/// those of a rail, with one message per pair, which carries the bytes for that rank or says that there are none. Then
/// the bytes of the busiest link take its time per byte. Bytes are exact and depend on the costs in no way, the time is
/// a model.
///
/// @throws std::invalid_argument  as `passages_of`.
/// @throws std::overflow_error    if a time does not fit into 64 bits.
/// @complexity O(pairs log pairs + ranks)
[[nodiscard]] inline prediction predict(pair_traffic const& traffic, topology const& topology,
                                        exchange_algorithm algorithm, link_costs const& costs = {}) {
    // No sum below is larger than what all hops move together.
    static_cast<void>(checked_multiply(detail::require_traffic("predict", traffic, topology), 3, "predict: the bytes"));
    detail::require_way("predict", algorithm);
    auto const passages = passages_of(traffic, topology, algorithm);
    std::size_t const ranks = topology.size().value;
    prediction result{.algorithm = algorithm,
                      .of_ranks = std::vector<link_load>(ranks),
                      .sent_by_nodes = std::vector<std::uint64_t>(topology.nodes()),
                      .received_by_nodes = std::vector<std::uint64_t>(topology.nodes())};
    if (ranks == 0) {
        return result;
    }
    node_members const nodes{topology};
    std::size_t largest = 0;
    for (auto const& members : nodes.of_nodes()) {
        largest = std::max(largest, members.size());
    }
    auto const in_node = detail::greeting_nanoseconds(largest - 1, 0, costs);
    auto const in_world = detail::greeting_nanoseconds(largest - 1, ranks - largest, costs);
    std::array<std::uint64_t, 3> greetings{in_node, in_world, in_node};
    if (algorithm == exchange_algorithm::flat) {
        greetings = {0, in_world, 0};
    } else if (algorithm == exchange_algorithm::two_hop) {
        auto const on_rail = (ranks + nodes.rails() - 1) / nodes.rails();
        greetings = {in_node, detail::greeting_nanoseconds(0, on_rail - 1, costs), 0};
    }

    for (std::size_t hop = 0; hop < 3; ++hop) {
        // What travels between the same two ranks is one message.
        std::vector<pair_bytes> legs;
        for (auto const& one : passages) {
            std::array const stops{one.from, one.relay, one.landing, one.to};
            if (stops[hop] != stops[hop + 1]) {
                legs.push_back({stops[hop], stops[hop + 1], one.bytes});
                result.of_ranks[to_index(stops[hop + 1])].relayed += stops[hop + 1] == one.to ? 0 : one.bytes;
            }
        }
        std::ranges::sort(legs, {}, [](pair_bytes const& leg) { return std::tuple{leg.from, leg.to, leg.bytes}; });
        std::vector<link_load> sending(ranks);
        std::vector<link_load> receiving(ranks);
        for (std::size_t l = 0; l < legs.size(); ++l) {
            auto const& leg = legs[l];
            bool const inside = topology.node_of(leg.from) == topology.node_of(leg.to);
            bool const first = l == 0 || legs[l - 1].from != leg.from || legs[l - 1].to != leg.to;
            auto& sender = sending[to_index(leg.from)];
            auto& receiver = receiving[to_index(leg.to)];
            (inside ? sender.sent_inside : sender.sent_between) += leg.bytes;
            (inside ? receiver.received_inside : receiver.received_between) += leg.bytes;
            (inside ? sender.messages_inside : sender.messages_between) += first ? 1 : 0;
            (inside ? receiver.messages_inside : receiver.messages_between) += first ? 1 : 0;
            if (!inside) {
                result.sent_by_nodes[to_index(topology.node_of(leg.from))] += leg.bytes;
                result.received_by_nodes[to_index(topology.node_of(leg.to))] += leg.bytes;
            }
        }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            auto& here = sending[rank];
            here.received_inside = receiving[rank].received_inside;
            here.received_between = receiving[rank].received_between;
            here.messages_inside = std::max(here.messages_inside, receiving[rank].messages_inside);
            here.messages_between = std::max(here.messages_between, receiving[rank].messages_between);
            auto& sum = result.of_ranks[rank];
            sum.sent_inside += here.sent_inside;
            sum.received_inside += here.received_inside;
            sum.sent_between += here.sent_between;
            sum.received_between += here.received_between;
            sum.messages_inside += here.messages_inside;
            sum.messages_between += here.messages_between;
        }
        if (hop == 2 && legs.empty()) {
            continue;
        }
        auto const time =
            checked_add(greetings[hop], detail::hop_nanoseconds(sending, topology, nodes, costs), "predict: the time");
        result.nanoseconds = checked_add(result.nanoseconds, time, "predict: the time");
    }
    return result;
}

/// The algorithm that should be fastest: what `automatic` stands for. The first of flat, two_hop and spread among
/// equals.
///
/// @throws as `predict`.
[[nodiscard]] inline exchange_algorithm fastest_algorithm(pair_traffic const& traffic, topology const& topology,
                                                          link_costs const& costs = {}) {
    detail::require_traffic("fastest_algorithm", traffic, topology);
    auto best = exchange_algorithm::flat;
    std::uint64_t least = predict(traffic, topology, best, costs).nanoseconds;
    for (auto const algorithm : {exchange_algorithm::two_hop, exchange_algorithm::spread}) {
        if (auto const time = predict(traffic, topology, algorithm, costs).nanoseconds; time < least) {
            least = time;
            best = algorithm;
        }
    }
    return best;
}

}  // namespace evenkeel
