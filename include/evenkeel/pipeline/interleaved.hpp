// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/pipeline/detail/rows.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// How many devices a pipeline runs on, where that is not the number of its stages.
struct device_count {
    std::size_t value = 0;
    friend bool operator==(device_count const&, device_count const&) = default;
};

/// 1F1B with several stages on every device: the bubble shrinks by their number, transfers and memory grow.
///
///     evenkeel::interleaved(evenkeel::device_count{4}, evenkeel::stage_count{8}, {8});   // device 0: stages 0 and 4
///
/// Megatron-LM's order (Narayanan et al. 2021): micro-batches go through the stages of a device in rounds of `devices`.
///
/// @throws std::invalid_argument  if there is no device, or `stages` or `micro_batches` is no multiple of `devices`.
[[nodiscard]] inline schedule interleaved(device_count devices, stage_count stages, micro_batch_count micro_batches) {
    detail::require_pipeline("interleaved", stages, micro_batches);
    if (devices.value == 0) {
        throw_invalid("interleaved", "devices", 0, "at least 1");
    }
    for (auto const& [name, value] : {std::pair{"stages", stages.value}, {"micro_batches", micro_batches.value}}) {
        if (value % devices.value != 0) {
            throw_invalid("interleaved", name, value,
                          "a multiple of the " + std::to_string(devices.value) + " devices");
        }
    }
    std::size_t const chunks = stages.value / devices.value;
    std::size_t const passes = chunks * micro_batches.value;
    detail::rows result{{.stages = stages.value, .micro_batches = micro_batches.value}};
    for (std::size_t device = 0; device < devices.value; ++device) {
        auto const add = [&](instruction_kind kind, std::size_t pass) {
            std::size_t const chunk = pass / devices.value % chunks;
            std::size_t const micro_batch = pass / (devices.value * chunks) * devices.value + pass % devices.value;
            bool const down = kind == instruction_kind::forward;
            result.add(kind, (down ? chunk : chunks - 1 - chunk) * devices.value + device, micro_batch);
        };
        // With one stage per device this is 1F1B's warm-up; with more, a stage's first gradient comes later.
        std::size_t const hops = devices.value - 1 - device;
        std::size_t const warm_up = 1 + (chunks == 1 ? hops : 2 * hops + (chunks - 1) * devices.value);
        std::size_t next = 0;
        while (next < std::min(passes, warm_up)) {
            add(instruction_kind::forward, next++);
        }
        for (std::size_t pass = 0; pass < passes; ++pass) {
            add(instruction_kind::backward, pass);
            if (next < passes) {
                add(instruction_kind::forward, next++);
            }
        }
        result.end_device();
    }
    return result.finish();
}

}  // namespace evenkeel
