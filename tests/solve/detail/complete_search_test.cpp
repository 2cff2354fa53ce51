// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/complete_search.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::detail::complete_search_test {
namespace {

using weights = std::vector<std::uint64_t>;

std::uint64_t busiest_of(weights const& items, std::vector<std::uint32_t> const& rank_of, std::size_t ranks) {
    weights loads(ranks);
    for (std::size_t item = 0; item < items.size(); ++item) {
        loads.at(rank_of[item]) += items[item];
    }
    return *std::ranges::max_element(loads);
}

TEST(complete_search, finds_what_longest_first_misses) {
    auto const items = weights{5, 4, 3, 3, 3};
    std::vector<std::uint32_t> rank_of{0, 1, 1, 0, 1};
    std::uint64_t busiest = 10;
    step_budget steps{1000};
    complete_search complete;
    complete(items, 2, 9, busiest, rank_of, steps);

    EXPECT_EQ(busiest, 9u);
    EXPECT_EQ(rank_of[0], rank_of[1]);
    EXPECT_EQ(rank_of[2], rank_of[3]);
    EXPECT_EQ(rank_of[3], rank_of[4]);
}

TEST(complete_search, tells_ranks_apart_whose_loads_differ_by_one) {
    auto const items = weights{6, 6, 6, 5, 4, 3, 2};
    std::vector<std::uint32_t> rank_of(items.size());
    std::uint64_t busiest = 32;
    step_budget steps{10'000};
    complete_search complete;

    EXPECT_TRUE(complete(items, 2, 0, busiest, rank_of, steps));
    EXPECT_EQ(busiest, 16u);
}

TEST(complete_search, proves_nothing_when_it_runs_out_of_steps) {
    auto const items = weights{5, 4, 3, 3, 3};
    std::vector<std::uint32_t> rank_of{0, 1, 1, 0, 1};
    std::uint64_t busiest = 10;
    step_budget steps{3};
    complete_search complete;

    EXPECT_FALSE(complete(items, 2, 0, busiest, rank_of, steps));
    EXPECT_EQ(busiest, 10u);
    EXPECT_EQ(busiest_of(items, rank_of, 2), 10u);
}

class complete_search_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(complete_search_law, ends_with_the_optimum) {
    auto batch = test::small_batch(GetParam());
    auto& items = batch.lengths;
    std::erase(items, 0U);
    if (items.empty()) {
        return;
    }
    std::ranges::sort(items, std::ranges::greater{});
    std::size_t const ranks = batch.ranks.value;
    std::vector<std::uint32_t> rank_of(items.size());
    std::uint64_t busiest = std::accumulate(items.begin(), items.end(), std::uint64_t{0});
    step_budget steps{10'000'000};
    complete_search complete;

    EXPECT_TRUE(complete(items, ranks, 0, busiest, rank_of, steps));
    EXPECT_EQ(busiest, test::optimum(items, batch.ranks));
    EXPECT_EQ(busiest_of(items, rank_of, ranks), busiest);
}

INSTANTIATE_TEST_SUITE_P(seeds, complete_search_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

}  // namespace
}  // namespace evenkeel::detail::complete_search_test
