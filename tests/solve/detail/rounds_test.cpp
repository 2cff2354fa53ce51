// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/rounds.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::rounds_test {
namespace {

using testing::ElementsAre;
using weights = std::vector<std::uint64_t>;

struct placed {
    std::vector<std::uint32_t> rank_of;
    weights loads;

    friend bool operator==(placed const&, placed const&) = default;
};

placed in_rounds(weights const& falling, std::size_t ranks) {
    rounds place;
    placed result{.rank_of = std::vector<std::uint32_t>(falling.size()), .loads = weights(ranks, 99)};
    place(falling, result.rank_of, result.loads);
    return result;
}

placed one_by_one(weights const& falling, std::size_t ranks) {
    placed result{.rank_of = {}, .loads = weights(ranks)};
    for (auto const weight : falling) {
        auto const least = std::ranges::min_element(result.loads);
        result.rank_of.push_back(static_cast<std::uint32_t>(least - result.loads.begin()));
        *least += weight;
    }
    return result;
}

TEST(rounds, give_each_item_to_the_least_loaded_rank) {
    EXPECT_EQ(in_rounds({5, 4, 3, 3, 3}, 2), (placed{{0, 1, 1, 0, 1}, {8, 10}}));
    EXPECT_EQ(in_rounds({2, 2, 2, 2}, 3), (placed{{0, 1, 2, 0}, {4, 2, 2}}));
    EXPECT_EQ(in_rounds({7, 1}, 1), (placed{{0, 0}, {8}}));
    EXPECT_EQ(in_rounds({}, 2), (placed{{}, {0, 0}}));
}

TEST(rounds, do_not_take_longer_when_one_rank_is_served_over_and_over) {
    // All but one rank have so much that they never get a second item; that takes a round per item.
    weights falling(999, 1'000'000);
    falling.insert(falling.end(), 5000, 7);
    EXPECT_EQ(in_rounds(falling, 1000), one_by_one(falling, 1000));
}

TEST(rounds, put_ranks_in_order_whose_loads_hardly_differ_beside_one_that_does) {
    // Counting by digits sees all but one of them as equal.
    test::seeded random{1};
    weights falling{std::uint64_t{1} << 40};
    for (int item = 0; item < 5000; ++item) {
        falling.push_back((std::uint64_t{1} << 20) + random.up_to(1000));
    }
    std::ranges::sort(falling, std::greater{});
    EXPECT_EQ(in_rounds(falling, 300), one_by_one(falling, 300));
}

class rounds_law : public testing::TestWithParam<std::uint64_t> {};

// From one rank to many, from less than an item per rank to many, weights of any width, alike or not.
TEST_P(rounds_law, do_what_longest_first_does_one_item_at_a_time) {
    test::seeded random{GetParam()};
    std::size_t const ranks = random.between(1, GetParam() % 4 == 0 ? 700 : 30);
    weights falling(random.up_to(8 * ranks));
    unsigned const width = static_cast<unsigned>(random.between(1, 45));
    bool const skewed = random.up_to(1) == 0;
    for (auto& weight : falling) {
        unsigned const bits = skewed ? static_cast<unsigned>(random.between(1, width)) : width;
        weight = random.between(1, (std::uint64_t{1} << bits) - 1);
    }
    std::ranges::sort(falling, std::greater{});
    EXPECT_EQ(in_rounds(falling, ranks), one_by_one(falling, ranks));
}

INSTANTIATE_TEST_SUITE_P(seeds, rounds_law, testing::Range(std::uint64_t{0}, std::uint64_t{200}));

}  // namespace
}  // namespace evenkeel::detail::rounds_test
