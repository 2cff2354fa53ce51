// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace evenkeel::bench {

/// Adds the rows `plan_cluster/<subject>/<model>/<nodes>x<GPUs>`: how long it takes to lay a model over a cluster.
///
/// Subjects are `evenkeel` and `paper_rule`: one partition for each submodule, by the paper's rule, and no search for a
/// better placement, where that gives a plan at all. Models are the presets of `plan_cluster`, and `six`: as many
/// different towers. Counters: `step`, in seconds; `speed_up` over the colocated baseline, and `paper`, what the paper
/// measured; `gap` of the placement to the lower bound.
void add_planning_rows();

}  // namespace evenkeel::bench
