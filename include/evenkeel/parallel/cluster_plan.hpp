// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/colocate.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/score.hpp>
#include <evenkeel/parallel/stages.hpp>

namespace evenkeel {

/// What one modality got.
struct modality_plan {
    std::string name = {};
    /// Its degrees, replicas, seconds and communication.
    evenkeel::deployment deployment = {};
    stage_split stages = {};
    replica_load load = {};
    /// Of its fullest GPU.
    double bytes = 0;

    /// Samples of a step that each replica works on.
    [[nodiscard]] std::vector<std::uint64_t> replica_batches() const {
        std::vector<std::uint64_t> batches;
        for (std::size_t replica = 0; replica < load.replicas; ++replica) {
            batches.push_back(samples(replica).size() * load.syncs);
        }
        return batches;
    }

    /// Which samples of each sync a replica works on.
    [[nodiscard]] sample_range samples(std::size_t replica) const noexcept {
        return samples_of(load.per_sync, load.replicas, replica);
    }

    friend bool operator==(modality_plan const&, modality_plan const&) = default;
};

/// How a model is laid over a cluster, how long a step takes, and what the alternative is.
struct cluster_plan {
    std::vector<modality_plan> modalities = {};
    evenkeel::meeting meeting = {};
    gpu_placement placement = {};
    placement_score score = {};
    /// No plan with the candidates that were given and the micro-batch sizes tried is faster, by this model, whatever
    /// its placement.
    double lower_bound = 0;
    /// All submodules on every GPU instead; empty where that does not fit, or its time is not known.
    std::optional<colocated_plan> colocated = std::nullopt;
    /// The same with a second forward instead of kept activations; only where samples are contrasted.
    std::optional<colocated_plan> recomputing = std::nullopt;

    /// Of a step.
    [[nodiscard]] double seconds() const noexcept { return score.seconds; }

    [[nodiscard]] gpu_count gpus() const noexcept {
        gpu_count sum;
        for (auto const& one : modalities) {
            sum.value += one.deployment.gpus().value;
        }
        return sum;
    }

    /// Whether this plan does not pay: colocation is faster.
    [[nodiscard]] bool colocation_wins() const noexcept {
        return (colocated && colocated->seconds < seconds()) || (recomputing && recomputing->seconds < seconds());
    }

    [[nodiscard]] std::vector<evenkeel::deployment> deployments() const {
        std::vector<evenkeel::deployment> result;
        for (auto const& one : modalities) {
            result.push_back(one.deployment);
        }
        return result;
    }

    friend bool operator==(cluster_plan const&, cluster_plan const&) = default;
};

/// The replicas of a modality as the group of its phase: each an instance of its world ranks, stage by stage, the first
/// stage's first GPU the leader.
[[nodiscard]] inline group group_of(cluster_plan const& plan, std::size_t modality) {
    group result;
    result.members = plan.placement.gpus[modality];
    std::size_t const each = plan.modalities[modality].deployment.cut.gpus();
    for (std::size_t replica = 1; replica <= plan.modalities[modality].load.replicas; ++replica) {
        result.offsets.push_back(replica * each);
    }
    return result;
}

}  // namespace evenkeel
