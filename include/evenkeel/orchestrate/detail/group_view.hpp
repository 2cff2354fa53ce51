// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::detail {

/// The instances of a phase as a world of their own: ranks on nodes, and where in it a place of the real world is.
///
/// An instance is on the node of its leader. Nodes without one are left out, the others numbered anew.
class group_view {
  public:
    group_view(group const& group, topology const& cluster) {
        std::size_t const ranks = group.ranks().value;
        std::vector<std::uint32_t> number(cluster.nodes(), nobody);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            number[to_index(cluster.node_of(group.leader(to_id<rank_id>(rank))))] = 0;
        }
        std::uint32_t nodes = 0;
        for (auto& node : number) {
            node = node == nobody ? nobody : nodes++;
        }
        members_.resize(nodes);
        instances_.nodes_of_ranks.resize(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            auto const node = number[to_index(cluster.node_of(group.leader(to_id<rank_id>(rank))))];
            instances_.nodes_of_ranks[rank] = node_id{node};
            members_[node].push_back(static_cast<std::uint32_t>(rank));
        }
        instance_of_.assign(cluster.size().value, nobody);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            for (world_rank const member : group[to_id<rank_id>(rank)]) {
                instance_of_[to_index(member)] = static_cast<std::uint32_t>(rank);
            }
        }
        node_of_.resize(cluster.size().value);
        for (std::size_t rank = 0; rank < node_of_.size(); ++rank) {
            node_of_[rank] = number[to_index(cluster.nodes_of_ranks[rank])];
        }
    }

    [[nodiscard]] topology const& instances() const noexcept { return instances_; }
    [[nodiscard]] std::size_t nodes() const noexcept { return members_.size(); }
    [[nodiscard]] std::span<std::uint32_t const> on_node(std::size_t node) const noexcept { return members_[node]; }

    /// The instance that item number `item` is nearest to: the one that its world rank has a part in, else one on the same
    /// node, else any.
    [[nodiscard]] std::uint32_t nearest(world_rank rank, std::size_t item) const noexcept {
        if (std::uint32_t const instance = instance_of_[to_index(rank)]; instance != nobody) {
            return instance;
        }
        if (std::uint32_t const node = node_of_[to_index(rank)]; node != nobody) {
            return members_[node][item % members_[node].size()];
        }
        return static_cast<std::uint32_t>(item % instances_.size().value);
    }

  private:
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

    topology instances_;
    std::vector<std::vector<std::uint32_t>> members_;  ///< of each node
    std::vector<std::uint32_t> instance_of_;           ///< of each world rank, or `nobody`
    std::vector<std::uint32_t> node_of_;               ///< of each world rank, or `nobody`
};

}  // namespace evenkeel::detail
