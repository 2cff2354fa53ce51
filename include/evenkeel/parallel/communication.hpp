// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/parallelism.hpp>
#include <evenkeel/parallel/replica_seconds.hpp>
#include <evenkeel/parallel/stages.hpp>
#include <evenkeel/parallel/submodule.hpp>

namespace evenkeel {

/// What the GPUs of one modality tell each other in one step, whoever they are.
struct modality_communication {
    /// Adding up activations over a tensor-parallel group: bytes of one all-reduce, and how many of them on each stage.
    double tensor_bytes = 0;
    std::vector<double> tensor_reduces = {};
    /// Whether the modality's seconds have them already, within a node; a group that is torn apart costs the
    /// difference.
    bool tensor_is_measured = false;
    /// From one stage to the next and back, over one boundary of one replica, its tensor-parallel GPUs together.
    double boundary_bytes = 0;
    double boundary_messages = 0;
    /// Adding up gradients over replicas: bytes of one GPU of each stage, once.
    std::vector<double> gradient_bytes = {};

    friend bool operator==(modality_communication const&, modality_communication const&) = default;
};

/// What a submodule's replicas tell each other, from its shapes and `load`. Shapes that are not given tell nothing, and
/// a rate per sample has a pipeline's boundaries in it.
///
/// Bytes per step as inferred in the design: four all-reduces of a micro-batch's activations per layer, activations
/// forward and their gradients backward over each boundary, one all-reduce of the gradients. A boundary's
/// tensor-parallel GPUs send a part each.
[[nodiscard]] inline modality_communication communication_of(submodule const& submodule, parallelism cut,
                                                             stage_split const& stages, replica_load const& load) {
    auto const number = [](auto count) { return static_cast<double>(count); };
    modality_communication result;
    result.tensor_is_measured = !std::holds_alternative<flops_time>(submodule.time);
    if (cut.tp > 1) {
        result.tensor_bytes = activation_volume(submodule, number(load.micro_batch));
    }
    if (cut.pp > 1 && !std::holds_alternative<seconds_per_sample>(submodule.time)) {
        result.boundary_bytes = 2 * activation_volume(submodule, number(load.share * load.syncs));
        result.boundary_messages = result.boundary_bytes == 0 ? 0 : 2 * number(load.micro_batches());
    }
    for (auto const share : stages.shares) {
        result.tensor_reduces.push_back(
            cut.tp == 1 ? 0 : 4 * number(submodule.layers) * share * number(load.micro_batches()));
        result.gradient_bytes.push_back(
            load.replicas == 1 ? 0 : submodule.parameters * submodule.gradient_bytes * share / number(cut.tp));
    }
    return result;
}

/// A pattern of communication: how often, and how much each time.
enum class pattern_kind : std::uint8_t { tensor, pipeline, gradients };

/// How much one pattern of one modality matters for where its GPUs should stand.
struct pattern {
    pattern_kind kind = pattern_kind::tensor;
    double times_per_step = 0;
    double bytes_each_time = 0;

    /// Frequency times volume, the paper's priority: of the patterns of a modality, the one with more goes inside a
    /// node.
    [[nodiscard]] double priority() const noexcept { return times_per_step * bytes_each_time; }

    friend bool operator==(pattern const&, pattern const&) = default;
};

/// The patterns of a modality for one GPU, the most important first.
[[nodiscard]] inline std::vector<pattern> patterns_of(modality_communication const& of, parallelism cut) {
    double const reduces = *std::ranges::max_element(of.tensor_reduces);
    double const gradients = *std::ranges::max_element(of.gradient_bytes);
    double const messages = of.boundary_messages;
    std::vector<pattern> patterns{{pattern_kind::tensor, reduces, of.tensor_bytes},
                                  {pattern_kind::pipeline, messages,
                                   messages == 0 ? 0 : of.boundary_bytes / messages / static_cast<double>(cut.tp)},
                                  {pattern_kind::gradients, gradients == 0 ? 0.0 : 1.0, gradients}};
    std::ranges::stable_sort(patterns, [](pattern const& a, pattern const& b) { return a.priority() > b.priority(); });
    return patterns;
}

/// Seconds per step that a modality's GPUs cannot do without, wherever they stand.
///
/// A lower bound of what `score` finds in any placement that keeps tensor-parallel groups within nodes. With x replicas
/// of a stage on its fullest node, gradients go over at least replicas / x nodes, and of the boundaries of those
/// replicas no more stay inside than the node has room for other stages; the bound is that of the best x.
///
/// @complexity O(stages * GPUs of a node)
[[nodiscard]] inline double least_communication_seconds(modality_communication const& of, cluster const& cluster,
                                                        parallelism cut, std::size_t replicas) {
    auto const number = [](auto count) { return static_cast<double>(count); };
    // GPUs of a block send side by side within a node, and share the node's way out.
    double const inside = std::min(of.boundary_bytes / number(cut.tp) / cluster.intra_bandwidth,
                                   of.boundary_bytes / cluster.inter_bandwidth) +
                          of.boundary_messages * std::min(cluster.intra_latency, cluster.inter_latency);
    std::size_t const blocks = std::max<std::size_t>(1, cluster.gpus_per_node / cut.tp);
    double most = 0;
    for (std::size_t stage = 0; stage < cut.pp; ++stage) {
        bool const is_inner =
            stage > 1 && stage + 2 < cut.pp && of.gradient_bytes[stage] == of.gradient_bytes[stage - 1];
        if (is_inner) {
            continue;  // as the one before it
        }
        std::size_t const boundaries = (stage > 0 ? 1U : 0U) + (stage + 1 < cut.pp ? 1U : 0U);
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t together = 1; together <= std::min(replicas, blocks); ++together) {
            std::size_t const nodes = (replicas + together - 1) / together;
            std::size_t const others = blocks - together;
            std::size_t const crossing = together * boundaries - std::min(together * boundaries, others);
            double const through = number(cut.tp) * all_reduce_volume(of.gradient_bytes[stage], nodes);
            double const gradients = all_reduce_seconds(cluster, of.gradient_bytes[stage],
                                                        {.nodes = nodes, .on_one_node = together}, through);
            double const out = crossing == 0 ? 0 : number(crossing) * of.boundary_bytes / cluster.inter_bandwidth;
            least = std::min(least, gradients + std::max(number(boundaries) * inside, out));
        }
        most = std::max(most, least);
    }
    return most;
}

}  // namespace evenkeel
