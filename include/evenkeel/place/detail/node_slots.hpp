// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::detail {

/// Which ranks can take a batch, by node: node k has the slots `offsets[k] .. offsets[k + 1])`.
struct node_slots {
    std::vector<std::uint32_t> node_of_world;  ///< of every world rank
    std::vector<std::uint32_t> node_of_rank;   ///< of every rank of the plan: its leader's
    std::vector<std::uint32_t> leaders;        ///< world rank of every rank of the plan
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> ranks;  ///< of the plan, node after node, ascending within a node
    /// Of every world rank that leads: its slot less the first of its node; of the others one past all slots.
    std::vector<std::uint32_t> local_of_world;
    std::vector<std::uint32_t> filled;  ///< for whoever fills the nodes one slot after another

    [[nodiscard]] std::size_t nodes() const noexcept { return offsets.size() - 1; }
    [[nodiscard]] std::uint32_t size(std::size_t node) const noexcept { return offsets[node + 1] - offsets[node]; }
};

/// Fills `slots`, in which `leaders` stands already.
///
/// @complexity O(world ranks)
inline void bind_slots(topology const& topology, node_slots& slots) {
    std::size_t const world = topology.size().value;
    std::size_t const ranks = slots.leaders.size();
    slots.node_of_world.resize(world);
    for (std::size_t rank = 0; rank < world; ++rank) {
        slots.node_of_world[rank] = static_cast<std::uint32_t>(topology.nodes_of_ranks[rank]);
    }
    slots.offsets.assign(topology.nodes() + 1, 0);
    slots.node_of_rank.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        slots.node_of_rank[rank] = slots.node_of_world[slots.leaders[rank]];
        ++slots.offsets[slots.node_of_rank[rank] + 1];
    }
    for (std::size_t node = 0; node < slots.nodes(); ++node) {
        slots.offsets[node + 1] += slots.offsets[node];
    }
    slots.ranks.resize(ranks);
    slots.local_of_world.assign(world, static_cast<std::uint32_t>(ranks));
    slots.filled.assign(slots.nodes(), 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::uint32_t const node = slots.node_of_rank[rank];
        std::uint32_t const local = slots.filled[node]++;
        slots.ranks[slots.offsets[node] + local] = static_cast<std::uint32_t>(rank);
        slots.local_of_world[slots.leaders[rank]] = local;
    }
}

}  // namespace evenkeel::detail
