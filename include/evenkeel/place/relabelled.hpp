// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel {

/// A plan with its batches on other ranks, the bytes that this costs, and what no other choice of ranks can go below.
///
/// Bytes are counted as `traffic_of` counts them.
struct relabelled {
    evenkeel::plan plan;  ///< the batches as they were given, each with its micro-batches, in a new order
    std::vector<rank_id> rank_of_batch;  ///< where the batch of each rank of the plan as given now runs

    std::uint64_t total = 0;          ///< bytes of all items, moved or not
    std::uint64_t moved = 0;          ///< bytes that leave their rank
    std::uint64_t between_nodes = 0;  ///< bytes that leave their node
    std::uint64_t between_nodes_bound = 0;

    std::uint64_t busiest_node = 0;  ///< the most bytes that a node sends to other nodes, or receives from them
    std::uint64_t busiest_node_bound = 0;

    /// The bytes kept inside nodes over the most that any relabelling can keep: at least this share of the optimum has
    /// been reached. 1 proves that no relabelling has fewer bytes between nodes.
    [[nodiscard]] double certificate() const noexcept {
        if (between_nodes == between_nodes_bound) {
            return 1.0;
        }
        // A byte of 2^54 is nothing to a double, but it is one.
        constexpr double below_1 = 1 - std::numeric_limits<double>::epsilon() / 2;
        return std::min(below_1,
                        static_cast<double>(total - between_nodes) / static_cast<double>(total - between_nodes_bound));
    }

    friend bool operator==(relabelled const&, relabelled const&) = default;
};

}  // namespace evenkeel
