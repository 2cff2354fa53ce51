// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/pass_table.hpp>
#include <evenkeel/pipeline/fault.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel::detail {

/// Reports counts that describe no pipeline.
inline void check_shape(schedule const& pipeline, fault_list& faults) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    auto const& offsets = pipeline.offsets;
    std::size_t const stages = pipeline.stages;
    std::size_t const micro_batches = pipeline.micro_batches;
    auto const counted = [](std::size_t count, std::string const& noun) { return std::to_string(count) + noun; };
    if (offsets.size() < 2 || offsets.front() != 0 || offsets.back() != pipeline.instructions.size() ||
        !std::ranges::is_sorted(offsets)) {
        faults.add(fault_kind::malformed, "the offsets do not cut the instructions into devices");
    } else if (stages == 0 || stages > most || stages % pipeline.devices() != 0) {
        faults.add(fault_kind::malformed, counted(stages, " stages on ") + counted(pipeline.devices(), " devices"));
    } else if (micro_batches > most || (pipeline.group != 0 && micro_batches % pipeline.group != 0)) {
        faults.add(fault_kind::malformed,
                   counted(micro_batches, " micro-batches in groups of ") + std::to_string(pipeline.group));
    } else if (micro_batches != 0 && stages > (2 * pipeline.instructions.size() + 64) / micro_batches) {
        // What is looked at next takes memory for every stage and micro-batch: not for counts made up from nothing.
        faults.add(fault_kind::malformed, counted(pipeline.instructions.size(), " instructions for ") +
                                              counted(stages, " stages and ") +
                                              counted(micro_batches, " micro-batches"));
    }
}

/// Whether a schedule of this shape has such an instruction on this device.
[[nodiscard]] inline bool belongs(schedule const& pipeline, std::size_t device, instruction const& one) {
    std::size_t const stage = to_index(one.stage);
    if (stage >= pipeline.stages || to_index(pipeline.device_of(one.stage)) != device) {
        return false;
    }
    switch (one.kind) {
        case instruction_kind::batch_sync: return stage + 1 == pipeline.stages && one.number < pipeline.syncs();
        case instruction_kind::send_activation:
        case instruction_kind::receive_gradient:
            return pipeline.sends_after(stage) && one.number < pipeline.micro_batches;
        case instruction_kind::receive_activation:
        case instruction_kind::send_gradient:
            return receives_before(pipeline, stage) && one.number < pipeline.micro_batches;
        default: return one.kind < instruction_kind::batch_sync && one.number < pipeline.micro_batches;
    }
}

/// Reports what stands where it has no place or stands there twice, then what is missing.
inline void check_presence(schedule const& pipeline, fault_list& faults) {
    using enum instruction_kind;
    pass_table table{pipeline};
    for (std::size_t device = 0; device < pipeline.devices(); ++device) {
        for (auto const& one : pipeline[to_id<device_id>(device)]) {
            if (!belongs(pipeline, device, one)) {
                faults.add(fault_kind::misplaced, device, one, " has no place there");
            } else if (table.has(one)) {
                faults.add(fault_kind::repeated, device, one, " stands there twice");
            } else {
                table.add(one);
            }
        }
    }
    auto const require = [&](instruction_kind kind, std::size_t stage, std::size_t number) {
        if (!table.has(kind, stage, number)) {
            auto const id = to_id<stage_id>(stage);
            faults.add(fault_kind::missing, to_index(pipeline.device_of(id)),
                       {kind, id, static_cast<std::uint32_t>(number)}, " is missing");
        }
    };
    for (std::size_t stage = 0; stage < pipeline.stages; ++stage) {
        bool const before = receives_before(pipeline, stage);
        bool const after = pipeline.sends_after(stage);
        for (std::size_t number = 0; number < pipeline.micro_batches; ++number) {
            require(forward, stage, number);
            bool const in_parts = table.has(input_gradient, stage, number) || table.has(weight_gradient, stage, number);
            if (in_parts && table.has(backward, stage, number)) {
                auto const id = to_id<stage_id>(stage);
                faults.add(fault_kind::repeated, to_index(pipeline.device_of(id)),
                           {backward, id, static_cast<std::uint32_t>(number)}, " stands beside a part of itself");
            } else if (in_parts) {
                require(input_gradient, stage, number);
                require(weight_gradient, stage, number);
            } else {
                require(backward, stage, number);
            }
            if (before) {
                require(receive_activation, stage, number);
                require(send_gradient, stage, number);
            }
            if (after) {
                require(send_activation, stage, number);
                require(receive_gradient, stage, number);
            }
        }
    }
    for (std::size_t group = 0; group < pipeline.syncs(); ++group) {
        require(batch_sync, pipeline.stages - 1, group);
    }
}

}  // namespace evenkeel::detail
