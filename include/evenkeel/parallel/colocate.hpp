// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <variant>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/collectives.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/gpu_seconds.hpp>
#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/replica_seconds.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/schedule_replica.hpp>

namespace evenkeel {

/// How a colocated model gets along where a sync's activations do not fit at once.
enum class recomputation : std::uint8_t {
    none,      ///< they have to fit: Megatron-LM, the paper's baseline
    features,  ///< forward twice, features kept (GradCache, open_clip's --accum-freq): a third more to compute
};

/// All submodules on every GPU, one after the other, each cut over the same `tp` GPUs and replicated on all the others.
struct colocated_plan {
    std::size_t tp = 1;
    replica_load load = {};
    double bytes = 0;  ///< of one GPU
    gpu_seconds spent = {};
    double seconds = 0;

    friend bool operator==(colocated_plan const&, colocated_plan const&) = default;
};

namespace detail {

/// Seconds of computing per step, and of adding up activations.
struct colocated_times {
    double computing = 0;
    double tensor = 0;
};

/// @return  Nothing where a time is not known.
[[nodiscard]] inline std::optional<colocated_times> colocated_seconds(multimodal_model const& model,
                                                                      std::span<modality_role const> roles,
                                                                      cluster const& cluster, std::size_t tp,
                                                                      replica_load const& load) {
    auto const number = [](auto count) { return static_cast<double>(count); };
    double const own = number(load.share) * number(load.syncs);
    colocated_times times;
    for (std::size_t i = 0; i < model.submodules.size(); ++i) {
        auto const& submodule = model.submodules[i];
        auto const& role = roles[i];
        times.computing += own * (role.sample_seconds + role.pair_seconds * number(load.per_sync)) / number(tp);
        if (auto const* const rate = std::get_if<seconds_per_sample>(&submodule.time)) {
            // The rate is one of a whole replica, whose work is now done by tp GPUs.
            auto const least = [](auto const& degrees) {
                return degrees.empty() ? 1 : *std::ranges::min_element(degrees);
            };
            double const seconds = rate->colocated > 0 ? rate->colocated : rate->seconds;
            times.computing += own * seconds * number(least(submodule.tp) * least(submodule.pp)) / number(tp);
            continue;
        }
        auto const computing = compute_seconds(submodule, load.micro_batch, tp);
        if (!computing) {
            return std::nullopt;
        }
        times.computing += number(load.micro_batches()) * *computing;
        times.tensor += number(load.micro_batches()) *
                        tensor_seconds(submodule, cluster, load.micro_batch, packed(tp, cluster.gpus_per_node));
    }
    return times;
}

[[nodiscard]] inline double colocated_bytes(multimodal_model const& model, std::span<modality_role const> roles,
                                            std::size_t tp, replica_load const& load, std::uint64_t held) {
    auto const number = [](auto count) { return static_cast<double>(count); };
    double bytes = 0;
    for (std::size_t i = 0; i < model.submodules.size(); ++i) {
        auto const& submodule = model.submodules[i];
        auto const& role = roles[i];
        bytes += (fixed_bytes(submodule, load.replicas) + number(held) * submodule.activation_bytes) / number(tp);
        bytes += number(held) * role.input_bytes + number(load.share) * role.output_bytes +
                 number(load.per_sync) * role.gathered_bytes +
                 number(load.share) * number(load.per_sync) * role.pair_bytes / number(tp);
    }
    return bytes;
}

/// Seconds per step for gradients and for features, which all GPUs spend alike.
[[nodiscard]] inline gpu_seconds colocated_communication(multimodal_model const& model, cluster const& cluster,
                                                         std::size_t tp, replica_load const& load) {
    auto const number = [](auto count) { return static_cast<double>(count); };
    double gradients = 0;
    for (auto const& submodule : model.submodules) {
        gradients += submodule.parameters * submodule.gradient_bytes / number(tp);
    }
    // GPUs of a node that hold the same part of the model, and those that hold different ones.
    std::size_t const alike = std::max<std::size_t>(1, cluster.gpus_per_node / tp);
    std::size_t const different = std::min(tp, cluster.gpus_per_node);
    std::size_t const nodes = load.replicas / std::min(load.replicas, alike);
    gpu_seconds spent;
    if (load.replicas > 1) {
        spent.gradients =
            all_reduce_seconds(cluster, gradients, {.nodes = nodes, .on_one_node = std::min(load.replicas, alike)},
                               number(different) * all_reduce_volume(gradients, nodes));
    }
    double const feature_bytes = model.interaction.features * model.interaction.value_bytes;
    double const ways = 2 * number(load.syncs);
    for (auto const& flow : feature_flows(model)) {
        // Its own samples' features are where they are needed; those of all samples are gathered, once per modality.
        if (flow.kind == flow_kind::gathered && feature_bytes > 0) {
            double const bytes = number(load.per_sync) * feature_bytes;
            spent.interaction += ways * (bytes / cluster.intra_bandwidth + cluster.intra_latency);
            if (nodes > 1) {
                spent.interaction +=
                    ways * (ring_share(nodes) * bytes / cluster.inter_bandwidth + cluster.inter_latency);
            }
        }
    }
    return spent;
}

}  // namespace detail

/// The colocated baseline at its best: uniform tensor parallelism, within nodes or over whole ones, and data
/// parallelism (as Megatron-LM trains such models), by the same model of time and memory as the plan that it is
/// compared with. The baseline is the paper's, the model inferred.
///
///     auto const together = evenkeel::colocate(model, evenkeel::roles_of(model), cluster, 600, 1);
///     together->seconds;   // of a step in which all 600 samples meet; `plan_cluster` gives it beside its plan
///
/// @param per_sync  Samples that meet in one sync.
/// @param syncs     Per step.
/// @return          Nothing where no degree fits into memory, or a time is not known for any.
[[nodiscard]] inline std::optional<colocated_plan> colocate(multimodal_model const& model,
                                                            std::span<modality_role const> roles,
                                                            cluster const& cluster, std::uint64_t per_sync,
                                                            std::uint64_t syncs,
                                                            recomputation again = recomputation::none) {
    std::optional<colocated_plan> best;
    bool const is_join = model.interaction.kind == interaction_kind::join;
    std::size_t const gpus = cluster.gpus().value;
    for (std::size_t tp = 1; tp <= gpus; ++tp) {
        bool const is_uniform = cluster.gpus_per_node % tp == 0 || (tp % cluster.gpus_per_node == 0 && gpus % tp == 0);
        bool const cuts_heads = std::ranges::all_of(
            model.submodules, [&](submodule const& one) { return one.heads == 0 || one.heads % tp == 0; });
        if (!is_uniform || !cuts_heads) {
            continue;
        }
        std::size_t const replicas = gpus / tp;
        std::uint64_t const share = (per_sync + replicas - 1) / replicas;
        for (auto const size : detail::micro_batch_choices({}, 1, share)) {
            replica_load const load{.replicas = replicas,
                                    .per_sync = per_sync,
                                    .share = share,
                                    .micro_batch = size,
                                    .group = (share + size - 1) / size,
                                    .syncs = syncs};
            // An LLM's loss sees a micro-batch at a time; others see a sync.
            bool const keeps_all = !is_join && again == recomputation::none;
            colocated_plan plan{.tp = tp, .load = load};
            plan.bytes = detail::rounded(detail::colocated_bytes(model, roles, tp, load, keeps_all ? share : size));
            auto const times = detail::colocated_seconds(model, roles, cluster, tp, load);
            if (plan.bytes > cluster.usable_bytes() || !times) {
                continue;
            }
            double const more = again == recomputation::features ? 4.0 / 3 : 1;
            plan.spent = detail::colocated_communication(model, cluster, tp, load);
            plan.spent.computing = more * times->computing;
            plan.spent.tensor = more * times->tensor;
            plan.seconds = detail::rounded(plan.spent.total());
            if (!best || plan.seconds < best->seconds) {
                best = plan;
            }
        }
    }
    return best;
}

}  // namespace evenkeel
