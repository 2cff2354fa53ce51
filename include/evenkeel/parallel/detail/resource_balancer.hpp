// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/parallel/allocate.hpp>
#include <evenkeel/parallel/assignment.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/cluster_plan.hpp>
#include <evenkeel/parallel/communication.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/detail/packing.hpp>
#include <evenkeel/parallel/detail/shortage.hpp>
#include <evenkeel/parallel/gpu_seconds.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/partition_candidates.hpp>
#include <evenkeel/parallel/role.hpp>

namespace evenkeel::detail {

/// A model with what the planner knows of it before it decides anything.
struct planning_task {
    multimodal_model const& model;
    evenkeel::cluster const& cluster;
    std::vector<modality_role> roles = {};
    std::vector<std::size_t> levels = {};
    std::vector<std::vector<partition_candidate>> candidates = {};
};

/// What each modality gets, for one size of sync.
struct balanced_resources {
    std::uint64_t per_sync = 1;
    std::uint64_t syncs = 1;
    double seconds = 0;
    gpu_count gpus = {};
    std::vector<modality_plan> modalities = {};

    [[nodiscard]] std::vector<deployment> deployments() const {
        std::vector<deployment> result;
        for (auto const& one : modalities) {
            result.push_back(one.deployment);
        }
        return result;
    }
};

[[nodiscard]] inline modality_plan plan_of(submodule const& submodule, partition_candidate const& candidate,
                                           assignment const& chosen) {
    return {.name = submodule.name,
            .deployment = {.cut = candidate.cut,
                           .replicas = chosen.load.replicas,
                           .seconds = chosen.seconds,
                           .communication = communication_of(submodule, candidate.cut, candidate.stages, chosen.load)},
            .stages = candidate.stages,
            .load = chosen.load,
            .bytes = chosen.bytes};
}

/// The balancer for one size of sync, asked again and again with what placing its answers has shown.
class resource_balancer {
  public:
    resource_balancer(planning_task const& task, std::uint64_t per_sync, std::uint64_t syncs)
        : task_{task}, per_sync_{per_sync}, syncs_{syncs} {
        auto const& submodules = task.model.submodules;
        for (std::size_t i = 0; i < submodules.size(); ++i) {
            choices_.push_back(
                assignments_of(submodules[i], task.roles[i], task.cluster, task.candidates[i], per_sync, syncs));
            options_.push_back(options_of(choices_.back(), task.candidates[i], &assignment::at_least));
        }
    }

    /// What no plan with this size of sync can beat; nothing where there is no plan. To be asked first.
    [[nodiscard]] std::optional<double> lower_bound() const {
        auto const shares = allocate(options_, task_.cluster.gpus(), task_.levels, syncs_);
        return shares ? std::optional{shares->seconds} : std::nullopt;
    }

    /// The best resources by what is known; nothing where none do.
    [[nodiscard]] std::optional<balanced_resources> next() {
        if (chosen_.empty()) {
            for (std::size_t i = 0; i < choices_.size(); ++i) {
                settle(choices_[i].list, task_.model.submodules[i], task_.cluster, task_.candidates[i]);
                options_[i] = options_of(choices_[i], task_.candidates[i], &assignment::alone);
            }
        }
        gpu_count budget = task_.cluster.gpus();
        while (budget.value > 0) {
            auto const shares = allocate(options_, budget, task_.levels, syncs_);
            if (!shares) {
                return std::nullopt;
            }
            balanced_resources result{
                .per_sync = per_sync_, .syncs = syncs_, .seconds = shares->seconds, .gpus = shares->gpus};
            for (std::size_t i = 0; i < choices_.size(); ++i) {
                auto const& chosen = choices_[i].list[shares->chosen[i]];
                result.modalities.push_back(
                    plan_of(task_.model.submodules[i], task_.candidates[i][chosen.candidate], chosen));
            }
            auto const obstacle = obstacle_of(result.deployments(), task_.cluster);
            if (!obstacle) {
                chosen_ = shares->chosen;
                return result;
            }
            obstacle_ = obstacle;
            // Tensor-parallel degrees that do not divide each other leave holes in the nodes: the same on fewer GPUs.
            budget.value = shares->gpus.value - 1;
        }
        return std::nullopt;
    }

    /// What the last answer's modalities really take beside each other.
    void learn(std::span<gpu_seconds const> modalities) {
        for (std::size_t i = 0; i < modalities.size(); ++i) {
            auto& seconds = options_[i][chosen_[i]].seconds;
            seconds = std::max(seconds, rounded(modalities[i].total()));
        }
    }

    void explain(shortage& lacking) const { lacking.note(task_.model, choices_, options_, task_.cluster, obstacle_); }

  private:
    planning_task const& task_;
    std::uint64_t per_sync_;
    std::uint64_t syncs_;
    std::vector<assignments> choices_;
    std::vector<std::vector<allocation_option>> options_;
    std::vector<std::size_t> chosen_;
    /// Of the last resources that did not pack.
    std::optional<unplaced_block> obstacle_;
};

}  // namespace evenkeel::detail
