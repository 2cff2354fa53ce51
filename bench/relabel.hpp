// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace evenkeel::bench {

/// Adds the rows `relabel/<subject>/<workload>/<ranks>x<samples per rank>`: how much of a plan that was made without
/// regard to homes stays inside nodes of 8 ranks once its batches are given to other ranks, and how long that takes.
///
/// Subjects are `evenkeel_total`, `evenkeel_busiest`, `greedy` (largest gain first) and `identity` (the plan as it is;
/// what is timed is the counting of its traffic). Counters, as shares of all bytes: `inter_node`, `inter_node_bound`
/// and `moved`; `certificate`: share of the possible that is kept for certain; `busiest` and `busiest_bound`: of the
/// busiest node, as shares of what a node holds on average.
void add_relabel_rows(std::string_view workload, std::size_t ranks, std::size_t per_rank,
                      std::vector<std::uint64_t> const& lengths);

}  // namespace evenkeel::bench
