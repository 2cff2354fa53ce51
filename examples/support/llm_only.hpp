// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>

namespace evenkeel::examples {

/// The plan of the LLM, the last of `phases`, as if there were no encoders: all that it takes in is text.
[[nodiscard]] plan plan_of_llm_alone(step_samples const& samples, std::span<phase const> phases,
                                     topology const& topology);

/// The same phases with only the LLM balanced, as where batches are put together beforehand: every unit of an encoder
/// is on the rank that has its sample in the LLM. All phases must have the same ranks.
///
///     auto const step = orchestrate(samples, llm_only(samples, phases, cluster), cluster);
///     step.phases[0].quality.front().gap();    // what the first encoder loses
[[nodiscard]] std::vector<phase> llm_only(step_samples const& samples, std::span<phase const> phases,
                                          topology const& topology);

}  // namespace evenkeel::examples
