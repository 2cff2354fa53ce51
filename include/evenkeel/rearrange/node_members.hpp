// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel {

/// The ranks of each node, and the rails: rank k of every node, counted round the smallest one, so that every rail has
/// a rank of every node.
///
///     evenkeel::node_members const nodes{evenkeel::uniform_topology({4}, {2})};
///     nodes.on_rail_of(evenkeel::world_rank{0}, evenkeel::node_id{1});   // world rank 2
///
/// @complexity O(ranks) to make, O(1) to ask
class node_members {
  public:
    explicit node_members(topology const& topology) : members_(topology.nodes()), position_(topology.size().value) {
        for (std::size_t rank = 0; rank < position_.size(); ++rank) {
            auto& members = members_[to_index(topology.nodes_of_ranks[rank])];
            position_[rank] = members.size();
            members.push_back(to_id<world_rank>(rank));
        }
        rails_ = position_.size();
        for (auto const& members : members_) {
            if (!members.empty()) {
                rails_ = std::min(rails_, members.size());
            }
        }
    }

    [[nodiscard]] std::vector<std::vector<world_rank>> const& of_nodes() const noexcept { return members_; }
    [[nodiscard]] std::size_t rails() const noexcept { return rails_; }
    [[nodiscard]] std::size_t position_of(world_rank rank) const noexcept { return position_[to_index(rank)]; }
    [[nodiscard]] std::size_t rail_of(world_rank rank) const noexcept { return position_of(rank) % rails_; }

    /// The rank of `node` on the rail of `rank`; of several, one that others of that rail do not share more than need
    /// be.
    [[nodiscard]] world_rank on_rail_of(world_rank rank, node_id node) const noexcept {
        auto const& members = members_[to_index(node)];
        std::size_t const rail = rail_of(rank);
        std::size_t const choices = (members.size() - rail - 1) / rails_ + 1;
        return members[rail + position_of(rank) / rails_ % choices * rails_];
    }

  private:
    std::vector<std::vector<world_rank>> members_;  ///< per node
    std::vector<std::size_t> position_;             ///< per rank, in its node
    std::size_t rails_ = 0;
};

}  // namespace evenkeel
