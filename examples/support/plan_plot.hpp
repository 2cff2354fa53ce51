// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <evenkeel/parallel/cluster_plan.hpp>

#include "plan_input.hpp"

namespace evenkeel::examples {

struct placement_plot {
    std::string name = {};
    plan_input input = {};
    cluster_plan plan = {};
};

/// Draws a plan as a picture that stands alone: on top what each modality and, for comparison, the colocated model
/// spends a step on; below the nodes with their GPUs, each in the colour of its modality, paler from stage to stage,
/// with the number of its replica. The tensor-parallel GPUs of a stage are one block.
///
/// Of very many nodes only the first are drawn; the picture says so.
[[nodiscard]] std::string to_svg(placement_plot const& plot);

}  // namespace evenkeel::examples
