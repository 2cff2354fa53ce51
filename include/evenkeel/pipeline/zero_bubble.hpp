// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <evenkeel/pipeline/detail/rows.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// 1F1B whose weight gradients fill the bubbles: ZB-H1 (Qi et al. 2023).
///
///     evenkeel::zero_bubble_h1(evenkeel::stage_count{4}, {8});
///     // stage 3: F1 I1 F2 I2 F3 I3 F4 I4 W1 F5 I5 W2 F6 I6 W3 F7 I7 W4 F8 I8 W5 W6 W7 W8
///
/// Input gradients go out as soon as they can; a weight gradient is put off until `stages` micro-batches are held,
/// which is what 1F1B holds on its first stage.
///
/// @throws std::invalid_argument  if there is no stage.
[[nodiscard]] inline schedule zero_bubble_h1(stage_count stages, micro_batch_count micro_batches) {
    detail::require_pipeline("zero_bubble_h1", stages, micro_batches);
    detail::rows result{{.stages = stages.value, .micro_batches = micro_batches.value}};
    for (std::size_t stage = 0; stage < stages.value; ++stage) {
        std::size_t forwards = 0;
        std::size_t weights = 0;
        while (forwards < std::min(micro_batches.value, stages.value - stage)) {
            result.add(instruction_kind::forward, stage, forwards++);
        }
        for (std::size_t micro_batch = 0; micro_batch < micro_batches.value; ++micro_batch) {
            result.add(instruction_kind::input_gradient, stage, micro_batch);
            if (forwards - weights == stages.value || forwards == micro_batches.value) {
                result.add(instruction_kind::weight_gradient, stage, weights++);
            }
            if (forwards < micro_batches.value) {
                result.add(instruction_kind::forward, stage, forwards++);
            }
        }
        while (weights < micro_batches.value) {
            result.add(instruction_kind::weight_gradient, stage, weights++);
        }
        result.end_device();
    }
    return result.finish();
}

}  // namespace evenkeel
