// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/detail/packing.hpp>
#include <evenkeel/parallel/detail/scorer.hpp>

namespace evenkeel::detail {

/// Seconds of a step for one modality that has the cluster for itself, in the best of the regular placements.
[[nodiscard]] inline double seconds_alone(deployment const& one, cluster const& cluster) {
    std::span<deployment const> const only{&one, 1};
    meeting const no_meeting{.levels = {0}};
    scorer scorer{cluster, only, no_meeting};
    double best = -1;
    for (auto const next : {neighbours::replicas_of_a_stage, neighbours::stages_of_a_replica}) {
        for (auto const fresh : {fresh_nodes::for_nothing, fresh_nodes::for_runs}) {
            auto const map = pack(only, cluster, {.next_to_each_other = {next}, .fresh = fresh});
            if (map) {
                double const seconds = scorer.score(*map).seconds;
                best = best < 0 ? seconds : std::min(best, seconds);
            }
            if (one.cut.pp == 1 || one.replicas == 1) {
                return best;  // there is but one way to stand next to each other
            }
        }
    }
    return best;
}

}  // namespace evenkeel::detail
