// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/parallelism.hpp>
#include <evenkeel/parallel/replica_seconds.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/stages.hpp>
#include <evenkeel/parallel/submodule.hpp>
#include <evenkeel/parallel/time_model.hpp>

namespace evenkeel {

/// A way to cut one replica, and what comes of it.
struct partition_candidate {
    parallelism cut = {};
    stage_split stages = {};
    /// Of the fullest GPU with as many replicas as the cluster holds, each with one sample of a sync at a time: below
    /// that it cannot be trained.
    double least_bytes = 0;
    bool fits = false;
    /// GPU-seconds per sample at the largest power of two of samples that fits as one micro-batch.
    double gpu_seconds_per_sample = std::numeric_limits<double>::infinity();
    /// No other candidate that fits is at least as good in GPUs, memory and time per sample, and better in one.
    bool unbeaten = false;

    friend bool operator==(partition_candidate const&, partition_candidate const&) = default;
};

namespace detail {

/// The degrees asked for, or the divisors of a node's GPUs that cut the heads evenly; of a time table, those it knows.
/// (The hidden size need not be cut evenly: the paper prints 5140.)
[[nodiscard]] inline std::vector<std::size_t> tensor_degrees(submodule const& submodule, cluster const& cluster) {
    std::vector<std::size_t> degrees = submodule.tp;
    if (degrees.empty()) {
        for (std::size_t tp = 1; tp <= cluster.gpus_per_node; ++tp) {
            bool const is_even = cluster.gpus_per_node % tp == 0 && (submodule.heads == 0 || submodule.heads % tp == 0);
            if (is_even) {
                degrees.push_back(tp);
            }
        }
    }
    if (auto const* const table = std::get_if<time_table>(&submodule.time)) {
        std::erase_if(degrees, [&](std::size_t tp) {
            return std::ranges::find(table->rows, tp, &measured_time::tp) == table->rows.end();
        });
    }
    std::ranges::sort(degrees);
    return degrees;
}

[[nodiscard]] inline std::vector<std::size_t> pipeline_degrees(submodule const& submodule, cluster const& cluster) {
    std::vector<std::size_t> degrees = submodule.pp;
    if (degrees.empty()) {
        for (std::size_t pp = 1; pp <= std::min(submodule.layers, cluster.gpus().value); pp *= 2) {
            degrees.push_back(pp);
        }
    }
    std::ranges::sort(degrees);
    return degrees;
}

/// Seconds per sample of a pipeline that is full.
[[nodiscard]] inline std::optional<double> steady_seconds(submodule const& submodule, cluster const& cluster,
                                                          parallelism cut, stage_split const& stages,
                                                          std::uint64_t micro_batch) {
    if (auto const* const rate = std::get_if<seconds_per_sample>(&submodule.time)) {
        return rate->seconds;
    }
    auto const pace = stage_seconds(submodule, cluster, cut, stages, micro_batch);
    return pace ? std::optional{*pace / static_cast<double>(micro_batch)} : std::nullopt;
}

inline void mark_unbeaten(std::vector<partition_candidate>& candidates) {
    for (auto& one : candidates) {
        one.unbeaten =
            one.fits && std::ranges::none_of(candidates, [&](partition_candidate const& other) {
                auto const mine = std::tuple{one.cut.gpus(), one.least_bytes, one.gpu_seconds_per_sample};
                auto const its = std::tuple{other.cut.gpus(), other.least_bytes, other.gpu_seconds_per_sample};
                return other.fits && its != mine && std::get<0>(its) <= std::get<0>(mine) &&
                       std::get<1>(its) <= std::get<1>(mine) && std::get<2>(its) <= std::get<2>(mine);
            });
    }
}

}  // namespace detail

/// Every way to cut a submodule that the cluster has room for, with the memory that it needs at least: the
/// modality-aware partitioner.
///
///     // 1.5e9 parameters take 24 GB with their gradients and optimiser states; a GPU has 16.
///     auto const ways = evenkeel::partition_candidates(tower, role, cluster);
///     ways[0].fits;                           // false: on one GPU
///     evenkeel::paper_partition(ways)->cut;   // {.tp = 2, .pp = 1}
///
/// Tensor parallelism stays within a node. `fits` is the paper's condition, `unbeaten` marks the list to choose from
/// (inferred: the paper chooses one, but its Fig. 2 does not follow its rule); the balancer looks at all that fit.
/// Ordered by stages, then tensor-parallel degree: the first that fits is `paper_partition`.
///
/// @param role  What the interaction asks of the submodule; see `roles_of`.
[[nodiscard]] inline std::vector<partition_candidate> partition_candidates(submodule const& submodule,
                                                                           modality_role const& role,
                                                                           cluster const& cluster) {
    std::vector<partition_candidate> result;
    for (auto const pp : detail::pipeline_degrees(submodule, cluster)) {
        auto const stages = split_stages(submodule, pp);
        for (auto const tp : detail::tensor_degrees(submodule, cluster)) {
            parallelism const cut{.tp = tp, .pp = pp};
            std::size_t const room = room_for(cut, cluster);
            if (room == 0) {
                continue;
            }
            auto& candidate = result.emplace_back();
            candidate.cut = cut;
            candidate.stages = stages;
            replica_load load{.replicas = room};
            load.per_sync = load.replicas;
            candidate.least_bytes = replica_bytes(submodule, role, cut, stages, load);
            candidate.fits = candidate.least_bytes <= cluster.usable_bytes();
            for (std::uint64_t size = 1; candidate.fits && size <= 65'536; size *= 2) {
                load.micro_batch = load.share = size;
                load.per_sync = size * load.replicas;
                if (replica_bytes(submodule, role, cut, stages, load) > cluster.usable_bytes()) {
                    break;
                }
                if (auto const seconds = detail::steady_seconds(submodule, cluster, cut, stages, size)) {
                    candidate.gpu_seconds_per_sample = detail::rounded(*seconds * static_cast<double>(cut.gpus()));
                }
            }
        }
    }
    detail::mark_unbeaten(result);
    return result;
}

/// The paper's rule: data parallelism alone where a replica fits on one GPU, tensor parallelism where it fits in a
/// node, otherwise a pipeline over nodes; each degree as small as memory allows.
///
/// @return  Nothing where no candidate fits.
[[nodiscard]] inline std::optional<partition_candidate> paper_partition(
    std::vector<partition_candidate> const& candidates) {
    auto const first = std::ranges::find(candidates, true, &partition_candidate::fits);
    return first == candidates.end() ? std::nullopt : std::optional{*first};
}

}  // namespace evenkeel
