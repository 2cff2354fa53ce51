// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/pass_table.hpp>
#include <evenkeel/pipeline/detail/run.hpp>
#include <evenkeel/pipeline/fault.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel::detail {

/// Reports pipelines that would wait for batch-syncs that others do not have.
inline void check_meetings(std::span<schedule const> pipelines, std::vector<schedule_fault>& faults) {
    for (std::size_t pipeline = 1; pipeline < pipelines.size(); ++pipeline) {
        if (pipelines[pipeline].syncs() != pipelines[0].syncs()) {
            fault_list{pipelines[pipeline], pipeline, faults}.add(
                fault_kind::unmet, std::to_string(pipelines[pipeline].syncs()) + " batch-syncs, but pipelines[0] has " +
                                       std::to_string(pipelines[0].syncs()));
        }
    }
}

/// Reports every device that waits forever, with what it waits for.
inline void check_progress(std::span<schedule const> pipelines, std::vector<schedule_fault>& faults) {
    struct {
        void run(place const&, instruction const&) const noexcept {}
        void meet(std::span<place const>) const noexcept {}
    } watch;
    runner run{pipelines};
    run.run(watch);
    for (auto const& there : run.stuck()) {
        schedule const& pipeline = pipelines[there.pipeline];
        instruction const& one = pipeline.instructions[there.position];
        std::string waits = " waits for pipelines that never get there";
        if (one.kind != instruction_kind::batch_sync) {
            bool const down = one.kind == instruction_kind::receive_activation;
            auto const sender = to_id<stage_id>(down ? to_index(one.stage) - 1 : to_index(one.stage) + 1);
            instruction const sent{down ? instruction_kind::send_activation : instruction_kind::send_gradient, sender,
                                   one.number};
            waits = " waits for " + drawn_name(sent) + " of device " +
                    std::to_string(to_index(pipeline.device_of(sender))) + ", which never gets there";
        }
        fault_list{pipeline, there.pipeline, faults}.add(fault_kind::deadlock, there.device, one, waits);
    }
}

}  // namespace evenkeel::detail
