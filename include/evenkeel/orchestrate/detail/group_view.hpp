// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
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
    /// Whether it shows this group already, which has then been checked.
    [[nodiscard]] bool shows(group const& group, topology const& cluster) const {
        return shown_ && group == group_ && cluster == cluster_;
    }

    void assign(group const& group, topology const& cluster) {
        if (shows(group, cluster)) {
            return;
        }
        shown_ = true;
        group_ = group;
        cluster_ = cluster;
        std::size_t const ranks = group.ranks().value;
        std::vector<std::uint32_t> number(cluster.nodes(), nobody);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            number[to_index(cluster.node_of(group.leader(to_id<rank_id>(rank))))] = 0;
        }
        std::uint32_t nodes = 0;
        for (auto& node : number) {
            node = node == nobody ? nobody : nodes++;
        }
        instances_.nodes_of_ranks.resize(ranks);
        nodes_of_ranks_.resize(ranks);
        leaders_.resize(ranks);
        instance_of_.assign(cluster.size().value, nobody);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            leaders_[rank] = group.leader(to_id<rank_id>(rank));
            nodes_of_ranks_[rank] = number[to_index(cluster.node_of(leaders_[rank]))];
            instances_.nodes_of_ranks[rank] = node_id{nodes_of_ranks_[rank]};
            for (world_rank const member : group[to_id<rank_id>(rank)]) {
                instance_of_[to_index(member)] = static_cast<std::uint32_t>(rank);
            }
        }
        offsets_.assign(nodes + 1, 0);
        for (auto const node : nodes_of_ranks_) {
            ++offsets_[node + 1];
        }
        std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
        auto next = offsets_;
        members_.resize(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            members_[next[nodes_of_ranks_[rank]]++] = static_cast<std::uint32_t>(rank);
        }
        node_of_.resize(cluster.size().value);
        for (std::size_t rank = 0; rank < node_of_.size(); ++rank) {
            node_of_[rank] = number[to_index(cluster.nodes_of_ranks[rank])];
        }
    }

    [[nodiscard]] topology const& instances() const noexcept { return instances_; }
    [[nodiscard]] std::span<std::uint32_t const> nodes_of_ranks() const noexcept { return nodes_of_ranks_; }
    [[nodiscard]] std::size_t nodes() const noexcept { return offsets_.size() - 1; }
    [[nodiscard]] std::size_t ranks() const noexcept { return nodes_of_ranks_.size(); }
    [[nodiscard]] std::span<std::uint32_t const> on_node(std::size_t node) const noexcept {
        return std::span{members_}.subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
    }
    [[nodiscard]] world_rank leader(std::uint32_t rank) const noexcept { return leaders_[rank]; }

    /// The node of a world rank among those that have instances; none: the largest number.
    [[nodiscard]] std::uint32_t node_of(world_rank rank) const noexcept { return node_of_[to_index(rank)]; }

    /// The instance that item number `item` is nearest to: the one that its world rank has a part in, else one on the
    /// same node, else any.
    [[nodiscard]] std::uint32_t nearest(world_rank rank, std::size_t item) const noexcept {
        if (std::uint32_t const instance = instance_of_[to_index(rank)]; instance != nobody) {
            return instance;
        }
        if (std::uint32_t const node = node_of_[to_index(rank)]; node != nobody) {
            return on_node(node)[item % on_node(node).size()];
        }
        return static_cast<std::uint32_t>(item % ranks());
    }

    /// The same of items that follow one another, the first of which has the number `first`.
    void find_nearest(world_rank rank, std::size_t first, std::span<std::uint32_t> result) const noexcept {
        if (std::uint32_t const instance = instance_of_[to_index(rank)]; instance != nobody) {
            std::ranges::fill(result, instance);
            return;
        }
        for (std::size_t at = 0; at < result.size(); ++at) {
            result[at] = nearest(rank, first + at);
        }
    }

  private:
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

    bool shown_ = false;
    group group_;
    topology cluster_;
    topology instances_;
    std::vector<std::uint32_t> nodes_of_ranks_;  ///< of each instance
    std::vector<world_rank> leaders_;            ///< of each instance
    std::vector<std::size_t> offsets_ = {0};     ///< of each node's instances in
    std::vector<std::uint32_t> members_;
    std::vector<std::uint32_t> instance_of_;  ///< of each world rank, or `nobody`
    std::vector<std::uint32_t> node_of_;      ///< of each world rank, or `nobody`
};

}  // namespace evenkeel::detail
