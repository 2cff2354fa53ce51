// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// Which world ranks share the fast links: one node per world rank, in any order, nodes of any size, counted from 0.
///
///     auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{64}, evenkeel::node_size{8});
///     cluster.node_of(evenkeel::world_rank{9});   // node_id{1}
struct topology {
    std::vector<node_id> nodes_of_ranks;

    [[nodiscard]] world_size size() const noexcept { return {nodes_of_ranks.size()}; }
    [[nodiscard]] node_id node_of(world_rank rank) const noexcept { return nodes_of_ranks[to_index(rank)]; }

    /// One more than the largest node id.
    [[nodiscard]] std::size_t nodes() const noexcept {
        return nodes_of_ranks.empty() ? 0 : to_index(*std::ranges::max_element(nodes_of_ranks)) + 1;
    }

    friend bool operator==(topology const&, topology const&) = default;
};

/// Nodes of equal size, filled with consecutive world ranks: the usual start of a job.
///
/// @throws std::invalid_argument  if a count is zero or the node size does not divide the world size.
[[nodiscard]] inline topology uniform_topology(world_size ranks, node_size ranks_per_node) {
    if (ranks.value == 0) {
        throw_invalid("uniform_topology", "ranks", 0, "at least 1");
    }
    if (ranks_per_node.value == 0 || ranks.value % ranks_per_node.value != 0) {
        throw_invalid("uniform_topology", "ranks_per_node", ranks_per_node.value,
                      "a divisor of the " + std::to_string(ranks.value) + " ranks");
    }
    topology result;
    result.nodes_of_ranks.resize(ranks.value);
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        result.nodes_of_ranks[rank] = to_id<node_id>(rank / ranks_per_node.value);
    }
    return result;
}

}  // namespace evenkeel
