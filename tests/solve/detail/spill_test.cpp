// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/spill.hpp>

namespace evenkeel::detail::spill_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Le;

/// A node, and what becomes of it.
struct node {
    node(std::vector<std::uint64_t> of, std::vector<std::uint32_t> at, std::size_t ranks)
        : weights{std::move(of)}, rank_of{std::move(at)}, ballast(ranks) {}

    [[nodiscard]] std::vector<std::uint64_t> loads() const {
        auto result = ballast;
        for (std::size_t item = 0; item < weights.size(); ++item) {
            result[rank_of[item]] += weights[item];
        }
        return result;
    }

    bool even_out(std::uint64_t target) {
        spilling.clear();
        auto const before = loads();
        for (std::size_t rank = 0; rank < before.size(); ++rank) {
            spilling.add_rank(before[rank], ballast[rank]);
        }
        step_budget steps{1'000'000};
        return spilling(weights, rank_of, target, steps);
    }

    std::vector<std::uint64_t> weights;
    std::vector<std::uint32_t> rank_of;
    std::vector<std::uint64_t> ballast;
    spill spilling;
};

TEST(spill, moves_the_heaviest_item_that_both_excess_and_room_hold) {
    node own{{7, 5, 4, 3, 2, 1}, {0, 0, 0, 1, 1, 1}, 2};
    // Rank 0 has 16, rank 1 has 6: of an excess of 5, 5 goes.
    EXPECT_TRUE(own.even_out(11));
    EXPECT_THAT(own.rank_of, ElementsAre(0, 1, 0, 1, 1, 1));
    EXPECT_THAT(own.loads(), ElementsAre(11, 11));
}

// Light items alone would leave rank 0 with 20, and nothing that any room holds.
TEST(spill, parts_two_items_that_cannot_stay_together) {
    node own{{10, 10, 4, 4, 4, 4, 4, 1, 1}, {0, 0, 1, 1, 1, 2, 2, 0, 2}, 3};
    EXPECT_TRUE(own.even_out(14));
    EXPECT_EQ(own.rank_of[0], 0u);
    EXPECT_NE(own.rank_of[1], 0u);
    EXPECT_THAT(own.loads(), testing::Each(Le(14u)));
}

TEST(spill, moves_nothing_where_all_are_at_the_target_or_below) {
    node own{{5, 4, 3}, {0, 1, 2}, 3};
    EXPECT_TRUE(own.even_out(5));
    EXPECT_THAT(own.spilling.moves(), IsEmpty());
    EXPECT_THAT(own.rank_of, ElementsAre(0, 1, 2));
}

TEST(spill, keeps_what_has_a_place_nowhere) {
    node own{{6, 5}, {0, 0}, 2};
    own.ballast = {0, 8};
    EXPECT_FALSE(own.even_out(9));
    EXPECT_THAT(own.spilling.moves(), IsEmpty());
}

TEST(spill, counts_what_is_no_item) {
    node own{{4, 3, 2}, {0, 0, 1}, 2};
    own.ballast = {5, 0};
    EXPECT_TRUE(own.even_out(8));
    EXPECT_THAT(own.loads(), ElementsAre(8, 6));
}

class spill_law : public testing::TestWithParam<unsigned> {};

TEST_P(spill_law, says_whether_all_is_even_and_what_moved_each_item_once) {
    std::mt19937 random{GetParam()};
    std::size_t const ranks = 2 + random() % 9;
    std::vector<std::uint64_t> weights(ranks * (1 + random() % 40));
    std::ranges::generate(weights, [&] { return 1 + random() % (random() % 8 == 0 ? 3000 : 100); });
    std::ranges::sort(weights, std::greater{});
    std::vector<std::uint32_t> at(weights.size());
    std::ranges::generate(at, [&] { return static_cast<std::uint32_t>(random() % ranks); });
    node own{weights, at, ranks};
    std::ranges::generate(own.ballast, [&] { return random() % 200; });
    auto const before = own.loads();
    std::uint64_t const total = std::accumulate(before.begin(), before.end(), std::uint64_t{0});
    std::uint64_t const target = std::max({total / ranks + 1 + random() % 50, weights.front(), std::uint64_t{200}});

    bool const even = own.even_out(target);

    auto const after = own.loads();
    EXPECT_EQ(even, std::ranges::max(after) <= target);
    auto moved = at;
    std::vector<bool> left(at.size());
    for (auto const& [position, rank] : own.spilling.moves()) {
        EXPECT_FALSE(left[position]);
        EXPECT_NE(moved[position], rank);
        left[position] = true;
        moved[position] = rank;
    }
    EXPECT_EQ(moved, own.rank_of);
    if (std::ranges::max(before) <= target) {
        EXPECT_EQ(after, before);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, spill_law, testing::Range(0U, 300U));

}  // namespace
}  // namespace evenkeel::detail::spill_test
