// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/longest_first.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::longest_first_test {
namespace {

using testing::ElementsAre;
using weights = std::vector<std::uint64_t>;

TEST(longest_first, gives_each_item_to_the_least_loaded_rank) {
    auto const falling = weights{5, 4, 3, 3, 3};
    std::vector<std::uint32_t> rank_of(5);
    longest_first place;

    EXPECT_EQ(place(falling, 18, 2, rank_of), 10u);
    EXPECT_THAT(rank_of, ElementsAre(0, 1, 1, 0, 1));
}

TEST(longest_first, gives_equal_items_to_the_ranks_in_turn) {
    std::vector<std::uint32_t> rank_of(7);
    longest_first place;

    EXPECT_EQ(place(weights(7, 2), 14, 3, rank_of), 6u);
    EXPECT_THAT(rank_of, ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

class longest_first_law : public testing::TestWithParam<std::uint64_t> {};

// One rank, a match of four, several levels; light items and such as leave no room for a rank in 64 bits.
TEST_P(longest_first_law, does_what_it_says) {
    test::seeded random{GetParam()};
    std::size_t const ranks = random.between(1, GetParam() % 3 == 0 ? 300 : 20);
    weights falling(random.up_to(5 * ranks));
    std::uint64_t const heaviest = GetParam() % 2 == 0 ? 50 : (std::uint64_t{1} << 63) / (falling.size() + 1);
    for (auto& weight : falling) {
        weight = random.between(1, heaviest);
    }
    std::ranges::sort(falling, std::greater{});

    weights loads(ranks);
    std::vector<std::uint32_t> expected;
    for (auto const weight : falling) {
        auto const least = std::ranges::min_element(loads);
        expected.push_back(static_cast<std::uint32_t>(least - loads.begin()));
        *least += weight;
    }

    std::vector<std::uint32_t> rank_of(falling.size());
    longest_first place;
    auto const busiest =
        place(falling, std::accumulate(falling.begin(), falling.end(), std::uint64_t{0}), ranks, rank_of);
    EXPECT_EQ(rank_of, expected);
    EXPECT_EQ(busiest, *std::ranges::max_element(loads));
}

INSTANTIATE_TEST_SUITE_P(seeds, longest_first_law, testing::Range(std::uint64_t{0}, std::uint64_t{100}));

}  // namespace
}  // namespace evenkeel::detail::longest_first_test
