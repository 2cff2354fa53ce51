// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batches.hpp"

namespace evenkeel::bench {

/// Adds the rows `balance/...` and `balance_attention/...`: how long it takes to balance a batch, and how even it gets.
///
/// A row stands for 12 seeds; see measure.hpp for its times. Subjects are `evenkeel`, in a workspace; `heap_lpt`,
/// longest first as commonly written; `ldm`, largest differencing, up to 256 ranks, as its time and memory grow with
/// samples times ranks; and `std_sort`, the yardstick. Other counters: `gap`, the worst, to the lower bound that
/// `evenkeel` proved; `exact_share`, the share of seeds without gap among those in which no single sample decides;
/// `tail_floor`, the worst. Costs of `balance_attention` are 24576 * length + length^2.
void add_balance_rows(batches const& batches);

/// Adds the row `balance/std_sort/random_keys/...`.
void add_std_sort_row(shape shape);

}  // namespace evenkeel::bench
