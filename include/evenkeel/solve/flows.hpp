// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/solve/detail/flow_pairing.hpp>
#include <evenkeel/solve/node_flows.hpp>
#include <evenkeel/solve/options.hpp>

namespace evenkeel {

namespace detail {

/// Refuses arguments of `plan_flows` that do not belong together.
inline void require_flows(std::span<rank_summary const> summaries, topology const& topology, double tolerance) {
    std::size_t const ranks = topology.size().value;
    if (ranks == 0) {
        throw_invalid("plan_flows", "topology.size()", 0, "at least 1");
    }
    if (summaries.size() != ranks) {
        throw_invalid("plan_flows", "summaries.size()", summaries.size(),
                      "one for each of " + std::to_string(ranks) + " ranks");
    }
    if (topology.nodes() > ranks) {
        throw_invalid("plan_flows", "topology.nodes()", topology.nodes(),
                      "at most one node for each of " + std::to_string(ranks) + " ranks");
    }
    if (!(tolerance >= 0)) {
        throw_invalid("plan_flows", "tolerance", tolerance, "at least 0");
    }
}

}  // namespace detail

/// Plans what nodes give to each other from 16 bytes of each rank: for clusters where gathering every length takes
/// longer than a plan is worth.
///
///     // Two nodes of two ranks each. After an all-gather of the summaries, every rank computes the same:
///     std::vector<evenkeel::rank_summary> const summaries{{20, 9}, {10, 9}, {4, 2}, {6, 3}};
///     auto const flows = evenkeel::plan_flows(summaries, evenkeel::uniform_topology({4}, {2}));
///     flows.target;   // 10
///     flows.flows;    // node 0 gives node 1 items of weight 10
///     // Then each node settles its own items (`settle_exports`, `settle_ranks`).
///
/// The node with most too much gives to the node with most room, as much as either allows, until none has more than its
/// ranks may: the fewest bytes that any plan moves between nodes, were items cut to measure. As they are not, a node
/// gives up to an item more than a flow says. Where ranks have a handful of items, whoever receives it can end busier
/// than any rank was at home, which `rebalance` with all lengths at hand never does. No rank ever holds the whole plan,
/// so ranks compare `fingerprint` to be sure that they agree.
///
/// @param summaries  Of every world rank.
/// @param tolerance  How much busier than the lower bound the busiest rank may be.
/// @throws std::invalid_argument  if there is not one summary for each rank of the topology, or none, or the tolerance
///                                is negative.
/// @throws std::overflow_error    if the sum of the loads does not fit into 64 bits.
/// @complexity O(ranks + flows * log(nodes)); there are fewer flows than nodes.
[[nodiscard]] inline node_flows plan_flows(std::span<rank_summary const> summaries, topology const& topology,
                                           double tolerance = 1e-3) {
    detail::require_flows(summaries, topology, tolerance);
    std::size_t const ranks = summaries.size();
    node_flows result;
    fingerprint agreed;
    detail::node_totals nodes{.loads = std::vector<std::uint64_t>(topology.nodes()),
                              .sizes = std::vector<std::uint64_t>(topology.nodes())};
    std::uint64_t heaviest = 0;
    std::uint64_t unit = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        auto const& summary = summaries[rank];
        std::size_t const node = to_index(topology.nodes_of_ranks[rank]);
        nodes.total = checked_add(nodes.total, summary.load, "plan_flows: the total load");
        heaviest = std::max(heaviest, summary.heaviest);
        unit = std::gcd(std::gcd(unit, summary.load), summary.heaviest);
        nodes.loads[node] += summary.load;
        ++nodes.sizes[node];
        agreed.add(summary.load).add(summary.heaviest).add(std::uint64_t{node});
    }
    std::uint64_t const mean = nodes.total / ranks + (nodes.total % ranks != 0 ? 1 : 0);
    result.lower_bound = std::max(mean, heaviest);
    // Tiles: what divides all loads most likely divides all weights, so a load between two multiples is out of reach.
    nodes.unit = std::max<std::uint64_t>(unit, 1);
    std::uint64_t const reachable = mean + (nodes.unit - mean % nodes.unit) % nodes.unit;
    std::uint64_t const goal = detail::goal_of(std::max(reachable, heaviest), tolerance);
    nodes.target = goal - goal % nodes.unit;
    result.target = nodes.target;

    detail::flow_pairing pairing;
    if (!pairing.divide(nodes, detail::flow_margin(nodes, ranks))) {
        // Small nodes have less slack than the margin of a large one.
        pairing.divide(nodes, 0);
    }
    result.flows = pairing.pair(nodes.unit);
    agreed.add(result.lower_bound).add(result.target);
    for (auto const& flow : result.flows) {
        agreed.add(std::uint64_t{to_index(flow.from)}).add(std::uint64_t{to_index(flow.to)}).add(flow.weight);
    }
    result.fingerprint = agreed.value();
    return result;
}

}  // namespace evenkeel
