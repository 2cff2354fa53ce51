// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/parallel/cluster_plan.hpp>

#include "plan_presets.hpp"

namespace evenkeel::examples {

/// A time as people say it: "3.56 s", "12.3 ms".
[[nodiscard]] std::string human_seconds(double seconds);

/// What is planned, in one line: "2 submodules on 8 nodes of 8 GPUs, 600 samples per step".
[[nodiscard]] std::string summary_of(plan_input const& input);

/// The plan for people: what each modality gets and what it spends a step on, and how that compares with colocation
/// and, for a preset of the paper's, with the paper.
[[nodiscard]] std::string to_table(cluster_plan const& plan, plan_preset const& preset, std::string_view name);

}  // namespace evenkeel::examples
