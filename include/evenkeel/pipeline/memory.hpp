// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>
#include <evenkeel/pipeline/validate.hpp>

namespace evenkeel {

/// What a stage keeps in memory, in bytes.
struct stage_memory {
    std::uint64_t fixed = 0;            ///< weights, their gradients, optimiser states
    std::uint64_t activation = 0;       ///< of a micro-batch, from its forward to its backward or input gradient ...
    std::uint64_t weight_gradient = 0;  ///< ... and what is kept of it after the input gradient, to its weight gradient

    friend bool operator==(stage_memory const&, stage_memory const&) = default;
};

/// What a pipeline keeps in memory.
struct pipeline_memory {
    std::vector<stage_memory> stages = {};
    /// Of a micro-batch on the last stage, from its forward to its backward: in the contiguous batch, then its
    /// gradient.
    std::uint64_t feature = 0;
    /// During a batch-sync: the other pipelines' features, the similarity matrix.
    std::uint64_t interaction = 0;

    friend bool operator==(pipeline_memory const&, pipeline_memory const&) = default;
};

/// From `time` on, until the next change.
struct memory_change {
    double time = 0;
    std::uint64_t bytes = 0;

    friend bool operator==(memory_change const&, memory_change const&) = default;
};

/// The memory of one device over a step.
struct memory_use {
    std::vector<memory_change> changes;
    std::uint64_t peak = 0;
    double peak_at = 0;  ///< the first time

    friend bool operator==(memory_use const&, memory_use const&) = default;
};

namespace detail {

inline void require_line_of(std::string_view function, std::string const& argument, schedule const& pipeline,
                            timeline const& line) {
    if (line.intervals.size() != pipeline.instructions.size()) {
        throw_invalid(function, argument + ".intervals.size()", line.intervals.size(),
                      "one for each of " + std::to_string(pipeline.instructions.size()) + " instructions");
    }
    if (line.drawn != fingerprint_of(pipeline)) {
        throw_invalid(function, argument, "another schedule's", "the timeline of this one");
    }
}

/// `memory_of` a schedule that runs and its own timeline.
[[nodiscard]] inline std::vector<memory_use> use_of(schedule const& pipeline, timeline const& line,
                                                    pipeline_memory const& sizes) {
    using enum instruction_kind;
    if (sizes.stages.size() != pipeline.stages) {
        throw_invalid("memory_of", "sizes.stages.size()", sizes.stages.size(),
                      "one for each of " + std::to_string(pipeline.stages) + " stages");
    }
    for (std::size_t stage = 0; stage < pipeline.stages; ++stage) {
        auto const& own = sizes.stages[stage];
        if (own.weight_gradient > own.activation) {
            throw_invalid("memory_of", element("sizes.stages", stage) + ".weight_gradient", own.weight_gradient,
                          "at most the activation, " + std::to_string(own.activation));
        }
    }
    std::vector<memory_use> result(pipeline.devices());
    for (std::size_t device = 0; device < pipeline.devices(); ++device) {
        auto& use = result[device];
        std::uint64_t bytes = 0;
        auto const change = [&](double time, std::uint64_t more, std::uint64_t less) {
            bytes = checked_add(bytes, more, "memory_of: the memory of a device") - less;
            if (bytes > use.peak) {
                use.peak = bytes;
                use.peak_at = time;
            }
            if (!use.changes.empty() && use.changes.back().time == time) {
                use.changes.back().bytes = bytes;
            } else {
                use.changes.push_back({time, bytes});
            }
        };
        for (std::size_t stage = device; stage < pipeline.stages; stage += pipeline.devices()) {
            change(0, sizes.stages[stage].fixed, 0);
        }
        for (std::size_t position = pipeline.offsets[device]; position < pipeline.offsets[device + 1]; ++position) {
            auto const& one = pipeline.instructions[position];
            auto const& own = sizes.stages[to_index(one.stage)];
            auto const& when = line.intervals[position];
            std::uint64_t const feature = to_index(one.stage) + 1 == pipeline.stages ? sizes.feature : 0;
            switch (one.kind) {
                case forward:
                    change(when.start, checked_add(own.activation, feature, "memory_of: what a micro-batch keeps"), 0);
                    break;
                case backward: change(when.end, 0, own.activation + feature); break;
                case input_gradient: change(when.end, 0, own.activation - own.weight_gradient + feature); break;
                case weight_gradient: change(when.end, 0, own.weight_gradient); break;
                case batch_sync:
                    change(when.start, sizes.interaction, 0);
                    change(when.end, 0, sizes.interaction);
                    break;
                default: break;
            }
        }
    }
    return result;
}

}  // namespace detail

/// How much memory each device of a pipeline uses when.
///
///     auto const use = evenkeel::memory_of(drawn, simulated.pipelines[0], sizes);
///     bool const fits = std::ranges::all_of(use, [&](auto const& device) { return device.peak <= limit; });
///
/// @param line  What `simulate` says of the same schedule.
/// @return      One for each device.
/// @throws std::invalid_argument  if the schedule does not run (see `faults_of`), a stage has no sizes, or the timeline
///                                is of another schedule.
/// @throws std::overflow_error    if the bytes of a device do not fit into 64 bits.
/// @complexity O(instructions)
[[nodiscard]] inline std::vector<memory_use> memory_of(schedule const& pipeline, timeline const& line,
                                                       pipeline_memory const& sizes) {
    require_valid("memory_of", std::span{&pipeline, 1});
    detail::require_line_of("memory_of", "line", pipeline, line);
    return detail::use_of(pipeline, line, sizes);
}

}  // namespace evenkeel
