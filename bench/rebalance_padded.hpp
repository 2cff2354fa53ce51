// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batches.hpp"

namespace evenkeel::bench {

/// Adds the rows `rebalance_padded/...`: how few bytes have to move if samples are padded to the longest of their rank,
/// and what that costs in balance and time.
///
/// Subjects are `stay_2`, `stay_5` and `stay_10`, which start from where samples are, with a tolerance of as many
/// percent, and `optimal_relabel`: the optimal plan, and then the best rank for each batch. Nodes have 8 ranks, and a
/// sample has as many bytes as its length. Counters, besides those of `measure_seeds`: `inter_node`, `inter_node_bound`
/// and `moved`, as shares of all bytes, mean of the seeds; `gap` of the worst seed to the optimum.
void add_rebalance_padded_rows(batches const& batches);

}  // namespace evenkeel::bench
