// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/cluster_plan.hpp>
#include <evenkeel/parallel/colocate.hpp>
#include <evenkeel/parallel/detail/placed_plans.hpp>
#include <evenkeel/parallel/detail/resource_balancer.hpp>
#include <evenkeel/parallel/detail/shortage.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/place_modalities.hpp>

namespace evenkeel {

/// How many samples a step has, over all replicas of a modality.
struct global_batch {
    std::uint64_t samples = 1;
    friend bool operator==(global_batch const&, global_batch const&) = default;
};

/// Which partitions the balancer may choose from.
enum class partition_rule : std::uint8_t {
    all_that_fit,  ///< the fastest plan, and none slower than the next one's
    paper,         ///< only what `paper_partition` takes for each submodule
};

/// How `plan_cluster` looks for a plan; the defaults find the fastest.
struct plan_options {
    partition_rule rule = partition_rule::all_that_fit;
    placement_options placement = {};

    friend bool operator==(plan_options const&, plan_options const&) = default;
};

namespace detail {

/// The numbers of syncs that cut the global batch evenly and let as many samples meet as have to, rising.
[[nodiscard]] inline std::vector<std::uint64_t> sync_choices(interaction const& interaction, global_batch batch) {
    bool const meets_whole = interaction.batch == 0 && interaction.kind == interaction_kind::contrastive;
    std::uint64_t const least = meets_whole ? batch.samples : std::max<std::uint64_t>(1, interaction.batch);
    // Beyond that many, finer ones make no difference that matters.
    constexpr std::uint64_t most_syncs = 1024;
    std::vector<std::uint64_t> choices;
    for (std::uint64_t syncs = 1; syncs <= std::min(most_syncs, batch.samples); ++syncs) {
        if (batch.samples % syncs == 0 && batch.samples / syncs >= least) {
            choices.push_back(syncs);
        }
    }
    return choices;
}

inline void require_plannable(multimodal_model const& model, cluster const& cluster, global_batch batch) {
    require_cluster("plan_cluster", cluster);
    require_model("plan_cluster", model);
    if (batch.samples == 0 || batch.samples > max_batch) {
        throw_invalid("plan_cluster", "batch.samples", batch.samples, "from 1 to " + std::to_string(max_batch));
    }
    if (model.interaction.batch > batch.samples) {
        throw infeasible{"plan_cluster: samples of the global batch for interaction.batch", std::nullopt,
                         model.interaction.batch - batch.samples};
    }
}

}  // namespace detail

/// Decides how a multimodal model is trained on a cluster: for each submodule its tensor- and pipeline-parallel degree,
/// its replicas, their samples and micro-batches, and the GPU of each part.
///
///     auto const plan = evenkeel::plan_cluster(clip, cluster, evenkeel::global_batch{600});
///     plan.modalities[0].load.replicas;   // 60 of the vision tower, 4 of the text tower
///     plan.seconds();                     // and plan.colocated->seconds for all submodules on every GPU
///
/// DistMM (NSDI'24): the modality-aware partitioner (`partition_candidates`), the data load balancer (`allocate`) and
/// the placement manager (`place_modalities`), each of which says what is the paper's and what is inferred. Inferred
/// here: the balancer runs for every number of syncs per step that the interaction allows, and again with what its
/// answer takes once it is placed, where modalities get in each other's way on the network, until no other promises
/// more or the effort is spent.
///
/// Deterministic: times are compared as rounded to 40 bits, with full tie-breaks (see `allocate`), so two builds can
/// differ only where two plans differ by less than one part in 10^11.
///
/// @throws std::invalid_argument  if the model, the cluster or the batch cannot be; names submodule and member.
/// @throws infeasible  if a submodule fits nowhere, or the cluster has too few GPUs; names the submodule, and `amount`
///                     is how many bytes or GPUs lack.
[[nodiscard]] inline cluster_plan plan_cluster(multimodal_model const& model, cluster const& cluster,
                                               global_batch batch, plan_options const& options = {}) {
    detail::require_plannable(model, cluster, batch);
    auto const sync_counts = detail::sync_choices(model.interaction, batch);

    detail::placed_plans plans{options.placement};
    detail::shortage lacking;
    auto task = detail::task_of(model, cluster);
    for (auto const rule : {options.rule, partition_rule::paper}) {
        if (rule == partition_rule::paper) {
            detail::keep_paper_partitions(task);
        }
        plans.add(task, batch.samples, sync_counts, lacking);
        if (options.rule == partition_rule::paper) {
            break;
        }
    }
    auto plan = plans.best(task, lacking);
    for (auto const syncs : sync_counts) {
        auto const improve = [&](std::optional<colocated_plan>& known, recomputation again) {
            auto const one = colocate(model, task.roles, cluster, batch.samples / syncs, syncs, again);
            if (one && (!known || one->seconds < known->seconds)) {
                known = one;
            }
        };
        improve(plan.colocated, recomputation::none);
        if (model.interaction.kind == interaction_kind::contrastive) {
            improve(plan.recomputing, recomputation::features);
        }
    }
    return plan;
}

}  // namespace evenkeel
