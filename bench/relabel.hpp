// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batches.hpp"

namespace evenkeel::bench {

/// Adds the rows `relabel/...`: how much of a plan that was made without regard to homes stays inside nodes of 8 ranks
/// once its batches are given to other ranks, and how long that takes.
///
/// Subjects are `evenkeel_total`, `evenkeel_busiest`, `greedy` (largest gain first) and `identity` (the plan as it is;
/// what is timed is the counting of its traffic). Counters, besides those of `measure_seeds`, as shares of all bytes
/// and means of the seeds: `inter_node`, `inter_node_bound` and `moved`; `busiest` and `busiest_bound`: of the busiest
/// node, as shares of what a node holds on average. `certificate`: share of the possible that is kept for certain, of
/// the worst seed; `at_bound`: the share of seeds whose busiest node meets its bound.
void add_relabel_rows(batches const& batches);

}  // namespace evenkeel::bench
