// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/exact_finish.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::exact_finish_test {
namespace {

using testing::ElementsAre;
using weights = std::vector<std::uint64_t>;

struct finished {
    std::vector<std::uint32_t> rank_of;
    weights loads;
};

finished finish(weights const& falling, std::size_t ranks, std::uint64_t target) {
    auto const total = std::accumulate(falling.begin(), falling.end(), std::uint64_t{0});
    finished result{.rank_of = std::vector<std::uint32_t>(falling.size()), .loads = {}};
    longest_first start;
    start(falling, total, ranks, result.rank_of);
    result.loads.assign(start.loads().begin(), start.loads().end());
    step_budget steps{1'000'000};
    exact_finish fill;
    fill(falling, total, target, result.loads, result.rank_of, steps);
    return result;
}

TEST(exact_finish, fills_all_but_the_last_ranks_exactly) {
    // 40 ranks of 50 each; longest first makes 56 and 44.
    weights falling;
    for (std::uint64_t rank = 0; rank < 40; ++rank) {
        falling.push_back(20 + rank % 11);
    }
    std::uint64_t const target = 50;
    std::uint64_t left = 40 * target - std::accumulate(falling.begin(), falling.end(), std::uint64_t{0});
    for (std::uint64_t weight = 3; left > 0; weight = weight % 7 + 1) {
        falling.push_back(std::min(weight, left));
        left -= falling.back();
    }
    std::ranges::sort(falling, std::greater{});
    auto const [rank_of, loads] = finish(falling, 40, target);

    EXPECT_GE(std::ranges::count(loads, target), 35);
}

TEST(exact_finish, leaves_a_rank_alone_that_is_above_the_target) {
    auto const [rank_of, loads] = finish({9, 2, 2, 1, 1}, 2, 8);

    EXPECT_THAT(loads, ElementsAre(9, 6));
    EXPECT_THAT(rank_of, ElementsAre(0, 1, 1, 1, 1));
}

TEST(exact_finish, takes_back_the_lightest_alone) {
    weights const falling{9, 8, 7, 7, 6, 5, 4, 3, 2, 2, 1, 1, 1};
    auto const [rank_of, loads] = finish(falling, 2, 28);
    longest_first start;
    std::vector<std::uint32_t> before(falling.size());
    start(falling, 56, 2, before);

    ASSERT_EQ(exact_finish::first_taken_back(falling.size(), 2), 5u);
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + 5, rank_of.begin()));
    EXPECT_THAT(loads, ElementsAre(28, 28));
}

TEST(exact_finish, takes_fewer_items_than_it_may) { EXPECT_THAT(finish({3}, 4, 1).loads, ElementsAre(3, 0, 0, 0)); }

class exact_finish_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(exact_finish_law, loses_nothing_and_keeps_the_loads) {
    auto batch = test::mixed_batch(GetParam(), 1 + GetParam() % 50, 1 + GetParam() % 20);
    auto& items = batch.lengths;
    std::erase(items, 0U);
    if (items.empty()) {
        return;
    }
    std::ranges::sort(items, std::greater{});
    std::size_t const ranks = batch.ranks.value;
    auto const total = std::accumulate(items.begin(), items.end(), std::uint64_t{0});
    auto const [rank_of, loads] = finish(items, ranks, std::max(items.front(), total / ranks + 1 + GetParam() % 3));
    weights sums(ranks);
    for (std::size_t item = 0; item < items.size(); ++item) {
        sums.at(rank_of[item]) += items[item];
    }
    EXPECT_EQ(sums, loads);
}

INSTANTIATE_TEST_SUITE_P(seeds, exact_finish_law, testing::Range(std::uint64_t{0}, std::uint64_t{200}));

}  // namespace
}  // namespace evenkeel::detail::exact_finish_test
