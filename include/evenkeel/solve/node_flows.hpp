// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>

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

}  // namespace evenkeel
