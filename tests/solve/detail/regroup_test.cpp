// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/regroup.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::detail::regroup_test {
namespace {

using weights = std::vector<std::uint64_t>;

TEST(regroup, shares_the_items_of_three_ranks_out_anew) {
    // 9 4 | 8 7 | 6 3 2
    placement loads;
    loads.reset(weights{9, 8, 7, 6, 4, 3, 2}, std::vector<std::uint32_t>{0, 1, 1, 2, 0, 2, 2}, 3);
    step_budget steps{1000};
    regroup share;

    EXPECT_TRUE(share(loads, {0, 1, 2}, 13, steps));
    for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(loads.load(rank), 13u);
    }
    EXPECT_LT(steps.left(), 1000u);
}

TEST(regroup, leaves_everything_alone_where_there_is_no_way) {
    placement loads;
    loads.reset(weights{9, 8, 7, 6, 4, 3, 2}, std::vector<std::uint32_t>{0, 1, 1, 2, 0, 2, 2}, 3);
    step_budget steps{1000};
    regroup share;

    EXPECT_FALSE(share(loads, {0, 1, 2}, 12, steps));
    EXPECT_THAT(loads.weights(0), testing::ElementsAre(9, 4));
    EXPECT_THAT(loads.weights(1), testing::ElementsAre(8, 7));
    EXPECT_THAT(loads.weights(2), testing::ElementsAre(6, 3, 2));
}

class regroup_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(regroup_law, finds_a_way_for_few_items_exactly_where_there_is_one) {
    test::seeded random{GetParam()};
    weights items(random.between(3, 9));
    for (auto& weight : items) {
        weight = random.between(1, 100'000);
    }
    std::ranges::sort(items, std::ranges::greater{});
    std::vector<std::uint32_t> rank_of(items.size());
    for (auto& rank : rank_of) {
        rank = static_cast<std::uint32_t>(random.up_to(2));
    }
    auto const optimum = test::optimum(items, rank_count{3});
    for (auto const target : {optimum - 1, optimum, optimum + optimum / 16}) {
        placement loads;
        loads.reset(items, rank_of, 3);
        step_budget steps{1'000'000};
        regroup share;
        EXPECT_EQ(share(loads, {2, 0, 1}, target, steps), target >= optimum);
        EXPECT_EQ(loads.busiest_load() <= target, target >= optimum);
    }
}

TEST_P(regroup_law, loses_no_item_of_many) {
    test::seeded random{GetParam()};
    weights items(40);
    std::uint64_t total = 0;
    for (auto& weight : items) {
        weight = random.between(1, 1000);
        total += weight;
    }
    std::ranges::sort(items, std::ranges::greater{});
    std::vector<std::uint32_t> rank_of(items.size());
    for (std::size_t item = 0; item < items.size(); ++item) {
        rank_of[item] = static_cast<std::uint32_t>(item % 4);
    }
    placement loads;
    loads.reset(items, rank_of, 4);
    step_budget steps{1'000'000};
    regroup share;
    auto const others = loads.load(1);
    (void)share(loads, {0, 2, 3}, (total - others) / 3 + 2, steps);

    std::ranges::fill(rank_of, 4U);
    loads.store(rank_of);
    EXPECT_THAT(rank_of, testing::Each(testing::Lt(4U)));
    std::uint64_t sum = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
        sum += loads.load(rank);
    }
    EXPECT_EQ(sum, total);
    EXPECT_EQ(loads.load(1), others);
}

INSTANTIATE_TEST_SUITE_P(seeds, regroup_law, testing::Range(std::uint64_t{0}, std::uint64_t{200}));

}  // namespace
}  // namespace evenkeel::detail::regroup_test
