// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/orchestrate/detail/arguments.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::detail {

/// Refuses a step that nobody has planned.
inline void require_planned(std::string_view function, planned_step const& step) {
    if (step.phases.empty()) {
        throw_invalid(function, "step.phases.size()", 0, "at least the LLM");
    }
    if (step.phases.size() != step.encoders() + 1) {
        throw_invalid(function, "step.phases.size()", step.phases.size(),
                      "1 + the " + std::to_string(step.encoders()) + " encoders of the step");
    }
}

/// Refuses samples of another number than those that `step` has been planned for. What they bring for encoders is not
/// looked at.
inline void require_samples_of(std::string_view function, step_samples const& samples, planned_step const& step) {
    require_planned(function, step);
    on_behalf_of(function, [&] {
        require_size("samples.counts", samples.counts.size(), step.home.ranks.value, "world ranks of the step");
        std::size_t const planned = step.llm().plan.items.size();
        require_size("samples.text", samples.size(), planned, "samples of the step");
        if (!samples.labels.empty()) {
            require_size("samples.labels", samples.labels.size(), planned, "samples of the step");
        }
    });
}

/// Refuses samples and phases of other numbers than those that `step` has been planned for.
///
/// @complexity O(phases): which units each sample owns is not looked at.
inline void require_of_step(std::string_view function, step_samples const& samples, std::span<phase const> phases,
                            planned_step const& step) {
    require_samples_of(function, samples, step);
    on_behalf_of(function, [&] {
        require_size("phases", phases.size(), step.phases.size(), "phases of the step");
        require_size("samples.inputs", samples.inputs.size(), step.encoders(), "encoders of the step");
        for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
            auto const name = [&](std::string_view part) { return numbered_name{"samples.inputs", encoder, part}; };
            auto const& inputs = samples.inputs[encoder];
            auto const& units = step.units[encoder];
            in_phase(phases, encoder, [&] {
                require_size(name(".units.offsets"), inputs.units.offsets.size(), units.offsets.size(),
                             "offsets of the step");
                require_size(name(".lengths"), inputs.lengths.size(), units.units(), "units of the step");
                if (!inputs.starts.empty()) {
                    require_size(name(".starts"), inputs.starts.size(), units.units(), "units of the step");
                }
            });
        }
    });
}

}  // namespace evenkeel::detail
