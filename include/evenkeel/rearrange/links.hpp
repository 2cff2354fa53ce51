// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/detail/hop_loads.hpp>
#include <evenkeel/rearrange/exchange_algorithm.hpp>
#include <evenkeel/rearrange/node_members.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>
#include <evenkeel/rearrange/passages.hpp>
#include <evenkeel/rearrange/prediction.hpp>

namespace evenkeel {

/// What an exchange puts on which link under `algorithm`, and how long it takes by the alpha-beta model (Hockney 1994).
///
///     // Two nodes of one rank each; rank 0 has 20 bytes for rank 1.
///     auto const flat = evenkeel::predict(all, cluster, evenkeel::exchange_algorithm::flat);
///     flat.sent_by_nodes[0];   // 20 bytes leave node 0,
///     flat.nanoseconds;        // in 10'000 ns: so few bytes take no time beside a message's latency
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
    auto const greetings = detail::hop_greetings(algorithm, ranks, nodes, costs);
    for (std::size_t hop = 0; hop < 3; ++hop) {
        auto const legs = detail::hop_legs(passages, hop);
        auto const loads = detail::hop_loads(legs, topology);
        detail::add_hop(loads, topology, result);
        if (hop == 2 && legs.empty()) {
            continue;
        }
        auto const time =
            checked_add(greetings[hop], detail::hop_nanoseconds(loads, topology, nodes, costs), "predict: the time");
        result.nanoseconds = checked_add(result.nanoseconds, time, "predict: the time");
    }
    for (auto const& one : passages) {
        if (one.relay != one.from && one.relay != one.to) {
            result.of_ranks[to_index(one.relay)].relayed += one.bytes;
        }
        if (one.landing != one.relay && one.landing != one.to) {
            result.of_ranks[to_index(one.landing)].relayed += one.bytes;
        }
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
