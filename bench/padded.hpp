// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batches.hpp"

namespace evenkeel::bench {

/// Adds the rows `balance_padded/...`, `balance_padded_attention/...` and `balance_mixed/...`: balancing where samples
/// are padded to the longest of their rank.
///
/// Costs are count * longest; count * (24576 * longest + longest^2); and, mixed, 4915 * count * longest + the sum of
/// 24576 * length + length^2, so that the padded part is up to a fifth of the rest. Subjects are `evenkeel`, in a
/// workspace; `evenkeel_sorted`, what it takes once samples are sorted, plan included; and `linear_scan`, runs of
/// sorted samples as published: from the shortest on, each rank takes samples as long as they fit under a bound, which
/// is bisected. The published way is timed from sorted samples on, too. A row stands for 12 seeds; see measure.hpp for
/// its times. Other counters: `gap`, the worst, to the lower bound that `evenkeel` proved; `over_area`, the worst, to
/// what no padding at all would allow; `exact_share`, the share of seeds without gap among those in which no single
/// sample decides.
void add_padded_rows(batches const& batches);

}  // namespace evenkeel::bench
