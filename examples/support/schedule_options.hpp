// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/times.hpp>

#include "files.hpp"

namespace evenkeel::examples {

/// What the command line of `draw_schedule` asks for: one pipeline, or several that meet at their batch-syncs.
struct schedule_options {
    std::string schedule = "distmm_pipe";
    std::vector<evenkeel::schedule> pipelines = {};
    std::vector<pipeline_times> times = {};
    /// How many stages of a pipeline stand on a device: 1 unless the schedule interleaves them.
    std::size_t stages_per_device = 1;
    std::optional<output_file> json = {};
    std::optional<output_file> plot = {};
    std::optional<output_file> trace = {};
    std::optional<output_file> csv = {};
};

/// Reads the command line; `arguments[0]` is the program's name and not looked at.
///
/// @param add_more  Adds the options of another program that reads these.
/// @throws input_error  `--option: expected this, got that`
/// @throws help_wanted  for `--help`
[[nodiscard]] schedule_options parse_schedule_options(int count, char const* const* arguments,
                                                      std::function<void(CLI::App&)> const& add_more = {});

/// What is drawn, in one line: "distmm_pipe: 4 stages, 16 micro-batches in groups of 4".
[[nodiscard]] std::string headline(schedule_options const& options);

}  // namespace evenkeel::examples
