// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::repair_test {
namespace {

using weights = std::vector<std::uint64_t>;

bool mend(placement& loads, std::size_t items, std::uint64_t target, std::uint64_t effort = 1'000'000) {
    step_budget steps{effort};
    repair mending;
    mending.reserve(items, loads.ranks());
    return mending(loads, target, 0, 0, steps);
}

TEST(repair, exchanges_one_item_for_another) {
    // 8 7 | 7 4 with a target of 13: 8 for 7 leaves 14, 7 for 4 leaves 12.
    placement loads;
    loads.reset(weights{8, 7, 7, 4}, std::vector<std::uint32_t>{0, 0, 1, 1}, 2);

    EXPECT_FALSE(mend(loads, 4, 12));
    EXPECT_TRUE(mend(loads, 4, 14));
    EXPECT_LE(loads.busiest_load(), 14u);
}

TEST(repair, exchanges_several_items_where_one_does_not_do) {
    // No single exchange moves exactly 1, but 3 + 3 for 5 does.
    placement loads;
    loads.reset(weights{5, 5, 5, 5, 5, 3, 3, 3, 3, 3}, std::vector<std::uint32_t>{0, 0, 1, 1, 1, 0, 0, 1, 1, 0}, 2);
    ASSERT_EQ(loads.load(0), 19u);
    ASSERT_EQ(loads.load(1), 21u);

    EXPECT_TRUE(mend(loads, 10, 20));
    EXPECT_EQ(loads.load(0), 20u);
    EXPECT_EQ(loads.load(1), 20u);
}

TEST(repair, pools_the_room_of_three_ranks) {
    // 9 4 | 8 7 | 6 3 2: the first rank is full, and without it the other two cannot be mended.
    placement loads;
    loads.reset(weights{9, 8, 7, 6, 4, 3, 2}, std::vector<std::uint32_t>{0, 1, 1, 2, 0, 2, 2}, 3);

    EXPECT_TRUE(mend(loads, 7, 13));
    EXPECT_EQ(loads.busiest_load(), 13u);
}

class repair_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(repair_law, never_makes_the_busiest_rank_busier_and_loses_nothing) {
    test::seeded random{GetParam()};
    auto batch = GetParam() % 2 == 0 ? test::sparse_batch(GetParam(), random.between(2, 40), random.between(1, 8))
                                     : test::mixed_batch(GetParam(), random.between(2, 40), random.between(1, 30));
    auto& items = batch.lengths;
    std::erase(items, 0U);
    std::ranges::sort(items, std::ranges::greater{});
    std::size_t const ranks = batch.ranks.value;
    std::vector<std::uint32_t> rank_of(items.size());
    for (auto& rank : rank_of) {
        rank = static_cast<std::uint32_t>(random.up_to(ranks - 1));
    }
    auto const total = std::accumulate(items.begin(), items.end(), std::uint64_t{0});
    placement loads;
    loads.reset(items, rank_of, ranks);

    std::uint64_t before = loads.busiest_load();
    for (auto const target : {total / ranks + total / ranks / 8 + 1, total / ranks + 1}) {
        bool const reached = mend(loads, items.size(), target, GetParam() % 3 == 0 ? 1000 : 1'000'000);
        EXPECT_EQ(reached, loads.busiest_load() <= target);
        EXPECT_LE(loads.busiest_load(), before);
        before = loads.busiest_load();
    }
    std::ranges::fill(rank_of, static_cast<std::uint32_t>(ranks));
    loads.store(rank_of);
    weights sums(ranks);
    for (std::size_t item = 0; item < items.size(); ++item) {
        sums.at(rank_of[item]) += items[item];
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(sums[rank], loads.load(rank));
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, repair_law, testing::Range(std::uint64_t{0}, std::uint64_t{200}));

}  // namespace
}  // namespace evenkeel::detail::repair_test
