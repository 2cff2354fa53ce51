// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "files.hpp"
#include "plan_presets.hpp"

namespace evenkeel::examples {

/// What the command line of `plan_cluster` asks for.
struct cluster_options {
    /// A preset's, or the file's.
    std::string name = {};
    plan_preset preset = {};
    std::optional<output_file> json = {};
    std::optional<output_file> plot = {};
    std::optional<output_file> written_input = {};
};

/// Reads the command line, and the file that it names; `arguments[0]` is the program's name and not looked at.
///
/// @throws input_error  `--option: expected this, got that`; for the file, see `read_plan_input`
/// @throws help_wanted  for `--help`
[[nodiscard]] cluster_options parse_cluster_options(int count, char const* const* arguments);

}  // namespace evenkeel::examples
