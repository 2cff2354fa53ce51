// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batches.hpp"

namespace evenkeel::bench {

/// Adds the rows of planning with wishes; a row stands for 12 seeds, see measure.hpp for its times.
///
/// - `balance_equal`: equal counts. Counter `gap`, the worst.
/// - `balance_capped`: 1.05 x the larger of mean and longest tokens per rank, attention cost. Counters: `gap`;
///   `over_uncapped`, the load over that of the plan without a cap; `cap_used`, tokens over the cap; each the worst.
/// - `balance_speeds`: a third of the ranks each at speed 1, 0.8 and 0.5. Counter `gap`.
/// - `micro_batches`: a cap of twice the longest sample, attention cost. Counters: `gap`, of the sum of the slowest;
///   `number` and `over_bound`, how many more than the bound on their number; each the worst.
///
/// The first three stop at a tolerance of 1e-4.
///
/// Subjects: `evenkeel`; `equal_lpt`, longest first to the least loaded rank that is not full yet, of `balance_equal`;
/// `sum_over_cap`, of `micro_batches`: the sum over the cap in bins, longest first into the least loaded, and once more
/// with one micro-batch more until the cap holds. Gaps of baselines are to the bound that `evenkeel` proved.
void add_wish_rows(batches const& batches);

}  // namespace evenkeel::bench
