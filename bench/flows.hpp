// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batches.hpp"

namespace evenkeel::bench {

/// Adds the row `rebalance/each_node/...`: evening out from 16 bytes of each rank.
///
/// What is timed is what one node does for itself (`settle_exports`, `settle_ranks`), another one in each seed, in
/// units of sorting 102,400 keys or the batch. Counters, of all nodes and besides those of `measure_seeds`:
/// `inter_node` and `inter_node_bound` as shares of all bytes, mean of the seeds; of the worst seed `gap` to the lower
/// bound and `over_bound`, the bytes between nodes over their lower bound at that gap; `flows_us`, what `plan_flows`
/// takes.
void add_flow_rows(batches const& batches);

}  // namespace evenkeel::bench
