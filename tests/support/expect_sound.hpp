// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <gtest/gtest.h>

#include <evenkeel/core/partition.hpp>
#include <evenkeel/solve/rebalanced.hpp>

#include "tests/support/drawn.hpp"
#include "tests/support/padded_oracle.hpp"

namespace evenkeel::test {

/// That what a plan of `rebalance` says of its bytes is what it moves, and no bound is above that.
inline void expect_right_bytes(rebalanced const& kept, drawn const& batch) {
    auto const [moved, between_nodes] = carried_by(kept.plan, batch);
    EXPECT_EQ(kept.total, std::accumulate(batch.bytes.begin(), batch.bytes.end(), std::uint64_t{0}));
    EXPECT_EQ(kept.moved, moved);
    EXPECT_EQ(kept.between_nodes, between_nodes);
    EXPECT_LE(kept.moved_bound, moved);
    EXPECT_LE(kept.between_nodes_bound, between_nodes);
}

/// What everything that `rebalance` returns without wishes has to fulfil, whatever the kind of model.
template <class Model>
void expect_sound(rebalanced const& kept, drawn const& batch, Model const& model, double tolerance) {
    require_partition("rebalance", kept.plan, batch.lengths.size());
    rank_count const ranks{batch.cluster.size().value};
    EXPECT_EQ(kept.plan.ranks(), ranks);
    EXPECT_EQ(kept.quality.max_load, std::ranges::max(loads_of(kept.plan, batch.lengths, model)));

    std::uint64_t const reached = balance(batch.lengths, ranks, model).quality.max_load;
    EXPECT_LE(kept.quality.lower_bound, reached);
    EXPECT_LE(kept.quality.max_load, reached + static_cast<std::uint64_t>(static_cast<double>(reached) * tolerance));
    expect_right_bytes(kept, batch);
}

}  // namespace evenkeel::test
