// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/detail/level_bytes.hpp>
#include <evenkeel/rearrange/exchange_algorithm.hpp>
#include <evenkeel/rearrange/node_members.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>

namespace evenkeel {

/// The way of a part of one message, in at most three hops: to a neighbour of the sender, to a neighbour of the
/// receiver, to the receiver. A hop from a rank to itself is none.
struct passage {
    world_rank from{};
    world_rank relay{};    ///< shares the sender's node
    world_rank landing{};  ///< shares the receiver's node
    world_rank to{};
    std::uint64_t offset = 0;  ///< of the part in the message
    std::uint64_t bytes = 0;

    friend bool operator==(passage const&, passage const&) = default;
};

namespace detail {

/// Cuts each message where either end wants it cut.
[[nodiscard]] inline std::vector<passage> spread_passages(pair_traffic const& traffic, topology const& topology,
                                                          node_members const& nodes) {
    auto const node_of = [&](world_rank rank) { return topology.node_of(rank); };
    std::vector<std::size_t> between;
    std::vector<std::uint64_t> out(topology.nodes());
    std::vector<std::uint64_t> in(topology.nodes());
    for (std::size_t message = 0; message < traffic.pairs.size(); ++message) {
        auto const& pair = traffic.pairs[message];
        if (node_of(pair.from) != node_of(pair.to)) {
            between.push_back(message);
            out[to_index(node_of(pair.from))] += pair.bytes;
            in[to_index(node_of(pair.to))] += pair.bytes;
        }
    }
    // No levelling makes the exchange faster than the ranks of the busiest node at their mean.
    std::uint64_t most = 0;
    for (std::size_t node = 0; node < out.size(); ++node) {
        if (auto const members = nodes.of_nodes()[node].size(); members > 0) {
            auto const busier = std::max(out[node], in[node]);
            most = std::max(most, busier / members + (busier % members != 0 ? 1 : 0));
        }
    }
    auto const sending = level_bytes(traffic, between, nodes, message_end::from, most);
    auto const receiving = level_bytes(traffic, between, nodes, message_end::to, most);

    std::vector<passage> result;
    for (std::size_t message = 0; message < traffic.pairs.size(); ++message) {
        auto const& [from, to, bytes] = traffic.pairs[message];
        auto relays = sending[message];
        auto landings = receiving[message];
        if (relays.empty()) {
            relays.push_back({from, bytes});
        }
        if (landings.empty()) {
            landings.push_back({to, bytes});
        }
        std::uint64_t offset = 0;
        for (std::size_t r = 0, l = 0; offset < bytes;) {
            std::uint64_t const part = std::min(relays[r].bytes, landings[l].bytes);
            result.push_back({from, relays[r].carrier, landings[l].carrier, to, offset, part});
            offset += part;
            r += (relays[r].bytes -= part) == 0 ? 1U : 0U;
            l += (landings[l].bytes -= part) == 0 ? 1U : 0U;
        }
    }
    return result;
}

/// The checks that all readers of a traffic share. @return the sum of all bytes
inline std::uint64_t require_traffic(char const* function, pair_traffic const& traffic, topology const& topology) {
    if (topology.size() != traffic.ranks) {
        throw_invalid(function, "topology.size()", topology.size().value,
                      "the " + std::to_string(traffic.ranks.value) + " ranks of the traffic");
    }
    if (topology.nodes() > topology.size().value) {
        throw_invalid(function, "topology.nodes()", topology.nodes(),
                      "at most one node for each of " + std::to_string(topology.size().value) + " ranks");
    }
    std::uint64_t total = 0;
    for (std::size_t p = 0; p < traffic.pairs.size(); ++p) {
        auto const& pair = traffic.pairs[p];
        auto const refuse = [&](char const* member, std::uint64_t found, std::string const& expected) {
            throw_invalid(function, element("traffic.pairs", p) + member, found, expected);
        };
        auto const below = "a rank below " + std::to_string(traffic.ranks.value);
        if (to_index(pair.from) >= traffic.ranks.value) {
            refuse(".from", to_index(pair.from), below);
        }
        if (to_index(pair.to) >= traffic.ranks.value) {
            refuse(".to", to_index(pair.to), below);
        }
        if (pair.from == pair.to) {
            refuse(".to", to_index(pair.to), "another rank than the sender");
        }
        if (pair.bytes == 0) {
            refuse(".bytes", 0, "at least 1");
        }
        if (p > 0 && (traffic.pairs[p - 1].from > pair.from ||
                      (traffic.pairs[p - 1].from == pair.from && traffic.pairs[p - 1].to >= pair.to))) {
            refuse("", p, "pairs that ascend in sender, then receiver");
        }
        total = checked_add(total, pair.bytes, "pair_traffic: the total of all bytes");
    }
    return total;
}

/// Refuses what is no way to carry a traffic out.
inline void require_way(char const* function, exchange_algorithm algorithm) {
    switch (algorithm) {
        case exchange_algorithm::flat:
        case exchange_algorithm::two_hop:
        case exchange_algorithm::spread: return;
        case exchange_algorithm::automatic: break;
        default: throw_invalid(function, "algorithm", static_cast<unsigned>(algorithm), "flat, two_hop or spread");
    }
    throw_invalid(function, "algorithm", name_of(algorithm), "flat, two_hop or spread");
}

}  // namespace detail

/// The ways of all messages under `algorithm`, in order of sender, receiver and offset.
///
///     auto const ways = evenkeel::passages_of(all, cluster, evenkeel::exchange_algorithm::two_hop);
///     // from rank 0 of node 0 to rank 5 = rank 1 of node 1: over rank 1 of node 0
///
/// Every byte of every message is in exactly one passage.
///
/// - flat: straight.
/// - two_hop: over the rank of the sender's node that has the receiver's number in its own node, which is on the
///   receiver's rail (the "2DH" of Tutel, arXiv 2206.03382; "node-aware" of MPI). Where nodes differ in size, numbers
///   are counted round the smallest one.
/// - spread: no rank sends to or receives from other nodes more than the largest mean of any node, rounded up (the
///   balancing step of FAST, arXiv 2505.09764, with exact sizes instead of rounds). As little as possible is moved
///   inside the nodes for it.
///
/// @param algorithm  Any but automatic: see `fastest_algorithm`.
/// @throws std::invalid_argument  if the topology is of another world, the traffic breaks the rules of `pair_traffic`,
///                                or for `automatic` or what is no algorithm.
/// @complexity O(pairs log pairs)
[[nodiscard]] inline std::vector<passage> passages_of(pair_traffic const& traffic, topology const& topology,
                                                      exchange_algorithm algorithm) {
    detail::require_traffic("passages_of", traffic, topology);
    detail::require_way("passages_of", algorithm);
    if (traffic.pairs.empty()) {
        return {};
    }
    node_members const nodes{topology};
    if (algorithm == exchange_algorithm::spread) {
        return detail::spread_passages(traffic, topology, nodes);
    }
    std::vector<passage> result;
    result.reserve(traffic.pairs.size());
    for (auto const& [from, to, bytes] : traffic.pairs) {
        bool const relayed = algorithm == exchange_algorithm::two_hop && topology.node_of(from) != topology.node_of(to);
        // Inside a node two_hop has one hop, the first, so that what it relays travels in the same message.
        world_rank const relay = algorithm == exchange_algorithm::flat ? from
                                 : relayed                             ? nodes.on_rail_of(to, topology.node_of(from))
                                                                       : to;
        result.push_back({from, relay, to, to, 0, bytes});
    }
    return result;
}

}  // namespace evenkeel
