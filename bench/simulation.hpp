// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace evenkeel::bench {

/// Adds the rows `simulate/<schedule>/<pipelines>x<stages>x<micro-batches>`: how long it takes to check and simulate
/// pipelines that meet at their batch-syncs, over links with a latency.
///
/// Schedules are `distmm_pipe` and what it competes with, `gpipe_sync`, on the same work; a group has as many
/// micro-batches as a pipeline has stages. Counters: `end` of the simulated step, in passes of one stage;
/// `instructions` per second.
void add_simulation_rows();

}  // namespace evenkeel::bench
