// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/differencing.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::detail::differencing_test {
namespace {

using weights = std::vector<std::uint64_t>;

struct outcome {
    std::vector<std::uint32_t> rank_of;
    std::uint64_t busiest = 0;
};

outcome difference(weights const& falling, std::size_t ranks) {
    differencing place;
    outcome result{.rank_of = std::vector<std::uint32_t>(falling.size(), static_cast<std::uint32_t>(ranks))};
    result.busiest = place(falling, ranks, result.rank_of);
    return result;
}

TEST(differencing, beats_longest_first_where_that_is_hasty) {
    auto const [rank_of, busiest] = difference({8, 7, 6, 5, 4}, 2);

    EXPECT_EQ(busiest, 16u);
    EXPECT_EQ(rank_of[0], rank_of[2]);
    EXPECT_EQ(rank_of[1], rank_of[3]);
    EXPECT_EQ(rank_of[1], rank_of[4]);
}

TEST(differencing, of_one_rank_is_everything) { EXPECT_EQ(difference({5, 3, 1}, 1).busiest, 9u); }

TEST(differencing, leaves_ranks_idle_when_there_are_more_ranks_than_items) {
    EXPECT_EQ(difference({5, 3}, 4).busiest, 5u);
}

TEST(differencing, replaces_only_what_is_worse) {
    differencing place;
    std::vector<std::uint32_t> rank_of(5, 9);
    std::uint64_t busiest = 16;
    place.improve(weights{8, 7, 6, 5, 4}, 2, rank_of, busiest);
    EXPECT_THAT(rank_of, testing::Each(9));
    EXPECT_EQ(busiest, 16u);

    busiest = 17;
    place.improve(weights{8, 7, 6, 5, 4}, 2, rank_of, busiest);
    EXPECT_THAT(rank_of, testing::Each(testing::Lt(2)));
    EXPECT_EQ(busiest, 16u);
}

class differencing_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(differencing_law, loses_nothing_and_is_not_below_the_optimum) {
    auto [items, ranks] = test::small_batch(GetParam());
    std::erase(items, 0U);
    std::ranges::sort(items, std::greater{});
    if (items.empty()) {
        return;
    }
    auto const [rank_of, busiest] = difference(items, ranks.value);
    weights loads(ranks.value);
    for (std::size_t item = 0; item < items.size(); ++item) {
        loads.at(rank_of[item]) += items[item];
    }
    EXPECT_EQ(*std::ranges::max_element(loads), busiest);
    EXPECT_GE(busiest, test::optimum(items, ranks));
}

// With weights that are all different, ties are so rare that the order of two partitions hardly ever matters.
TEST_P(differencing_law, does_what_is_commonly_told) {
    test::seeded random{GetParam()};
    weights falling(random.between(1, 60));
    for (auto& weight : falling) {
        weight = random.between(1, std::uint64_t{1} << 50);
    }
    std::ranges::sort(falling, std::greater{});
    std::size_t const ranks = random.between(2, differencing::most_ranks);
    EXPECT_EQ(difference(falling, ranks).busiest, test::largest_differencing_load(falling, {ranks}));
}

INSTANTIATE_TEST_SUITE_P(seeds, differencing_law, testing::Range(std::uint64_t{0}, std::uint64_t{100}));

}  // namespace
}  // namespace evenkeel::detail::differencing_test
