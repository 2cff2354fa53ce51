// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/communication.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/detail/node_map.hpp>
#include <evenkeel/parallel/detail/scorer.hpp>
#include <evenkeel/parallel/gpu_seconds.hpp>

namespace evenkeel {

/// What a placement costs.
struct placement_score {
    /// Seconds of a step; see `combined`.
    double seconds = 0;
    /// No placement that keeps tensor-parallel groups within nodes takes less.
    double lower_bound = 0;
    /// Per modality, of the GPU that is busy longest.
    std::vector<gpu_seconds> modalities = {};

    /// How far this placement is from the lower bound: 0 proves that none is better.
    [[nodiscard]] double gap() const noexcept {
        return lower_bound == 0 ? 0 : std::max(0.0, seconds / lower_bound - 1);
    }

    friend bool operator==(placement_score const&, placement_score const&) = default;
};

/// What no placement can beat: every modality busy as long as it is anyway, with the least that its GPUs have to tell
/// each other and the features that it has to take in.
[[nodiscard]] inline double placement_lower_bound(std::span<deployment const> modalities, meeting const& meeting,
                                                  cluster const& cluster) {
    std::vector<double> seconds;
    for (auto const& one : modalities) {
        seconds.push_back(one.seconds + least_communication_seconds(one.communication, cluster, one.cut, one.replicas));
    }
    return combined(seconds, meeting.levels, meeting.syncs);
}

/// How long a step takes with the modalities where `placement` puts them, by the planner or by hand.
///
///     auto const mine = evenkeel::score(placement, plan.deployments(), plan.meeting, cluster);
///     mine.modalities[0].gradients;   // seconds for adding up the first modality's gradients
///
/// Latency and bandwidth of every pattern: a node's network is shared by what all its GPUs send with the same pattern,
/// and patterns come one after the other, as the paper draws them. Inferred, but for that.
///
/// @throws std::invalid_argument  if the placement leaves something out or gives a GPU two things to do.
[[nodiscard]] inline placement_score score(gpu_placement const& placement, std::span<deployment const> modalities,
                                           meeting const& meeting, cluster const& cluster) {
    require_cluster("score", cluster);
    require_placement("score", placement, modalities, cluster);
    detail::node_map map{modalities, detail::node_map::places::gpus};
    for (std::size_t i = 0; i < placement.gpus.size(); ++i) {
        std::ranges::transform(placement.gpus[i], map.of(i).begin(), [&](world_rank gpu) {
            return static_cast<std::uint32_t>(to_index(cluster.node_of(gpu)));
        });
    }
    detail::scorer scorer{cluster, modalities, meeting};
    placement_score result;
    result.seconds = scorer.score(map).seconds;
    result.lower_bound = placement_lower_bound(modalities, meeting, cluster);
    result.modalities = scorer.busiest();
    return result;
}

}  // namespace evenkeel
