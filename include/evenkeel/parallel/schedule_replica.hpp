// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/parallelism.hpp>
#include <evenkeel/parallel/replica_seconds.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/stages.hpp>
#include <evenkeel/parallel/submodule.hpp>

namespace evenkeel {

/// What a replica can do with its share of the samples.
struct replica_schedule {
    /// The fastest cut into micro-batches that fits into memory; empty where none does, or the time is not known.
    std::optional<replica_load> load = std::nullopt;
    double seconds = 0;
    double bytes = 0;  ///< of the fullest GPU
    /// What it would take at the least, over all cuts.
    double least_bytes = std::numeric_limits<double>::infinity();
};

namespace detail {

/// Sizes worth trying: what the user allows, or an even share per stage (the paper's: as many micro-batches per sync as
/// stages), powers of two, and all at once.
[[nodiscard]] inline std::vector<std::uint64_t> micro_batch_choices(submodule const& submodule, std::size_t stages,
                                                                    std::uint64_t share) {
    std::vector<std::uint64_t> choices;
    if (!submodule.micro_batches.empty()) {
        for (auto const choice : submodule.micro_batches) {
            choices.push_back(std::min(choice, share));
        }
    } else {
        auto const even_out = [&](std::uint64_t size) {
            std::uint64_t const group = (share + size - 1) / size;
            choices.push_back((share + group - 1) / group);
        };
        even_out((share + stages - 1) / stages);
        for (std::uint64_t size = 1; size < share; size *= 2) {
            even_out(size);
        }
        choices.push_back(share);
    }
    std::ranges::sort(choices);
    choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
    return choices;
}

}  // namespace detail

/// Cuts the largest replica's share of each sync into micro-batches.
///
/// The fastest that fits into memory. Among equally fast ones as many per sync as the pipeline has stages, which is
/// what the paper draws; then the fewest. That the size is searched is inferred: the paper halves what 1F1B would run.
///
/// @param per_sync  Samples of all replicas that meet in one sync.
/// @param syncs     Per step.
[[nodiscard]] inline replica_schedule schedule_replica(submodule const& submodule, modality_role const& role,
                                                       cluster const& cluster, parallelism cut,
                                                       stage_split const& stages, std::size_t replicas,
                                                       std::uint64_t per_sync, std::uint64_t syncs) {
    replica_schedule best;
    std::uint64_t const share = (per_sync + replicas - 1) / replicas;
    auto const key = [&](double seconds, std::uint64_t group) {
        return std::tuple{seconds, std::max<std::uint64_t>(group, cut.pp) - std::min<std::uint64_t>(group, cut.pp),
                          group};
    };
    for (auto const size : detail::micro_batch_choices(submodule, cut.pp, share)) {
        replica_load const load{.replicas = replicas,
                                .per_sync = per_sync,
                                .share = share,
                                .micro_batch = size,
                                .group = (share + size - 1) / size,
                                .syncs = syncs};
        double const bytes = replica_bytes(submodule, role, cut, stages, load);
        best.least_bytes = std::min(best.least_bytes, bytes);
        if (bytes > cluster.usable_bytes()) {
            continue;
        }
        auto const exact = replica_seconds(submodule, role, cluster, cut, stages, load);
        if (!exact) {
            continue;
        }
        double const seconds = detail::rounded(*exact);
        if (!best.load || key(seconds, load.group) < key(best.seconds, best.load->group)) {
            best.load = load;
            best.seconds = seconds;
            best.bytes = bytes;
        }
    }
    return best;
}

}  // namespace evenkeel
