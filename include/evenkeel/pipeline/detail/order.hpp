// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/pass_table.hpp>
#include <evenkeel/pipeline/detail/run.hpp>
#include <evenkeel/pipeline/fault.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel::detail {

/// What `one` needs on its own device that is not in `done`; empty if it may run.
///
/// @param all  What the schedule has.
[[nodiscard]] inline std::optional<instruction> missing_before(schedule const& pipeline, pass_table const& all,
                                                               pass_table const& done, instruction const& one) {
    using enum instruction_kind;
    std::size_t const stage = to_index(one.stage);
    bool const is_last = stage + 1 == pipeline.stages;
    std::optional<instruction> missing;
    auto const need = [&](instruction_kind kind, std::size_t of_stage, std::size_t number) {
        if (!missing && !done.has(kind, of_stage, number)) {
            missing = instruction{kind, to_id<stage_id>(of_stage), static_cast<std::uint32_t>(number)};
        }
    };
    auto const need_gradient_of = [&](std::size_t of_stage) {
        need(all.has(backward, of_stage, one.number) ? backward : input_gradient, of_stage, one.number);
    };
    switch (one.kind) {
        case forward:
            if (stage > 0) {
                receives_before(pipeline, stage) ? need(receive_activation, stage, one.number)
                                                 : need(forward, stage - 1, one.number);
            }
            break;
        case backward:
        case input_gradient:
            need(forward, stage, one.number);
            if (!is_last) {
                pipeline.sends_after(stage) ? need(receive_gradient, stage, one.number) : need_gradient_of(stage + 1);
            } else if (pipeline.group != 0) {
                need(batch_sync, stage, one.number / pipeline.group);
            }
            break;
        case weight_gradient: need(input_gradient, stage, one.number); break;
        case send_activation: need(forward, stage, one.number); break;
        case send_gradient: need_gradient_of(stage); break;
        case batch_sync:
            for (std::size_t member = 0; member < pipeline.group; ++member) {
                need(forward, stage, one.number * pipeline.group + member);
            }
            // The interaction is the same everywhere only if all pipelines come to their groups in one order.
            if (one.number > 0) {
                need(batch_sync, stage, one.number - 1);
            }
            break;
        default: break;
    }
    return missing;
}

/// Reports every instruction that stands before one of its device that it needs, and forwards out of order.
///
/// Every instruction is there.
inline void check_order(schedule const& pipeline, fault_list& faults) {
    pass_table all{pipeline};
    for (auto const& one : pipeline.instructions) {
        all.add(one);
    }
    pass_table done{pipeline};
    std::vector<std::uint32_t> next_forward(pipeline.stages);
    for (std::size_t device = 0; device < pipeline.devices(); ++device) {
        for (auto const& one : pipeline[to_id<device_id>(device)]) {
            if (auto const missing = missing_before(pipeline, all, done, one)) {
                faults.add(fault_kind::too_early, device, one,
                           " stands before " + faults.name(*missing) + ", which it needs");
            }
            if (one.kind == instruction_kind::forward) {
                auto& next = next_forward[to_index(one.stage)];
                if (one.number < next) {
                    faults.add(fault_kind::unordered, device, one, " stands after the forward of a later micro-batch");
                }
                next = one.number + 1;
            }
            done.add(one);
        }
    }
}

/// Reports the first receive of each channel that takes another micro-batch than was sent in its turn.
inline void check_channels(schedule const& pipeline, fault_list& faults) {
    std::vector<std::vector<std::uint32_t>> sent(2 * pipeline.stages);
    for (auto const& one : pipeline.instructions) {
        if (one.kind == instruction_kind::send_activation || one.kind == instruction_kind::send_gradient) {
            sent[channel_of(one)].push_back(one.number);
        }
    }
    std::vector<std::size_t> received(2 * pipeline.stages);
    std::vector<bool> crossed(2 * pipeline.stages);
    for (std::size_t device = 0; device < pipeline.devices(); ++device) {
        for (auto const& one : pipeline[to_id<device_id>(device)]) {
            if (one.kind != instruction_kind::receive_activation && one.kind != instruction_kind::receive_gradient) {
                continue;
            }
            std::size_t const channel = channel_of(one);
            std::uint32_t const comes = sent[channel][received[channel]++];
            if (comes != one.number && !crossed[channel]) {
                crossed[channel] = true;
                bool const down = one.kind == instruction_kind::receive_activation;
                instruction const other{down ? instruction_kind::send_activation : instruction_kind::send_gradient,
                                        to_id<stage_id>(down ? to_index(one.stage) - 1 : to_index(one.stage) + 1),
                                        comes};
                faults.add(fault_kind::unordered, device, one,
                           " stands where " + drawn_name(other) + " of stage " + std::to_string(to_index(other.stage)) +
                               " arrives");
            }
        }
    }
}

}  // namespace evenkeel::detail
