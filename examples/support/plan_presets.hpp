// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plan_input.hpp"

namespace evenkeel::examples {

/// Something to plan that comes with the program, and what the DistMM paper says of it.
struct plan_preset {
    plan_input input = {};
    /// Over the colocated baseline, as measured there (Fig. 7).
    std::optional<double> paper_speed_up = std::nullopt;
    /// Why this program's figure is another.
    std::string_view remark = {};
};

/// `figure2` and `figure4`, the nine models of the paper's evaluation, and `mllm_8b`, encoders before an LLM.
[[nodiscard]] std::vector<std::string_view> plan_preset_names();

/// @param name  One of the above.
[[nodiscard]] plan_preset preset_of(std::string_view name);

/// What the models of the paper's evaluation are made of beyond what its Table 2 says, in a few lines.
[[nodiscard]] std::string_view paper_assumptions() noexcept;

}  // namespace evenkeel::examples
