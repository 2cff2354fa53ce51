// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/trace_events.hpp>
#include <evenkeel/pipeline/memory.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>
#include <evenkeel/pipeline/validate.hpp>

namespace evenkeel {

/// How a trace is written.
struct trace_options {
    /// Microseconds in a unit of the simulation's time: 1e6 where it is seconds.
    double microseconds = 1;
    /// What each pipeline is called; empty: by number.
    std::span<std::string const> names = {};
    /// Per pipeline, what `memory_of` says of it. Empty: counters of the micro-batches in flight instead of bytes.
    std::span<std::vector<memory_use> const> memory = {};
};

/// A simulation for chrome://tracing and ui.perfetto.dev, as JSON.
///
/// A process per pipeline and a thread per device; a slice for each forward, backward and batch-sync, with its stage,
/// micro-batch and group; an arrow for each transfer, from what made its bytes to what uses them; a counter per device.
/// Bytes of a name that are no UTF-8 become U+FFFD.
///
/// @param simulated  What `simulate` says of the same pipelines.
/// @throws std::invalid_argument  if a schedule does not run (see `faults_of`), an argument is of other pipelines,
///                                `microseconds` is not above 0, or a time is not finite in microseconds.
/// @complexity O(instructions)
[[nodiscard]] inline std::string to_chrome_trace(std::span<schedule const> pipelines, simulation const& simulated,
                                                 trace_options const& options = {}) {
    auto const expected = "one for each of " + std::to_string(pipelines.size()) + " pipelines";
    auto const require = [&](char const* argument, std::size_t count, bool may_be_empty) {
        if (count != pipelines.size() && !(may_be_empty && count == 0)) {
            throw_invalid("to_chrome_trace", argument, count, expected);
        }
    };
    require("simulated.pipelines.size()", simulated.pipelines.size(), false);
    require("options.names.size()", options.names.size(), true);
    require("options.memory.size()", options.memory.size(), true);
    if (!(options.microseconds > 0)) {
        throw_invalid("to_chrome_trace", "options.microseconds", options.microseconds, "more than 0");
    }

    require_valid("to_chrome_trace", pipelines);
    detail::trace_events events{options.microseconds};
    for (std::size_t number = 0; number < pipelines.size(); ++number) {
        auto const& pipeline = pipelines[number];
        auto const& line = simulated.pipelines[number];
        detail::require_line_of("to_chrome_trace", element("simulated.pipelines", number), pipeline, line);
        if (!options.memory.empty() && options.memory[number].size() != pipeline.devices()) {
            throw_invalid("to_chrome_trace", element("options.memory", number) + ".size()",
                          options.memory[number].size(),
                          "one for each of " + std::to_string(pipeline.devices()) + " devices");
        }
        events.name_process(number,
                            options.names.empty() ? "pipeline " + std::to_string(number) : options.names[number]);
        for (std::size_t device = 0; device < pipeline.devices(); ++device) {
            events.name_thread(number, device);
            events.add_slices(pipeline, line, number, device);
            if (options.memory.empty()) {
                events.count_in_flight(pipeline, line, number, device);
            } else {
                for (auto const& change : options.memory[number][device].changes) {
                    events.count(number, device, "memory", "bytes", change.time, change.bytes);
                }
            }
        }
        events.add_arrows(pipeline, line, number);
    }
    return events.finish();
}

}  // namespace evenkeel
