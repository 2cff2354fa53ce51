// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/node_map.hpp>
#include <evenkeel/parallel/detail/packing.hpp>
#include <evenkeel/parallel/detail/scorer.hpp>

namespace evenkeel::detail {

/// Scores every placement of a few blocks, up to the names of the nodes, which are alike.
class every_placement {
  public:
    every_placement(std::span<deployment const> modalities, cluster const& cluster, scorer& scorer,
                    std::uint64_t effort)
        : scorer_{scorer},
          left_{effort},
          blocks_{blocks_of(modalities)},
          map_{modalities, node_map::places::blocks},
          room_(cluster.nodes, cluster.gpus_per_node) {}

    /// Replaces `best` by a better one, if there is.
    void improve(placement_cost& cost, node_map& best) {
        cost_ = &cost;
        best_ = &best;
        place(0, 0);
    }

    /// How many blocks there may be: Bell's number of ways to group eight is 4140.
    static constexpr std::size_t most_blocks = 8;

  private:
    /// @param used  Nodes that have a block already; of the others, only the first is tried.
    void place(std::size_t block, std::size_t used) {
        std::uint64_t const look = blocks_.size() + room_.size();
        if (left_ < look) {
            return;
        }
        if (block == blocks_.size()) {
            left_ -= look;
            auto const cost = scorer_.score(map_);
            if (cost < *cost_) {
                *cost_ = cost;
                *best_ = map_;
            }
            return;
        }
        auto const& one = blocks_[block];
        for (std::size_t node = 0; node < room_.size() && node <= used; ++node) {
            if (room_[node] >= one.gpus) {
                room_[node] -= one.gpus;
                map_.at(one.modality, one.replica, one.stage) = static_cast<std::uint32_t>(node);
                place(block + 1, node == used ? used + 1 : used);
                room_[node] += one.gpus;
            }
        }
    }

    scorer& scorer_;
    std::uint64_t left_;
    std::vector<gpu_block> blocks_;
    node_map map_;
    std::vector<std::size_t> room_;
    placement_cost* cost_ = nullptr;
    node_map* best_ = nullptr;
};

}  // namespace evenkeel::detail
