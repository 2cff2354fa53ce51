// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <evenkeel/pipeline/detail/rows.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// Keeps the pipeline full although the loss needs the features of `group` micro-batches at once: DistMM-Pipe.
///
///     evenkeel::distmm_pipe(evenkeel::stage_count{4}, {16}, {4});
///     // stage 3: F1 F2 F3 F4 S1 B1 F5 B2 F6 B3 F7 B4 F8 S2 B5 F9 ... B12 F16 S4 B13 B14 B15 B16
///     // stage 0: F1 F2 F3 F4 F5 F6 F7 B1 F8 B2 F9 ... B9 F16 B10 ... B16
///
/// 1F1B whose warm-up is deeper by group - 1: a group's backwards take turns with the forwards of the next one. With
/// uniform times f, b, S a step takes (stages - 1 + micro_batches) * (f + b) + micro_batches / group * S, no more idle
/// than 1F1B; stage s holds at most group + stages - 1 - s micro-batches.
///
/// The paper (NSDI'24, section 5.4) gives the rule in words and with two drawings. That a step holds several groups,
/// and that `group` may be any number and not only the number of stages, is inferred from the drawings. The paper's
/// fixed choice is micro-batches of half the size that 1F1B would run; here the size is the caller's, see
/// `search_groups`.
///
/// @throws std::invalid_argument  if there is no stage, or `group` does not divide `micro_batches`.
[[nodiscard]] inline schedule distmm_pipe(stage_count stages, micro_batch_count micro_batches, group_size group) {
    detail::require_pipeline("distmm_pipe", stages, micro_batches);
    detail::require_group_size("distmm_pipe", micro_batches, group);
    return detail::alternating({.stages = stages.value, .micro_batches = micro_batches.value, .group = group.value},
                               group.value);
}

}  // namespace evenkeel
