// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/orchestrate/detail/node_splits.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>

namespace evenkeel::detail::node_splits_test {
namespace {

/// The second node of two ranks, 2 and 3, and an item of rank 0 that has come to it.
class second_node : public testing::Test {
  protected:
    second_node() {
        task_.weights = weights_;
        task_.bytes = bytes_;
        task_.home_ranks = {0, 2, 3, 3};
        split_.start(task_, 2, 11, 1024, 8);
    }

    std::vector<std::uint64_t> weights_{4, 5, 6, 0};
    std::vector<std::uint64_t> bytes_{400, 5, 6, 100};
    std::vector<std::uint32_t> ranks_{2, 3};
    std::vector<std::uint32_t> rank_of_ = std::vector<std::uint32_t>(4, 9);
    phase_task task_;
    node_splitter split_;
};

TEST_F(second_node, leaves_even_ranks_alone_but_not_with_what_is_at_home_elsewhere) {
    std::vector<std::uint32_t> batch_of;
    EXPECT_TRUE(split_.stay(ranks_, std::vector<std::uint32_t>{1, 2, 3}, batch_of));
    EXPECT_EQ(batch_of, (std::vector<std::uint32_t>{0, 1, 1}));
    EXPECT_FALSE(split_.stay(ranks_, std::vector<std::uint32_t>{0, 1}, batch_of));
    split_.start(task_, 2, 6, 1024, 8);
    EXPECT_TRUE(split_.stay(ranks_, std::vector<std::uint32_t>{1, 2}, batch_of));
    split_.start(task_, 2, 5, 1024, 8);
    EXPECT_FALSE(split_.stay(ranks_, std::vector<std::uint32_t>{1, 2}, batch_of)) << "6 is more than 5";
}

TEST_F(second_node, splits_to_the_target_if_it_can) {
    std::vector<std::uint32_t> batch_of;
    ASSERT_TRUE(split_.split(std::vector<std::uint32_t>{0, 1, 2}, batch_of));
    split_.start(task_, 2, 8, 1024, 8);
    EXPECT_FALSE(split_.split(std::vector<std::uint32_t>{0, 1, 2}, batch_of)) << "9 and 6 at best";
}

TEST_F(second_node, gives_each_batch_to_the_rank_that_has_most_of_it) {
    EXPECT_EQ(split_.seat(ranks_, std::vector<std::uint32_t>{0, 1, 2}, std::vector<std::uint32_t>{1, 1, 0}, rank_of_),
              9u);
    EXPECT_EQ(rank_of_, (std::vector<std::uint32_t>{2, 2, 3, 9})) << "what comes from elsewhere has no say";
}

TEST_F(second_node, prefers_the_first_of_batches_that_a_rank_has_as_much_of) {
    task_.home_ranks = {0, 3, 3, 3};
    bytes_[2] = bytes_[1];
    EXPECT_EQ(split_.seat(ranks_, std::vector<std::uint32_t>{1, 2}, std::vector<std::uint32_t>{0, 1}, rank_of_), 6u);
    EXPECT_EQ(rank_of_, (std::vector<std::uint32_t>{9, 3, 2, 9}));
}

TEST_F(second_node, lets_what_weighs_nothing_stay_without_a_say_in_where_its_batch_goes) {
    EXPECT_EQ(split_.seat(ranks_, std::vector<std::uint32_t>{1, 2, 3}, std::vector<std::uint32_t>{0, 1, 0}, rank_of_),
              6u);
    EXPECT_EQ(rank_of_, (std::vector<std::uint32_t>{9, 2, 3, 3}));
}

}  // namespace
}  // namespace evenkeel::detail::node_splits_test
