// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/communication.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/parallelism.hpp>

namespace evenkeel {

/// One modality with its resources, ready to be placed.
struct deployment {
    parallelism cut = {};
    std::size_t replicas = 1;
    /// Busy seconds of a replica per step, wherever it stands.
    double seconds = 0;
    modality_communication communication = {};

    [[nodiscard]] gpu_count gpus() const noexcept { return {replicas * cut.gpus()}; }

    friend bool operator==(deployment const&, deployment const&) = default;
};

/// How the modalities meet in each step.
struct meeting {
    std::vector<feature_flow> flows = {};
    /// Of one sample.
    double feature_bytes = 0;
    /// Samples of one sync, all replicas of a modality together, and syncs per step.
    std::uint64_t per_sync = 1;
    std::uint64_t syncs = 1;
    /// Per modality, as of `levels_of`.
    std::vector<std::size_t> levels = {};

    friend bool operator==(meeting const&, meeting const&) = default;
};

/// Samples of a sync: from `first` up to, not including, `last`.
struct sample_range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] std::uint64_t size() const noexcept { return last - first; }

    friend bool operator==(sample_range const&, sample_range const&) = default;
};

/// Which samples of each sync a replica works on: consecutive ones, shares that differ by one at the most.
///
///     samples_of(10, 4, 0);   // {0, 3}, then {3, 6}, {6, 8}, {8, 10}
///
/// Sync j of the step has the samples from j * per_sync on. As every modality cuts the same sync, the same samples meet
/// whatever the numbers of replicas are. Inferred: the paper gives numbers of samples, not which.
[[nodiscard]] constexpr sample_range samples_of(std::uint64_t per_sync, std::size_t replicas,
                                                std::size_t replica) noexcept {
    std::uint64_t const least = per_sync / replicas;
    std::uint64_t const longer = per_sync % replicas;
    std::uint64_t const first = replica * least + std::min<std::uint64_t>(replica, longer);
    return {first, first + least + (replica < longer ? 1 : 0)};
}

/// Seconds of a step whose modalities are busy for so long: the busiest of all, and for each further level a part of
/// its busiest while the first samples come through (`syncs` parts in all).
///
///     combined({3, 5}, {0, 0}, 1);   // 5: towers work side by side
///     combined({3, 5}, {0, 1}, 4);   // 5.75: an LLM waits for the encoder's first quarter
///
/// Inferred, after DistTrain's warm-up and steady time. With one level it is the slowest modality, the paper's
/// objective.
[[nodiscard]] inline double combined(std::span<double const> seconds, std::span<std::size_t const> levels,
                                     std::uint64_t syncs) {
    double busiest = 0;
    double through = 0;
    std::size_t const depth = levels.empty() ? 0 : *std::ranges::max_element(levels) + 1;
    for (std::size_t level = 0; level < depth; ++level) {
        double slowest = 0;
        for (std::size_t i = 0; i < seconds.size(); ++i) {
            slowest = levels[i] == level ? std::max(slowest, seconds[i]) : slowest;
        }
        busiest = std::max(busiest, slowest);
        through += slowest;
    }
    return depth <= 1 ? busiest : busiest + (through - busiest) / static_cast<double>(syncs);
}

/// Where every part of every replica runs.
///
/// One list of GPUs per modality: replica by replica, stage by stage, tensor-parallel rank by rank.
struct gpu_placement {
    std::vector<std::vector<world_rank>> gpus = {};

    [[nodiscard]] world_rank gpu_of(std::size_t modality, parallelism cut, std::size_t replica, std::size_t stage,
                                    std::size_t tp_rank) const noexcept {
        return gpus[modality][(replica * cut.pp + stage) * cut.tp + tp_rank];
    }

    friend bool operator==(gpu_placement const&, gpu_placement const&) = default;
};

/// Refuses a placement that leaves something out or gives a GPU two things to do.
///
/// @throws std::invalid_argument  names the first such entry.
inline void require_placement(std::string_view function, gpu_placement const& placement,
                              std::span<deployment const> modalities, cluster const& cluster) {
    if (placement.gpus.size() != modalities.size()) {
        throw_invalid(function, "placement.gpus.size()", placement.gpus.size(),
                      "one list for each of " + std::to_string(modalities.size()) + " modalities");
    }
    std::vector<bool> taken(cluster.gpus().value);
    for (std::size_t i = 0; i < modalities.size(); ++i) {
        auto const name = element("placement.gpus", i);
        if (placement.gpus[i].size() != modalities[i].gpus().value) {
            throw_invalid(function, name + ".size()", placement.gpus[i].size(),
                          std::to_string(modalities[i].gpus().value) + " GPUs");
        }
        for (std::size_t position = 0; position < placement.gpus[i].size(); ++position) {
            std::size_t const gpu = to_index(placement.gpus[i][position]);
            if (gpu >= taken.size()) {
                throw_invalid(function, element(name, position), gpu, "a GPU below " + std::to_string(taken.size()));
            }
            if (taken[gpu]) {
                throw_invalid(function, element(name, position), gpu, "a GPU that has nothing else to do");
            }
            taken[gpu] = true;
        }
    }
}

}  // namespace evenkeel
