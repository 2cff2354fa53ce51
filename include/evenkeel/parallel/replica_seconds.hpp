// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/collectives.hpp>
#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/parallelism.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/stages.hpp>
#include <evenkeel/parallel/submodule.hpp>
#include <evenkeel/parallel/time_model.hpp>

namespace evenkeel {

/// What goes from layer to layer for `samples`, in bytes.
[[nodiscard]] inline double activation_volume(submodule const& submodule, double samples) noexcept {
    return samples * submodule.tokens * static_cast<double>(submodule.hidden) * submodule.value_bytes;
}

/// Seconds that tensor-parallel GPUs spend on adding up activations for one micro-batch, over all layers: four
/// all-reduces per layer, two of them backward. Part of what a time table measures, so 0 there.
[[nodiscard]] inline double tensor_seconds(submodule const& submodule, cluster const& cluster,
                                           std::uint64_t micro_batch, spread over) noexcept {
    if (!std::holds_alternative<flops_time>(submodule.time)) {
        return 0;
    }
    double const bytes = activation_volume(submodule, static_cast<double>(micro_batch));
    return 4 * static_cast<double>(submodule.layers) * all_reduce_seconds(cluster, bytes, over);
}

/// Seconds of computing for one micro-batch, forward and backward, over all layers.
///
/// @return  Nothing where it is not known: a degree that was not measured, a rate that holds for whole replicas.
[[nodiscard]] inline std::optional<double> compute_seconds(submodule const& submodule, std::uint64_t micro_batch,
                                                           std::size_t tp) {
    if (auto const* const table = std::get_if<time_table>(&submodule.time)) {
        return measured_seconds(*table, micro_batch, tp);
    }
    auto const* const flops = std::get_if<flops_time>(&submodule.time);
    if (flops == nullptr) {
        return std::nullopt;
    }
    double const per_sample =
        flops->flops_per_sample > 0 ? flops->flops_per_sample : 6 * submodule.parameters * submodule.tokens;
    double const at_best = static_cast<double>(micro_batch) * per_sample /
                           (static_cast<double>(tp) * flops->flops_per_second * flops->best_efficiency);
    if (flops->half_efficiency == 0) {
        return at_best;
    }
    double const work = static_cast<double>(micro_batch) * submodule.tokens * static_cast<double>(submodule.hidden) /
                        static_cast<double>(tp);
    return at_best * (1 + flops->half_efficiency / work);
}

/// Seconds that the heaviest stage is busy with one micro-batch: the pace of a pipeline.
///
/// @return  Nothing where it is not known, as above.
[[nodiscard]] inline std::optional<double> stage_seconds(submodule const& submodule, cluster const& cluster,
                                                         parallelism cut, stage_split const& stages,
                                                         std::uint64_t micro_batch) {
    auto const computing = compute_seconds(submodule, micro_batch, cut.tp);
    if (!computing) {
        return std::nullopt;
    }
    double const reducing = tensor_seconds(submodule, cluster, micro_batch, packed(cut.tp, cluster.gpus_per_node));
    return (*computing + reducing) * stages.largest_share();
}

/// Seconds that a replica is busy in one step: all its micro-batches, the ramps of its pipeline and the interaction;
/// what it tells other replicas and submodules comes on top.
///
///     (stages - 1 + micro-batches) * heaviest stage + syncs * interaction
///
/// This is the closed form of DistMM-Pipe and of 1F1B (section 5.3). A rate per sample has it all in its figure.
///
/// @return  Nothing where the time model does not know `cut.tp`.
[[nodiscard]] inline std::optional<double> replica_seconds(submodule const& submodule, modality_role const& role,
                                                           cluster const& cluster, parallelism cut,
                                                           stage_split const& stages, replica_load const& load) {
    auto const number = [](auto count) { return static_cast<double>(count); };
    double const meeting = number(load.syncs) * number(load.share) *
                           (role.sample_seconds + role.pair_seconds * number(load.per_sync)) / number(cut.tp);
    if (auto const* const rate = std::get_if<seconds_per_sample>(&submodule.time)) {
        return number(load.syncs) * number(load.share) * rate->seconds + meeting;
    }
    auto const pace = stage_seconds(submodule, cluster, cut, stages, load.micro_batch);
    return pace ? std::optional{number(cut.pp - 1 + load.micro_batches()) * *pace + meeting} : std::nullopt;
}

}  // namespace evenkeel
