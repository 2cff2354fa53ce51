// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/cluster_plan.hpp>
#include <evenkeel/parallel/detail/resource_balancer.hpp>
#include <evenkeel/parallel/detail/shortage.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/partition_candidates.hpp>
#include <evenkeel/parallel/place_modalities.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/score.hpp>

namespace evenkeel::detail {

/// Refuses a submodule that fits nowhere.
[[nodiscard]] inline planning_task task_of(multimodal_model const& model, cluster const& cluster) {
    planning_task task{.model = model, .cluster = cluster, .roles = roles_of(model), .levels = levels_of(model)};
    for (std::size_t i = 0; i < model.submodules.size(); ++i) {
        task.candidates.push_back(partition_candidates(model.submodules[i], task.roles[i], cluster));
        require_candidates(model.submodules[i], task.candidates.back(), cluster);
        std::erase_if(task.candidates.back(), [](partition_candidate const& one) { return !one.fits; });
    }
    return task;
}

inline void keep_paper_partitions(planning_task& task) {
    for (auto& candidates : task.candidates) {
        candidates = {*paper_partition(candidates)};
    }
}

/// The best plans of those that were placed.
class placed_plans {
  public:
    explicit placed_plans(placement_options options) : options_{options} {}

    /// Balances for the sizes of sync, the most promising first, and places the answers, as long as one of them could
    /// still be faster than the best so far.
    void add(planning_task const& task, std::uint64_t batch, std::span<std::uint64_t const> sync_counts,
             shortage& lacking) {
        struct promise {
            double seconds = 0;
            std::uint64_t syncs = 1;
        };
        std::vector<promise> promises;
        for (auto const syncs : sync_counts) {
            resource_balancer const balancer{task, batch / syncs, syncs};
            if (auto const bound = balancer.lower_bound()) {
                promises.push_back({*bound, syncs});
                bound_ = std::min(bound_, *bound);
            } else {
                balancer.explain(lacking);
            }
        }
        // As `is_better` has it: more syncs first.
        std::ranges::sort(promises, [](promise const& a, promise const& b) {
            return std::tuple{a.seconds, b.syncs} < std::tuple{b.seconds, a.syncs};
        });
        auto const effort = promises.empty() ? 0 : options_.effort / promises.size();
        for (auto const& [bound, syncs] : promises) {
            resource_balancer balancer{task, batch / syncs, syncs};
            bool any = false;
            for (std::uint64_t spent = 0; bound <= fastest() && spent <= effort; any = true) {
                auto resources = balancer.next();
                if (!resources || (any && resources->seconds >= fastest())) {
                    break;
                }
                // Some twenty first placements.
                spent += 20 * (resources->gpus.value + task.cluster.nodes);
                auto plan = placed(task, std::move(*resources), {.effort = 0});
                balancer.learn(plan.score.modalities);
                keep(std::move(plan));
            }
            if (!any && bound <= fastest()) {
                balancer.explain(lacking);
            }
        }
    }

    /// @throws infeasible  if there is none; says why.
    [[nodiscard]] cluster_plan best(planning_task const& task, shortage const& lacking) {
        if (plans_.empty()) {
            lacking.raise();
        }
        placement_options const each{.effort = options_.effort / plans_.size()};
        for (auto& plan : plans_) {
            auto const deployments = plan.deployments();
            plan.placement = place_modalities(deployments, plan.meeting, task.cluster, each);
            plan.score = score(plan.placement, deployments, plan.meeting, task.cluster);
        }
        auto best = std::ranges::min_element(plans_, is_better);
        best->lower_bound = bound_;
        return std::move(*best);
    }

  private:
    [[nodiscard]] static cluster_plan placed(planning_task const& task, balanced_resources resources,
                                             placement_options const& options) {
        auto const& meets = task.model.interaction;
        cluster_plan plan;
        plan.meeting = {.flows = feature_flows(task.model),
                        .feature_bytes = meets.features * meets.value_bytes,
                        .per_sync = resources.per_sync,
                        .syncs = resources.syncs,
                        .levels = task.levels};
        plan.modalities = std::move(resources.modalities);
        auto const deployments = plan.deployments();
        plan.placement = place_modalities(deployments, plan.meeting, task.cluster, options);
        plan.score = evenkeel::score(plan.placement, deployments, plan.meeting, task.cluster);
        return plan;
    }

    /// Among equally fast ones fewer GPUs, then more syncs: less is in memory at once.
    [[nodiscard]] static bool is_better(cluster_plan const& a, cluster_plan const& b) {
        return std::tuple{a.seconds(), a.gpus().value, b.meeting.syncs} <
               std::tuple{b.seconds(), b.gpus().value, a.meeting.syncs};
    }

    [[nodiscard]] double fastest() const noexcept {
        return plans_.empty() ? std::numeric_limits<double>::infinity() : plans_.front().seconds();
    }

    void keep(cluster_plan plan) {
        constexpr std::size_t most = 3;
        auto const at = std::ranges::upper_bound(plans_, plan, is_better);
        plans_.insert(at, std::move(plan));
        if (plans_.size() > most) {
            plans_.pop_back();
        }
    }

    placement_options options_;
    std::vector<cluster_plan> plans_;
    double bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace evenkeel::detail
