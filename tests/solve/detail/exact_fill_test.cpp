// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/exact_fill.hpp>
#include <evenkeel/solve/detail/remaining_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::exact_fill_test {
namespace {

using weights = std::vector<std::uint64_t>;

TEST(remaining_items, are_found_by_weight) {
    remaining_items items;
    items.reset(weights{9000, 9000, 50, 50, 50, 3});

    EXPECT_EQ(items.weight(items.first_from(0)), 9000u);
    EXPECT_EQ(items.weight(items.heaviest_at_most(8999, 0)), 50u);
    EXPECT_EQ(items.weight(items.heaviest_at_most(50, 0)), 50u);
    EXPECT_EQ(items.weight(items.heaviest_at_most(49, 0)), 3u);
    EXPECT_EQ(items.heaviest_at_most(2, 0), items.end());
    EXPECT_EQ(items.weight(items.heaviest_at_most(9000, 2)), 3u);
    EXPECT_EQ(items.lightest_weight(), 3u);
}

TEST(remaining_items, are_taken_class_by_class_in_their_order) {
    remaining_items items;
    items.reset(weights{8, 8, 5, 1});

    EXPECT_EQ(items.take(0), 0u);
    EXPECT_EQ(items.take(2), 3u);
    EXPECT_EQ(items.lightest_weight(), 5u);
    EXPECT_EQ(items.take(0), 1u);
    EXPECT_EQ(items.first_from(0), 1u);
    EXPECT_EQ(items.heaviest_at_most(100, 0), 1u);
    EXPECT_FALSE(items.empty());
    EXPECT_EQ(items.take(1), 2u);
    EXPECT_TRUE(items.empty());
    EXPECT_EQ(items.first_from(0), items.end());
}

TEST(remaining_items, come_back_after_being_held) {
    remaining_items items;
    items.reset(weights{8, 5, 1});
    items.hold(1);

    EXPECT_EQ(items.heaviest_at_most(7, 0), 2u);
    items.release(1);
    EXPECT_EQ(items.heaviest_at_most(7, 0), 1u);
}

weights loads_of(weights const& items, std::vector<std::uint32_t> const& rank_of, std::size_t ranks) {
    weights loads(ranks);
    for (std::size_t item = 0; item < items.size(); ++item) {
        loads.at(rank_of[item]) += items[item];
    }
    return loads;
}

TEST(exact_fill, fills_one_rank_after_the_other) {
    // Five ranks of 10, of which the last four are left to longest first: 7 + 3 before 7 + 2.
    auto const items = weights{7, 6, 5, 5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2};
    std::vector<std::uint32_t> rank_of(items.size());
    step_budget steps{10'000};
    exact_fill fill;
    fill(items, 50, 5, 10, 8, rank_of, steps);

    EXPECT_EQ(rank_of[0], 0u);
    EXPECT_EQ(rank_of[6], 0u);
    EXPECT_EQ(loads_of(items, rank_of, 5)[0], 10u);
    EXPECT_LT(steps.left(), 10'000u);
}

TEST(exact_fill, is_content_with_the_first_that_comes_close_enough) {
    auto batch = test::sparse_batch(1, 64, 4);
    auto& items = batch.lengths;
    std::ranges::sort(items, std::ranges::greater{});
    auto const total = std::accumulate(items.begin(), items.end(), std::uint64_t{0});
    std::vector<std::uint32_t> rank_of(items.size());
    step_budget steps{100'000};
    exact_fill fill;
    fill(items, total, 64, total / 64 + total / 64 / 20, 8, rank_of, steps);

    // Some twenty steps a rank; the search for the best would take ten times as many.
    EXPECT_GT(steps.left(), 100'000 - 64 * 40);
}

TEST(exact_fill, gives_up_when_the_steps_run_out) {
    auto const items = weights{7, 6, 5, 5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2};
    std::vector<std::uint32_t> rank_of(items.size());
    exact_fill fill;
    step_budget enough{100};
    EXPECT_TRUE(fill(items, 50, 5, 10, 8, rank_of, enough));
    step_budget none{0};
    EXPECT_FALSE(fill(items, 50, 5, 10, 8, rank_of, none));
}

class exact_fill_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(exact_fill_law, places_every_item_and_fills_all_but_the_last_ranks) {
    auto batch = test::sparse_batch(GetParam(), 32 + GetParam() % 64, 4);
    auto& items = batch.lengths;
    std::ranges::sort(items, std::ranges::greater{});
    std::size_t const ranks = batch.ranks.value;
    auto const total = std::accumulate(items.begin(), items.end(), std::uint64_t{0});
    auto const target = std::max(items.front(), total / ranks + total / ranks / 1000 + 1);
    std::vector<std::uint32_t> rank_of(items.size());
    step_budget steps{10'000'000};
    exact_fill fill;
    fill(items, total, ranks, target, 8, rank_of, steps);

    auto const loads = loads_of(items, rank_of, ranks);
    EXPECT_EQ(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}), total);
    for (std::size_t rank = 0; rank < ranks - std::max<std::size_t>(4, ranks / 8); ++rank) {
        EXPECT_LE(loads[rank], target);
        EXPECT_GE(loads[rank] + target / 50, target);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, exact_fill_law, testing::Range(std::uint64_t{0}, std::uint64_t{50}));

}  // namespace
}  // namespace evenkeel::detail::exact_fill_test
