// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/whole_samples.hpp>

namespace evenkeel::detail::whole_samples_test {
namespace {

TEST(whole_samples, go_to_the_ranks_of_the_other_node_in_turn) {
    // Two nodes of two ranks; rank 0 has eight samples of two units each.
    std::vector<std::uint64_t> const weights(16, 10);
    phase_task task;
    task.weights = weights;
    task.bytes = weights;
    task.home_ranks.assign(16, 0);
    task.several_units = true;
    for (std::uint32_t unit = 0; unit < 16; unit += 2) {
        task.starts.push_back(unit);
    }
    group_view view;
    view.assign(flat_group({4}), uniform_topology({4}, {2}));
    whole_samples move;
    move(task, view, 0, 16384);

    EXPECT_EQ(move.between_nodes(), 80U);
    EXPECT_EQ(std::ranges::count(task.home_ranks, 0U), 8);
    EXPECT_EQ(std::ranges::count(task.home_ranks, 2U), 4);
    EXPECT_EQ(std::ranges::count(task.home_ranks, 3U), 4);
    for (std::size_t unit = 0; unit < 16; unit += 2) {
        EXPECT_EQ(task.home_ranks[unit] == 0, task.home_ranks[unit + 1] == 0) << "of sample " << unit / 2;
    }
}

}  // namespace
}  // namespace evenkeel::detail::whole_samples_test
