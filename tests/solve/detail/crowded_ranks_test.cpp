// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/crowded_ranks.hpp>
#include <evenkeel/solve/lower_bound.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::detail::crowded_ranks_test {
namespace {

using weights = std::vector<std::uint64_t>;

std::uint64_t raise(weights const& falling, std::size_t ranks, std::uint64_t bound, std::uint64_t best) {
    crowded_ranks prove;
    return prove(falling, ranks, bound, best);
}

TEST(crowded_ranks, sees_that_two_ranks_have_two_heavy_items_each) {
    weights const items{9, 9, 9, 5, 5, 5};
    EXPECT_EQ(evenkeel::lower_bound(items, {4}), 11u);
    EXPECT_EQ(raise(items, 4, 11, 20), 14u);
}

TEST(crowded_ranks, pairs_the_lightest_with_the_heaviest) {
    // Three ranks have two of these seven each, 61 on average; but whatever goes with the 40 weighs 25 at least.
    weights const items{70, 40, 36, 33, 26, 25, 25};
    EXPECT_EQ(raise(items, 4, 0, 100), 65u);
    EXPECT_EQ(test::optimum(items, {4}), 70u);
}

TEST(crowded_ranks, keep_to_the_proof_that_holds) {
    // Of the ten heaviest two ranks have three each, 717 on average, and three of these sizes make no sum from there to
    // 324 + 289 + 121. Of all eleven three ranks have three each, more on average; but four are less, so one may have
    // those, and nothing is proved.
    weights const items{324, 324, 324, 324, 324, 289, 289, 289, 121, 121, 121};
    EXPECT_EQ(raise(items, 4, 713, 2000), 734u);
    EXPECT_EQ(test::optimum(items, {4}), 734u);

    crowded_ranks prove;
    EXPECT_EQ(prove(items, 4, 734, 2000), 734u);
    EXPECT_EQ(prove.number(), 0u);
}

TEST(crowded_ranks, knows_which_sums_a_few_sizes_make) {
    // Three of four ranks have three each, of 186 together, so one has 62; but three weigh 60, 63, 66 or 69.
    EXPECT_EQ(raise({23, 23, 23, 23, 20, 20, 20, 20, 20, 20, 20}, 4, 0, 100), 63u);
}

TEST(crowded_ranks, counts_a_rank_with_three_as_an_alternative) {
    // Two ranks with two each have 8 + 2 + 2 + 2, so 7; but one with three 2s has 6 only.
    EXPECT_EQ(raise({8, 8, 8, 2, 2, 2}, 4, 1, 20), 6u);
}

TEST(crowded_ranks, proves_nothing_above_the_best_known_load) {
    EXPECT_EQ(raise({9, 9, 9, 5, 5, 5}, 4, 11, 11), 11u);
    EXPECT_EQ(raise({9, 9, 9, 5, 5, 5}, 4, 1, 8), 8u);
}

TEST(crowded_ranks, leaves_a_bound_that_is_higher) { EXPECT_EQ(raise({9, 9, 9, 5, 5, 5}, 4, 14, 15), 14u); }

TEST(crowded_ranks, does_not_wrap) {
    constexpr std::uint64_t large = std::numeric_limits<std::uint64_t>::max() / 6;
    EXPECT_EQ(raise(weights(6, large), 4, large, 3 * large), 2 * large);
    EXPECT_EQ(raise(weights(6, large), 4, 5 * large, 6 * large), 5 * large);
}

TEST(crowded_ranks, proves_nothing_where_ranks_have_one_item_or_none) {
    EXPECT_EQ(raise({}, 4, 0, 0), 0u);
    EXPECT_EQ(raise({3, 2}, 2, 3, 5), 3u);
}

class crowded_ranks_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(crowded_ranks_law, is_what_one_rank_must_have_at_least_and_never_above_the_optimum) {
    test::seeded random{GetParam()};
    std::size_t const ranks = random.between(2, 4);
    weights items(random.between(ranks, 10));
    std::uint64_t const heavy = random.up_to(1) == 0 ? 20 : 200;
    for (auto& item : items) {
        item = random.up_to(1) == 0 ? random.between(heavy - heavy / 5, heavy) : random.between(1, heavy / 4);
    }
    std::ranges::sort(items, std::greater{});
    auto const optimum = test::optimum(items, {ranks});
    auto const proved = raise(items, ranks, 0, optimum + random.up_to(20));
    EXPECT_LE(proved, optimum);
    for (std::size_t most = 1; most * ranks < items.size(); ++most) {
        auto const end = items.begin() + static_cast<std::ptrdiff_t>(most * ranks + 1);
        EXPECT_GE(proved, std::accumulate(end - static_cast<std::ptrdiff_t>(most + 1), end, std::uint64_t{0}));
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, crowded_ranks_law, testing::Range(std::uint64_t{0}, std::uint64_t{500}));

}  // namespace
}  // namespace evenkeel::detail::crowded_ranks_test
