// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::comm {

/// What a rank asks for when a communicator is split.
struct split_wish {
    std::uint32_t color = 0;
    std::uint32_t key = 0;
};

/// The ranks that split off together.
struct split_group {
    std::vector<world_rank> members;  ///< as ranks of the communicator that is split, in their new order
    topology nodes;
    world_rank self{};  ///< in the new order
};

/// The group of `self`. @param wishes  Per rank.
[[nodiscard]] inline split_group group_of(world_rank self, std::span<split_wish const> wishes, topology const& nodes) {
    split_group group;
    for (std::size_t rank = 0; rank < wishes.size(); ++rank) {
        if (wishes[rank].color == wishes[to_index(self)].color) {
            group.members.push_back(to_id<world_rank>(rank));
        }
    }
    std::ranges::stable_sort(group.members, {}, [&](world_rank member) { return wishes[to_index(member)].key; });
    // Counted anew: what takes a topology refuses one of more nodes than ranks.
    std::vector<node_id> occupied;
    for (auto const member : group.members) {
        occupied.push_back(nodes.node_of(member));
    }
    std::ranges::sort(occupied);
    occupied.erase(std::ranges::unique(occupied).begin(), occupied.end());
    for (std::size_t position = 0; position < group.members.size(); ++position) {
        auto const node = std::ranges::lower_bound(occupied, nodes.node_of(group.members[position]));
        group.nodes.nodes_of_ranks.push_back(to_id<node_id>(static_cast<std::size_t>(node - occupied.begin())));
        if (group.members[position] == self) {
            group.self = to_id<world_rank>(position);
        }
    }
    return group;
}

}  // namespace evenkeel::comm
