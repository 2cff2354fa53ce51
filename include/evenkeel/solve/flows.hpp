// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/solve/options.hpp>

namespace evenkeel {

/// What a rank tells the others of its batch: 16 bytes, whatever the number of its samples.
struct rank_summary {
    std::uint64_t load = 0;      ///< the weights of its items, added up
    std::uint64_t heaviest = 0;  ///< the weight of its heaviest item

    friend bool operator==(rank_summary const&, rank_summary const&) = default;
};

/// What one node gives to another: items of about that weight.
struct node_flow {
    node_id from{};
    node_id to{};
    std::uint64_t weight = 0;

    friend bool operator==(node_flow const&, node_flow const&) = default;
};

/// What all nodes give to each other so that each can even out its own ranks.
struct node_flows {
    std::uint64_t lower_bound = 0;  ///< no plan's busiest rank has less
    std::uint64_t target = 0;       ///< what each rank is to have, at most
    std::vector<node_flow> flows;   ///< by giving node, then by receiving node
    /// Of the summaries, the topology, the target and the flows. Ranks that do not have the same here must not go on.
    std::uint64_t fingerprint = 0;

    /// What a node gives, one flow for each node that receives.
    [[nodiscard]] std::span<node_flow const> from(node_id node) const noexcept {
        auto const first = std::ranges::lower_bound(flows, node, {}, &node_flow::from);
        auto const last = std::ranges::upper_bound(flows, node, {}, &node_flow::from);
        return {first, last};
    }

    friend bool operator==(node_flows const&, node_flows const&) = default;
};

/// Plans what nodes give to each other from 16 bytes of each rank: for clusters where gathering every length takes
/// longer than a plan is worth.
///
///     // Every rank, after an all-gather of the summaries, computes the same:
///     auto const flows = evenkeel::plan_flows(summaries, cluster, 1e-3);
///     // then its node settles its own items (`settle_exports`, `settle_ranks`).
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

    node_flows result;
    fingerprint agreed;
    std::vector<std::uint64_t> loads(topology.nodes());
    std::vector<std::uint64_t> sizes(topology.nodes());
    std::uint64_t total = 0;
    std::uint64_t heaviest = 0;
    std::uint64_t unit = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        auto const& summary = summaries[rank];
        total = checked_add(total, summary.load, "plan_flows: the total load");
        heaviest = std::max(heaviest, summary.heaviest);
        unit = std::gcd(std::gcd(unit, summary.load), summary.heaviest);
        loads[to_index(topology.nodes_of_ranks[rank])] += summary.load;
        ++sizes[to_index(topology.nodes_of_ranks[rank])];
        agreed.add(summary.load).add(summary.heaviest).add(std::uint64_t{to_index(topology.nodes_of_ranks[rank])});
    }
    result.lower_bound = std::max(total / ranks + (total % ranks != 0 ? 1 : 0), heaviest);
    // Tiles: what divides all loads most likely divides all weights, so a load between two multiples is out of reach.
    unit = std::max<std::uint64_t>(unit, 1);
    std::uint64_t const mean = total / ranks + (total % ranks != 0 ? 1 : 0);
    std::uint64_t const goal = detail::goal_of(std::max(mean + (unit - mean % unit) % unit, heaviest), tolerance);
    result.target = goal - goal % unit;

    // What is kept back in the nodes makes it easy to even out their ranks; it costs a percent more bytes, at most.
    auto const room_for = [&](std::size_t node) {
        std::uint64_t room = 0;
        // What does not fit into 64 bits is room for everything.
        return __builtin_mul_overflow(result.target, sizes[node], &room) ? total : std::min(room, total);
    };
    std::uint64_t excess_of_all = 0;
    std::uint64_t nodes_above = 0;
    std::uint64_t slack = 0;
    std::uint64_t const above_mean = result.target - std::min(result.target, total / ranks);
    std::uint64_t const slack_of_rank = above_mean - std::min<std::uint64_t>(above_mean, 1);
    for (std::size_t node = 0; node < loads.size(); ++node) {
        std::uint64_t const room = room_for(node);
        excess_of_all += loads[node] - std::min(loads[node], room);
        nodes_above += loads[node] > room ? 1U : 0U;
        std::uint64_t slack_of_node = 0;
        if (__builtin_mul_overflow(slack_of_rank, sizes[node], &slack_of_node)) {
            slack_of_node = total;
        }
        slack = std::max(slack, slack_of_node);
    }
    std::uint64_t margin = std::min(slack / 2, excess_of_all / 150 / std::max<std::uint64_t>(1, nodes_above));
    margin -= margin % unit;

    struct entry {
        std::uint64_t weight;
        std::uint32_t node;
    };
    std::vector<entry> over;
    std::vector<entry> rooms;
    // What is given is hardly ever to measure, mostly by an item too many, however little is to be given. So what
    // nobody needs is shared out among the flows, or a node that takes little from many would take too much.
    std::uint64_t spare = 0;
    auto const divide = [&] {
        over.clear();
        rooms.clear();
        spare = 0;
        for (std::uint32_t node = 0; node < loads.size(); ++node) {
            std::uint64_t const whole = room_for(node);
            std::uint64_t const room = whole - std::min(whole, margin);
            if (loads[node] > whole) {
                over.push_back({loads[node] - room, node});
            } else if (loads[node] < room) {
                rooms.push_back({room - loads[node], node});
                // What does not fit into 64 bits is more than is shared out in any case.
                spare += std::min(room - loads[node], std::numeric_limits<std::uint64_t>::max() - spare);
            }
        }
        bool enough = true;
        for (auto const& [excess, node] : over) {
            enough = enough && excess <= spare;
            spare -= std::min(spare, excess);
        }
        return enough;
    };
    if (!divide()) {
        // Small nodes have less slack than the margin of a large one.
        margin = 0;
        divide();
    }
    std::ranges::sort(over, [](entry const& a, entry const& b) {
        return a.weight > b.weight || (a.weight == b.weight && a.node < b.node);
    });
    auto const less_room = [](entry const& a, entry const& b) {
        return a.weight < b.weight || (a.weight == b.weight && a.node > b.node);
    };
    std::ranges::make_heap(rooms, less_room);
    std::uint64_t share = spare / (over.size() + rooms.size() + 1);
    share -= share % unit;
    for (auto& [excess, node] : over) {
        while (excess > 0 && !rooms.empty()) {
            std::ranges::pop_heap(rooms, less_room);
            auto& [room, receiver] = rooms.back();
            std::uint64_t const weight = std::min(excess, room);
            result.flows.push_back({node_id{node}, node_id{receiver}, weight});
            excess -= weight;
            room -= weight;
            room -= std::min(room, share);
            if (room == 0) {
                rooms.pop_back();
            } else {
                std::ranges::push_heap(rooms, less_room);
            }
        }
    }
    std::ranges::sort(result.flows, [](node_flow const& a, node_flow const& b) {
        return a.from < b.from || (a.from == b.from && a.to < b.to);
    });
    agreed.add(result.lower_bound).add(result.target);
    for (auto const& flow : result.flows) {
        agreed.add(std::uint64_t{to_index(flow.from)}).add(std::uint64_t{to_index(flow.to)}).add(flow.weight);
    }
    result.fingerprint = agreed.value();
    return result;
}

}  // namespace evenkeel
