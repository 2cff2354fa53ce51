// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel {

/// How many bytes a rearrangement moves, and over which links.
///
///     // Two nodes of one rank each; of items of 10, 20 and 30 bytes the second one goes to the other rank.
///     auto const sent = evenkeel::traffic_of(move, evenkeel::uniform_topology({2}, {1}), bytes);
///     sent.total;           // 60
///     sent.between_nodes;   // 20: what the slow links carry
struct traffic {
    std::uint64_t total = 0;          ///< bytes of all items, moved or not
    std::uint64_t moved = 0;          ///< bytes that leave their rank
    std::uint64_t between_nodes = 0;  ///< bytes that leave their node
    std::size_t nodes = 0;
    /// Bytes that leave their rank, from node to node: `node_to_node[from * nodes + to]`.
    std::vector<std::uint64_t> node_to_node;

    friend bool operator==(traffic const&, traffic const&) = default;
};

/// Counts what `move` sends.
///
/// @param bytes  Of each item; lengths instead of bytes give shares weighted by length.
/// @throws std::invalid_argument  if there is not one size per item, or the topology is of another world.
/// @throws std::overflow_error    if the total does not fit into 64 bits.
/// @complexity O(items + nodes^2)
[[nodiscard]] inline traffic traffic_of(rearrangement const& move, topology const& topology,
                                        std::span<std::uint64_t const> bytes) {
    if (bytes.size() != move.size()) {
        throw_invalid("traffic_of", "bytes.size()", bytes.size(),
                      "one size for each of " + std::to_string(move.size()) + " items");
    }
    if (topology.size() != move.ranks()) {
        throw_invalid("traffic_of", "topology.size()", topology.size().value,
                      "the world of the rearrangement, " + std::to_string(move.ranks().value) + " ranks");
    }
    if (topology.nodes() > topology.size().value) {
        throw_invalid("traffic_of", "topology.nodes()", topology.nodes(),
                      "at most one node for each of " + std::to_string(topology.size().value) + " ranks");
    }
    traffic result;
    result.nodes = topology.nodes();
    result.node_to_node.resize(result.nodes * result.nodes);
    for (std::size_t position = 0; position < move.size(); ++position) {
        world_rank const source = move.from().places[position].rank;
        world_rank const target = move.to().places[position].rank;
        // The other sums are parts of this one, so checking it is enough.
        result.total = checked_add(result.total, bytes[position], "traffic_of: the total of all bytes");
        if (source == target) {
            continue;
        }
        std::size_t const from = to_index(topology.node_of(source));
        std::size_t const to = to_index(topology.node_of(target));
        result.moved += bytes[position];
        result.between_nodes += from == to ? 0 : bytes[position];
        result.node_to_node[from * result.nodes + to] += bytes[position];
    }
    return result;
}

}  // namespace evenkeel
