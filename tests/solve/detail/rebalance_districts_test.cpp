// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/rebalance.hpp>
#include <evenkeel/solve/detail/stay_room.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/drawn.hpp"

namespace evenkeel::detail::rebalance_districts_test {
namespace {

class rebalance_districts_law : public testing::TestWithParam<std::uint64_t> {};

// Districts say only in which order memory is gone through.
TEST_P(rebalance_districts_law, plans_do_not_depend_on_districts) {
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
    stay_room whole;
    rebalance(whole, task);
    for (std::size_t const district : {std::size_t{1}, items / 8 + 1}) {
        task.district = district;
        stay_room divided;
        rebalance(divided, task);
        EXPECT_EQ(divided.rank_of_item, whole.rank_of_item);
        EXPECT_EQ(test::lists(divided.result.plan), test::lists(whole.result.plan));
        EXPECT_EQ(divided.result.quality, whole.result.quality);
        EXPECT_EQ(divided.result.moved, whole.result.moved);
        EXPECT_EQ(divided.result.between_nodes, whole.result.between_nodes);
        EXPECT_EQ(divided.result.moved_bound, whole.result.moved_bound);
        EXPECT_EQ(divided.result.between_nodes_bound, whole.result.between_nodes_bound);
        EXPECT_EQ(divided.result.from_scratch, whole.result.from_scratch);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, rebalance_districts_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

}  // namespace
}  // namespace evenkeel::detail::rebalance_districts_test
