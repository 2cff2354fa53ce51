// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// The schedule without its sends and receives: what people draw.
[[nodiscard]] inline schedule compute_only(schedule const& full) {
    schedule result{.stages = full.stages, .micro_batches = full.micro_batches, .group = full.group};
    for (std::size_t device = 0; device < full.devices(); ++device) {
        for (auto const& one : full[to_id<device_id>(device)]) {
            if (!is_transfer(one.kind)) {
                result.instructions.push_back(one);
            }
        }
        result.offsets.push_back(result.instructions.size());
    }
    return result;
}

/// Adds the sends and receives to a schedule that has none: a receive just before what needs it, a send just after what
/// it sends.
///
///     with_transfers(compute_only(drawn)) == drawn;   // of every builder's schedule
///
/// Nothing travels between stages of the same device.
[[nodiscard]] inline schedule with_transfers(schedule const& compute) {
    schedule result{.stages = compute.stages, .micro_batches = compute.micro_batches, .group = compute.group};
    result.instructions.reserve(3 * compute.instructions.size());
    for (std::size_t device = 0; device < compute.devices(); ++device) {
        for (auto const& one : compute[to_id<device_id>(device)]) {
            auto const add = [&](instruction_kind kind) {
                result.instructions.push_back({kind, one.stage, one.number});
            };
            std::size_t const stage = to_index(one.stage);
            bool const receives_from_before = stage > 0 && compute.sends_after(stage - 1);
            switch (one.kind) {
                case instruction_kind::forward:
                    if (receives_from_before) {
                        add(instruction_kind::receive_activation);
                    }
                    result.instructions.push_back(one);
                    if (compute.sends_after(stage)) {
                        add(instruction_kind::send_activation);
                    }
                    break;
                case instruction_kind::backward:
                case instruction_kind::input_gradient:
                    if (compute.sends_after(stage)) {
                        add(instruction_kind::receive_gradient);
                    }
                    result.instructions.push_back(one);
                    if (receives_from_before) {
                        add(instruction_kind::send_gradient);
                    }
                    break;
                default: result.instructions.push_back(one);
            }
        }
        result.offsets.push_back(result.instructions.size());
    }
    return result;
}

}  // namespace evenkeel
