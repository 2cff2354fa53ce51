// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/parallel/allocation_option.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/communication.hpp>
#include <evenkeel/parallel/detail/alone.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/partition_candidates.hpp>
#include <evenkeel/parallel/role.hpp>
#include <evenkeel/parallel/schedule_replica.hpp>
#include <evenkeel/parallel/submodule.hpp>

namespace evenkeel {

/// One way to run a modality: a cut, a number of replicas, micro-batches. The paper balances measured times; that what
/// GPUs tell each other is counted beside them is inferred.
struct assignment {
    std::size_t candidate = 0;  ///< position in the candidates
    replica_load load = {};
    double seconds = 0;  ///< busy, per step
    double bytes = 0;
    /// The same with the least that the modality's GPUs have to tell each other, wherever they stand ...
    double at_least = 0;
    /// ... and with what they do in the best of the regular placements: what the balancer compares.
    double alone = 0;
};

/// All of a modality's, for one size of sync, and what the best lacked where there is none.
struct assignments {
    std::vector<assignment> list = {};
    double least_bytes = std::numeric_limits<double>::infinity();
};

/// What a modality could be given: every candidate that fits, with every number of replicas that makes a difference.
///
/// More replicas that leave the largest share of samples as it is only cost GPUs, so of those with one share the fewest
/// that fit into memory are taken. What each takes alone is not known yet; see `settle`.
[[nodiscard]] inline assignments assignments_of(submodule const& submodule, modality_role const& role,
                                                cluster const& cluster, std::span<partition_candidate const> candidates,
                                                std::uint64_t per_sync, std::uint64_t syncs) {
    assignments result;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        auto const& candidate = candidates[i];
        std::size_t const room = room_for(candidate.cut, cluster);
        std::vector<std::size_t> replicas = submodule.replicas;
        if (replicas.empty()) {
            for (std::uint64_t count = 1; count <= std::min<std::uint64_t>(room, per_sync); ++count) {
                replicas.push_back(count);
            }
        }
        std::ranges::sort(replicas);
        std::uint64_t settled_share = 0;
        for (auto const count : replicas) {
            std::uint64_t const share = (per_sync + count - 1) / count;
            if (count > room || count > per_sync || share == settled_share) {
                continue;
            }
            auto const schedule =
                schedule_replica(submodule, role, cluster, candidate.cut, candidate.stages, count, per_sync, syncs);
            result.least_bytes = std::min(result.least_bytes, schedule.least_bytes);
            if (!schedule.load) {
                continue;
            }
            settled_share = share;
            auto const communication = communication_of(submodule, candidate.cut, candidate.stages, *schedule.load);
            double const least = least_communication_seconds(communication, cluster, candidate.cut, count);
            result.list.push_back({.candidate = i,
                                   .load = *schedule.load,
                                   .seconds = schedule.seconds,
                                   .bytes = schedule.bytes,
                                   .at_least = detail::rounded(schedule.seconds + least)});
        }
    }
    return result;
}

/// Finds out what each takes alone. None is dropped because another takes less alone, on as few GPUs: beside other
/// modalities that one may stand worse, and then this one is faster. Leaves them as the balancer prefers them: fewer
/// GPUs, less time, fewer replicas, fewer stages, a lower tensor-parallel degree.
inline void settle(std::vector<assignment>& list, submodule const& submodule, cluster const& cluster,
                   std::span<partition_candidate const> candidates) {
    std::ranges::stable_sort(list, {}, [&](assignment const& one) {
        auto const& cut = candidates[one.candidate].cut;
        return std::tuple{one.load.replicas * cut.gpus(), one.at_least, one.load.replicas, cut.pp, cut.tp};
    });
    std::erase_if(list, [&](assignment& one) {
        auto const& candidate = candidates[one.candidate];
        one.alone = detail::seconds_alone(
            {.cut = candidate.cut,
             .replicas = one.load.replicas,
             .seconds = one.seconds,
             .communication = communication_of(submodule, candidate.cut, candidate.stages, one.load)},
            cluster);
        return one.alone < 0;
    });
}

/// Them as `allocate` takes them.
///
/// @param seconds  Which of their times: `&assignment::alone` to choose, `&assignment::at_least` for a bound.
[[nodiscard]] inline std::vector<allocation_option> options_of(assignments const& from,
                                                               std::span<partition_candidate const> candidates,
                                                               double assignment::*seconds = &assignment::alone) {
    std::vector<allocation_option> options;
    for (auto const& one : from.list) {
        options.push_back({.gpus = one.load.replicas * candidates[one.candidate].cut.gpus(), .seconds = one.*seconds});
    }
    return options;
}

}  // namespace evenkeel
