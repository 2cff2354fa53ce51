// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/communication.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/node_map.hpp>

namespace evenkeel::detail {

/// The tensor-parallel GPUs of one stage of one replica: what is placed as a whole, within a node.
struct gpu_block {
    std::size_t modality = 0;
    std::size_t replica = 0;
    std::size_t stage = 0;
    std::size_t gpus = 1;
};

/// Modality by modality, replica by replica, stage by stage.
[[nodiscard]] inline std::vector<gpu_block> blocks_of(std::span<deployment const> modalities) {
    std::vector<gpu_block> blocks;
    for (std::size_t i = 0; i < modalities.size(); ++i) {
        for (std::size_t replica = 0; replica < modalities[i].replicas; ++replica) {
            for (std::size_t stage = 0; stage < modalities[i].cut.pp; ++stage) {
                blocks.push_back({i, replica, stage, modalities[i].cut.tp});
            }
        }
    }
    return blocks;
}

/// Which blocks of a modality stand next to each other.
enum class neighbours : std::uint8_t { replicas_of_a_stage, stages_of_a_replica };

/// What begins on an empty node, where there is one.
enum class fresh_nodes : std::uint8_t { for_nothing, for_modalities, for_runs };

/// In which order blocks are dealt out to the nodes.
struct packing_style {
    /// Modalities with large blocks first, which always fit where sizes divide each other; else those with most GPUs.
    bool large_blocks_first = true;
    /// Per modality.
    std::vector<neighbours> next_to_each_other = {};
    /// A run is what stands next to each other: a stage, or a replica.
    fresh_nodes fresh = fresh_nodes::for_nothing;
};

/// Whether what a modality says between replicas, over the network, outweighs what it says between stages: then the
/// replicas of a stage belong next to each other.
[[nodiscard]] inline neighbours preferred_neighbours(deployment const& one) {
    auto const patterns = patterns_of(one.communication, one.cut);
    auto const rank = [&](pattern_kind kind) { return std::ranges::find(patterns, kind, &pattern::kind); };
    return rank(pattern_kind::gradients) < rank(pattern_kind::pipeline) ? neighbours::replicas_of_a_stage
                                                                        : neighbours::stages_of_a_replica;
}

/// All styles worth trying, the most promising first.
[[nodiscard]] inline std::vector<packing_style> packing_styles(std::span<deployment const> modalities) {
    std::vector<std::vector<neighbours>> ways(3);
    for (auto const& one : modalities) {
        ways[0].push_back(preferred_neighbours(one));
        ways[1].push_back(neighbours::replicas_of_a_stage);
        ways[2].push_back(neighbours::stages_of_a_replica);
    }
    std::vector<packing_style> styles;
    for (auto const& way : ways) {
        for (bool const large_blocks_first : {true, false}) {
            for (auto const fresh : {fresh_nodes::for_modalities, fresh_nodes::for_nothing, fresh_nodes::for_runs}) {
                styles.push_back({large_blocks_first, way, fresh});
            }
        }
    }
    return styles;
}

/// A block that no node had room for.
struct unplaced_block {
    std::size_t modality = 0;
    /// GPUs by which the roomiest node was too small for it.
    std::size_t lacking = 0;
    /// GPUs that were dealt out before it.
    std::size_t placed = 0;
};

/// Deals blocks out, node by node.
///
/// @param unplaced  Where given, set to the block that stood in the way.
/// @return          Nothing where a block finds no node with enough room.
[[nodiscard]] inline std::optional<node_map> pack(std::span<deployment const> modalities, cluster const& cluster,
                                                  packing_style const& style, unplaced_block* unplaced = nullptr) {
    std::vector<std::size_t> order(modalities.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        auto const size = [&](std::size_t i) {
            return style.large_blocks_first ? modalities[i].cut.tp : modalities[i].gpus().value;
        };
        return size(a) > size(b);
    });
    node_map map{modalities, node_map::places::blocks};
    std::vector<std::size_t> room(cluster.nodes, cluster.gpus_per_node);
    // Nodes before it are full.
    std::size_t first_open = 0;
    auto const fresh = [&](std::size_t from) {
        for (std::size_t node = from; node < cluster.nodes; ++node) {
            if (room[node] == cluster.gpus_per_node) {
                return node;
            }
        }
        return cluster.nodes;
    };
    for (auto const i : order) {
        auto const& one = modalities[i];
        bool const by_stage = style.next_to_each_other[i] == neighbours::replicas_of_a_stage;
        std::size_t const runs = by_stage ? one.cut.pp : one.replicas;
        std::size_t const run_length = by_stage ? one.replicas : one.cut.pp;
        std::size_t at = first_open;
        for (std::size_t run = 0; run < runs; ++run) {
            bool const begins = style.fresh == fresh_nodes::for_runs || run == 0;
            if (style.fresh != fresh_nodes::for_nothing && begins) {
                std::size_t const empty = fresh(first_open);
                at = empty < cluster.nodes ? empty : at;
            }
            for (std::size_t member = 0; member < run_length; ++member) {
                std::size_t tried = 0;
                while (room[at] < one.cut.tp) {
                    if (++tried == cluster.nodes) {
                        if (unplaced != nullptr) {
                            std::size_t const left = std::accumulate(room.begin(), room.end(), std::size_t{0});
                            *unplaced = {.modality = i,
                                         .lacking = one.cut.tp - *std::ranges::max_element(room),
                                         .placed = cluster.gpus().value - left};
                        }
                        return std::nullopt;
                    }
                    at = at + 1 == cluster.nodes ? first_open : at + 1;
                }
                room[at] -= one.cut.tp;
                map.at(i, by_stage ? member : run, by_stage ? run : member) = static_cast<std::uint32_t>(at);
                while (first_open + 1 < cluster.nodes && room[first_open] == 0) {
                    ++first_open;
                }
            }
        }
    }
    return map;
}

/// What stands in the way of packing; nothing where a style finds a node for every block, and so `place_modalities`
/// does. Of the styles, the one that dealt out most GPUs.
[[nodiscard]] inline std::optional<unplaced_block> obstacle_of(std::span<deployment const> modalities,
                                                               cluster const& cluster) {
    std::optional<unplaced_block> result;
    for (auto const& style : packing_styles(modalities)) {
        unplaced_block unplaced;
        if (pack(modalities, cluster, style, &unplaced)) {
            return std::nullopt;
        }
        if (!result || unplaced.placed > result->placed) {
            result = unplaced;
        }
    }
    return result;
}

}  // namespace evenkeel::detail
