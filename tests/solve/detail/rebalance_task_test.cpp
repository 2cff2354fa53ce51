// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/rebalance.hpp>
#include <evenkeel/solve/detail/stay_room.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/drawn.hpp"

namespace evenkeel::detail::rebalance_task_test {
namespace {

class rebalance_task_law : public testing::TestWithParam<std::uint64_t> {};

// Without bounds, what is of class 0 is sorted first, and the rest only if it is asked for.
TEST_P(rebalance_task_law, what_is_not_asked_for_changes_nothing_else) {
    test::seeded random{GetParam()};
    std::size_t const ranks = random.between(1, 24);
    std::size_t const nodes = random.between(1, 8);
    std::vector<std::uint32_t> nodes_of_ranks(ranks);
    for (auto& node : nodes_of_ranks) {
        node = static_cast<std::uint32_t>(random.up_to(nodes - 1));
    }
    std::size_t const items = random.up_to(ranks * random.between(1, 40));
    std::uint64_t const unit = random.up_to(3) == 0 ? 64 : 1;
    std::uint64_t const heaviest = random.up_to(2) == 0 ? 5 : 2000;
    bool const some_homeless = random.up_to(3) == 0;
    bool const shuffled = random.up_to(1) == 0;
    std::vector<std::uint64_t> weights(items);
    std::vector<std::uint64_t> bytes(items);
    std::vector<std::uint32_t> home_ranks(items);
    std::vector<std::uint32_t> home_nodes(some_homeless ? items : 0);
    std::vector<std::uint8_t> classes(random.up_to(2) == 0 ? items : 0);
    bool const proportional = random.up_to(1) == 0;
    for (std::size_t item = 0; item < items; ++item) {
        weights[item] = random.up_to(5) == 0 ? 0 : unit * random.between(1, heaviest);
        bytes[item] = proportional ? 3 * weights[item] : random.up_to(500);
        home_ranks[item] = static_cast<std::uint32_t>(shuffled ? random.up_to(ranks - 1) : item * ranks / items);
        if (some_homeless) {
            home_nodes[item] = nodes_of_ranks[home_ranks[item]];
            if (random.up_to(9) == 0) {
                home_ranks[item] = no_rank;
                home_nodes[item] = static_cast<std::uint32_t>(random.up_to(nodes - 1));
            }
        }
    }
    for (auto& of_item : classes) {
        of_item = static_cast<std::uint8_t>(random.up_to(2));
    }
    stay_task task{.weights = weights,
                   .bytes = bytes,
                   .home_ranks = home_ranks,
                   .home_nodes = home_nodes,
                   .classes = classes,
                   .nodes_of_ranks = nodes_of_ranks,
                   .nodes = nodes,
                   .tolerance = random.up_to(1) == 0 ? 1e-3 : 0.02,
                   .effort = 256,
                   .limit_imports = random.up_to(1) == 0};
    stay_room all;
    rebalance(all, task);
    task.plan = false;
    stay_room no_plan;
    rebalance(no_plan, task);
    EXPECT_EQ(no_plan.rank_of_item, all.rank_of_item);
    EXPECT_EQ(no_plan.result.quality, all.result.quality);
    EXPECT_EQ(no_plan.result.between_nodes, all.result.between_nodes);
    EXPECT_EQ(no_plan.result.from_scratch, all.result.from_scratch);

    task.bounds = false;
    stay_room least;
    rebalance(least, task);
    EXPECT_EQ(least.result.quality.lower_bound, all.result.quality.lower_bound);
    EXPECT_EQ(least.result.quality.total_load, all.result.quality.total_load);
    std::vector<std::uint64_t> loads(ranks);
    std::uint64_t between_nodes = 0;
    for (std::size_t item = 0; item < items; ++item) {
        std::uint32_t const rank = least.rank_of_item[item];
        loads[rank] += weights[item];
        between_nodes += nodes_of_ranks[rank] != task.home_node(item) ? bytes[item] : 0;
        EXPECT_TRUE(weights[item] > 0 || rank == home_ranks[item] || home_ranks[item] == no_rank);
    }
    EXPECT_EQ(least.result.quality.max_load, ranks > 0 ? std::ranges::max(loads) : 0);
    EXPECT_EQ(least.result.between_nodes, between_nodes);
    std::uint64_t const goal = goal_of(least.result.quality.lower_bound, task.tolerance);
    EXPECT_TRUE(least.result.quality.max_load <= goal || all.result.quality.max_load > goal);
}

INSTANTIATE_TEST_SUITE_P(seeds, rebalance_task_law, testing::Range(std::uint64_t{0}, std::uint64_t{600}));

}  // namespace
}  // namespace evenkeel::detail::rebalance_task_test
