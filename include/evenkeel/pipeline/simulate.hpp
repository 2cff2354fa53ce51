// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/clock.hpp>
#include <evenkeel/pipeline/detail/run.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>
#include <evenkeel/pipeline/times.hpp>
#include <evenkeel/pipeline/validate.hpp>

namespace evenkeel {

/// When everything happens, without running it.
///
///     auto const drawn = evenkeel::distmm_pipe(evenkeel::stage_count{4}, {16}, {4});
///     evenkeel::simulate(drawn, evenkeel::uniform_times({4}, {.forward = 1, .backward = 2}, 1)).end;   // 61
///
/// Driven by events: an instruction starts when its device is free and what it needs has arrived. A send leaves when
/// what it sends is ready, waits for those before it on its link and arrives after bytes / bandwidth + latency. A
/// batch-sync starts on all pipelines at once, when the last has come, and takes each pipeline's `gather + sync`.
///
/// @param pipelines  One for every replica of every modality; they meet at their batch-syncs.
/// @param times      One for each pipeline.
/// @throws std::invalid_argument  if the schedules do not run (see `faults_of`), or a time is negative, missing or
///                                above 1e200, that of a message included: so everything ends at a finite time.
/// @complexity O(instructions)
[[nodiscard]] inline simulation simulate(std::span<schedule const> pipelines, std::span<pipeline_times const> times) {
    require_valid("simulate", pipelines);
    if (times.size() != pipelines.size()) {
        throw_invalid("simulate", "times.size()", times.size(),
                      "one for each of " + std::to_string(pipelines.size()) + " pipelines");
    }
    for (std::size_t pipeline = 0; pipeline < pipelines.size(); ++pipeline) {
        detail::require_times("simulate", element("times", pipeline), pipelines[pipeline], times[pipeline]);
    }
    detail::clock clock{pipelines, times};
    detail::runner{pipelines}.run(clock);
    return clock.finish();
}

[[nodiscard]] inline simulation simulate(schedule const& pipeline, pipeline_times const& times) {
    return simulate(std::span{&pipeline, 1}, std::span{&times, 1});
}

}  // namespace evenkeel
