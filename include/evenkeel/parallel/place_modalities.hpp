// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/communication.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/every_placement.hpp>
#include <evenkeel/parallel/detail/local_search.hpp>
#include <evenkeel/parallel/detail/node_map.hpp>
#include <evenkeel/parallel/detail/packing.hpp>
#include <evenkeel/parallel/detail/scorer.hpp>
#include <evenkeel/parallel/score.hpp>

namespace evenkeel {

/// How long the placement manager may search.
struct placement_options {
    /// Blocks (the tensor-parallel GPUs of a stage) that may be looked at after the first placements; a look takes some
    /// tens of nanoseconds. Counted, so that the result does not depend on the machine.
    std::uint64_t effort = 200'000;

    friend bool operator==(placement_options const&, placement_options const&) = default;
};

namespace detail {

/// Numbers the nodes in the order in which modalities, replicas and stages come to them, which costs nothing, and the
/// GPUs of each: large blocks first, so that every one begins at a multiple of its size where sizes divide each other.
[[nodiscard]] inline gpu_placement number_gpus(node_map const& map, std::span<deployment const> modalities,
                                               cluster const& cluster) {
    auto blocks = blocks_of(modalities);
    std::vector<std::size_t> number(cluster.nodes, cluster.nodes);
    std::size_t numbered = 0;
    for (auto const& block : blocks) {
        auto& of_node = number[map.at(block.modality, block.replica, block.stage)];
        of_node = of_node == cluster.nodes ? numbered++ : of_node;
    }
    std::ranges::stable_sort(blocks, [](gpu_block const& a, gpu_block const& b) { return a.gpus > b.gpus; });
    std::vector<std::size_t> next(cluster.nodes);
    gpu_placement placement;
    for (auto const& one : modalities) {
        placement.gpus.emplace_back(one.gpus().value);
    }
    for (auto const& block : blocks) {
        auto const node = number[map.at(block.modality, block.replica, block.stage)];
        for (std::size_t lane = 0; lane < block.gpus; ++lane) {
            std::size_t const position =
                (block.replica * modalities[block.modality].cut.pp + block.stage) * block.gpus + lane;
            placement.gpus[block.modality][position] = to_id<world_rank>(node * cluster.gpus_per_node + next[node]++);
        }
    }
    return placement;
}

}  // namespace detail

/// Gives every part of every replica a GPU so that what they tell each other takes little time: the placement manager.
///
/// Tensor-parallel groups stay within a node, a modality's parts stand together, and of its other patterns the one with
/// more frequency times volume goes inside nodes first; that is the paper's. Placements of several styles are scored (a
/// modality by stages or by replicas, on nodes of its own or not), the best are improved by moving blocks between
/// nodes, shaken and improved again; up to eight blocks, all placements are looked at. Inferred; `score` tells how far
/// the result can be from the best.
///
/// Deterministic: ties go to the earlier style and the lower number.
///
/// @throws infeasible  if the blocks do not fit into the nodes in any style; `amount` is how many GPUs lack: of all,
///                     or, where there are enough but in too small pieces, of the roomiest node that was left.
[[nodiscard]] inline gpu_placement place_modalities(std::span<deployment const> modalities, meeting const& meeting,
                                                    cluster const& cluster, placement_options options = {}) {
    require_cluster("place_modalities", cluster);
    detail::scorer scorer{cluster, modalities, meeting};
    std::vector<std::pair<detail::placement_cost, detail::node_map>> starts;
    for (auto const& style : detail::packing_styles(modalities)) {
        if (auto map = detail::pack(modalities, cluster, style)) {
            auto const cost = scorer.score(*map);
            starts.emplace_back(cost, std::move(*map));
        }
    }
    if (starts.empty()) {
        std::size_t needed = 0;
        for (auto const& one : modalities) {
            needed += one.gpus().value;
        }
        if (needed > cluster.gpus().value) {
            throw infeasible{"place_modalities: GPUs for all modalities", std::nullopt, needed - cluster.gpus().value};
        }
        auto const obstacle = detail::obstacle_of(modalities, cluster);
        throw infeasible{"place_modalities: GPUs in a node for the tensor parallelism of " +
                             element("modalities", obstacle->modality) + " besides the others",
                         std::nullopt, obstacle->lacking};
    }
    std::ranges::stable_sort(starts, [](auto const& a, auto const& b) { return a.first < b.first; });
    // What costs the same is, nearly always, the same.
    auto const same =
        std::unique(starts.begin(), starts.end(), [](auto const& a, auto const& b) { return a.first == b.first; });
    starts.erase(same, starts.end());
    auto best = starts.front();
    std::size_t blocks = 0;
    for (auto const& one : modalities) {
        blocks += one.replicas * one.cut.pp;
    }
    if (blocks <= detail::every_placement::most_blocks) {
        detail::every_placement{modalities, cluster, scorer, options.effort}.improve(best.first, best.second);
        return detail::number_gpus(best.second, modalities, cluster);
    }
    detail::block_search search{modalities, cluster, scorer, options.effort};
    constexpr std::size_t most_starts = 4;
    for (std::size_t start = 0; start < std::min(most_starts, starts.size()) && search.has_effort(); ++start) {
        auto map = starts[start].second;
        auto const cost = search.improve(map);
        if (cost < best.first) {
            best = {cost, std::move(map)};
        }
    }
    double const bound = placement_lower_bound(modalities, meeting, cluster);
    while (search.has_effort() && best.first.seconds > bound) {
        auto map = best.second;
        search.shake(map);
        auto const cost = search.improve(map);
        if (cost < best.first) {
            best = {cost, std::move(map)};
        }
    }
    return detail::number_gpus(best.second, modalities, cluster);
}

}  // namespace evenkeel
