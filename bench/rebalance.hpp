// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batches.hpp"

namespace evenkeel::bench {

/// Adds the rows `rebalance/...`: how few bytes have to move for a balanced batch, and how long it takes to find out.
///
/// Subjects are `stay`, which starts from where samples are, and `lpt_relabel`: balanced without regard to that, and
/// then the best rank for each batch. Nodes have 8 ranks, the tolerance is 1e-3, and a sample has as many bytes as its
/// length. Counters, besides those of `measure_seeds`: `inter_node`, `inter_node_bound` and `moved`, as shares of all
/// bytes, mean of the seeds; `gap` of the worst seed to the lower bound; for `stay` `over_bound`, the worst seed's
/// bytes between nodes over their lower bound, and `from_scratch`, the share of seeds that could not stay.
///
/// A third subject is `each_node` (flows.hpp).
void add_rebalance_rows(batches const& batches);

}  // namespace evenkeel::bench
