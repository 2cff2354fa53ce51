// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <evenkeel/pipeline/detail/rows.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// Forwards and backwards in turn, after a warm-up just long enough to fill the pipeline (PipeDream-Flush).
///
///     evenkeel::one_f_one_b(evenkeel::stage_count{4}, {8});   // stage 0: F1 F2 F3 F4 B1 F5 B2 F6 B3 ... F8 B5 ... B8
///
/// Stage s holds at most stages - s micro-batches. Each backward starts from the loss of its own micro-batch, so a
/// contrastive loss sees one micro-batch only; `distmm_pipe` is what it needs.
///
/// @throws std::invalid_argument  if there is no stage.
[[nodiscard]] inline schedule one_f_one_b(stage_count stages, micro_batch_count micro_batches) {
    detail::require_pipeline("one_f_one_b", stages, micro_batches);
    return detail::alternating({.stages = stages.value, .micro_batches = micro_batches.value}, 1);
}

}  // namespace evenkeel
