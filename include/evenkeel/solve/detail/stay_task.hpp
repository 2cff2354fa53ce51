// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Of an item whose home is no rank of the group: it has a node, but moves in any case.
inline constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();

/// A batch to rebalance, as the solver takes it: everything by position, all sizes already checked.
///
/// For whoever plans several phases: homes are anchors, which need not be where the item was drawn, and ranks are those
/// of the phase's group, which need not be those of the world.
struct stay_task {
    std::span<std::uint64_t const> weights;     ///< of each item
    std::span<std::uint64_t const> bytes;       ///< of each item, less than 2^64 in all
    std::span<std::uint32_t const> home_ranks;  ///< of each item: a rank, or `no_rank`
    std::span<std::uint32_t const> home_nodes;  ///< of each item: the node of its home; empty if all homes
                                                ///< are ranks
    std::span<std::uint8_t const> classes;      ///< of each item, or empty: items of a lower class leave first
    std::span<std::uint32_t const> nodes_of_ranks;
    std::size_t nodes = 0;  ///< some may have no rank of the group

    double tolerance = 1e-3;
    std::uint64_t effort = 16384;  ///< steps per item

    /// How much of the slack that the tolerance gives is kept back in each node, so that its ranks come out even more
    /// easily, in tenths; 0 to 10. What is kept back costs bytes, so it is less where that would be a percent more; at
    /// 0 nothing is kept back, as where each node has one rank, unless the target is not reached otherwise.
    std::uint64_t slack_tenths = 8;

    /// Whether no node is to take on more than another gives away, where the others have room for what is left, so that
    /// the busiest node is one that has to be.
    bool limit_imports = false;

    bool bounds = true;  ///< whether the result says how few bytes must move

    /// Whether it has a plan, the total of all bytes and what of them moves, or only `stay_room::rank_of_item` and what
    /// goes to another node.
    bool plan = true;

    /// The node that an item belongs to.
    [[nodiscard]] std::uint32_t home_node(std::size_t item) const noexcept {
        return home_ranks[item] != no_rank ? nodes_of_ranks[home_ranks[item]] : home_nodes[item];
    }

    /// Whether the two are the same memory, so that neither need be read to know that they are equal.
    [[nodiscard]] bool weights_are_bytes() const noexcept { return bytes.data() == weights.data(); }
};

/// The ranks of each node.
struct node_ranks {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> ranks;
    std::vector<std::uint32_t> local;    ///< of each rank, its place among those of its node
    std::vector<std::uint32_t> node_of;  ///< of each rank

    void assign(std::span<std::uint32_t const> nodes_of_ranks, std::size_t nodes) {
        offsets.assign(nodes + 1, 0);
        node_of.assign(nodes_of_ranks.begin(), nodes_of_ranks.end());
        ranks.resize(nodes_of_ranks.size());
        local.resize(nodes_of_ranks.size());
        for (std::size_t rank = 0; rank < nodes_of_ranks.size(); ++rank) {
            local[rank] = offsets[nodes_of_ranks[rank] + 1]++;
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            offsets[node + 1] += offsets[node];
        }
        for (std::size_t rank = 0; rank < nodes_of_ranks.size(); ++rank) {
            ranks[offsets[nodes_of_ranks[rank]] + local[rank]] = static_cast<std::uint32_t>(rank);
        }
    }

    [[nodiscard]] std::size_t nodes() const noexcept { return offsets.size() - 1; }
    [[nodiscard]] std::size_t size(std::size_t node) const noexcept { return offsets[node + 1] - offsets[node]; }
    [[nodiscard]] std::span<std::uint32_t const> operator[](std::size_t node) const noexcept {
        return std::span{ranks}.subspan(offsets[node], size(node));
    }
};

}  // namespace evenkeel::detail
