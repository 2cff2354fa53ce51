// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/placement.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::placement_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(placement, lists_the_items_of_each_rank_heaviest_first) {
    placement loads;
    loads.reset(std::vector<std::uint64_t>{9, 7, 4, 1}, std::vector<std::uint32_t>{1, 0, 1, 1}, 3);

    EXPECT_THAT(loads.items(1), ElementsAre(0, 2, 3));
    EXPECT_THAT(loads.weights(1), ElementsAre(9, 4, 1));
    EXPECT_THAT(loads.items(2), IsEmpty());
    EXPECT_EQ(loads.load(0), 7u);
    EXPECT_EQ(loads.load(1), 14u);
    EXPECT_EQ(loads.busiest_load(), 14u);
}

// Lists are filled in another way where they are many.
TEST(placement, fills_thousands_of_lists_as_it_does_a_few) {
    for (std::size_t const ranks : {3U, 5000U}) {
        placement loads;
        loads.reset(std::vector<std::uint64_t>{9, 7, 4, 1}, std::vector<std::uint32_t>{1, 0, 1, 1}, ranks);
        loads.insert(2, 4, 1);

        EXPECT_THAT(loads.items(0), ElementsAre(1));
        EXPECT_THAT(loads.items(1), ElementsAre(0, 2, 3));
        EXPECT_THAT(loads.weights(1), ElementsAre(9, 4, 1));
        EXPECT_THAT(loads.items(2), ElementsAre(4));
        EXPECT_EQ(loads.load(0), 7u);
        EXPECT_EQ(loads.load(1), 14u);
        EXPECT_EQ(loads.load(2), 1u);
    }
}

TEST(placement, removes_several_items_at_once_as_it_does_one_after_the_other) {
    struct leaving {
        std::uint32_t item;
        std::uint64_t weight;
    };
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> weights(random.between(1, 60));
        std::ranges::generate(weights, [&] { return random.between(1, 9); });
        std::ranges::sort(weights, std::greater{});
        std::vector<std::uint32_t> const rank_of(weights.size(), 1);
        placement together;
        placement alone;
        together.reset(weights, rank_of, 2);
        alone.reset(weights, rank_of, 2);
        std::vector<leaving> gone;
        std::uint64_t const share = random.between(1, 4);
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            if (random.up_to(3) < share || (gone.empty() && item + 1 == weights.size())) {
                gone.push_back({item, weights[item]});
                alone.remove(1, alone.position_of(1, item, weights[item]));
            }
        }
        together.remove(1, std::span<leaving const>{gone});
        EXPECT_THAT(together.items(1), testing::ElementsAreArray(alone.items(1))) << seed;
        EXPECT_THAT(together.weights(1), testing::ElementsAreArray(alone.weights(1))) << seed;
        EXPECT_EQ(together.load(1), alone.load(1)) << seed;
    }
}

TEST(placement, lists_items_of_other_numbers_and_puts_them_in_order) {
    std::vector<std::uint64_t> const weights{7, 4, 9, 4};
    std::vector<std::uint32_t> const numbers{30, 10, 20, 5};
    std::vector<placement::summary> const known{{.count = 1, .load = 7}, {.count = 3, .load = 17}};
    placement loads;
    loads.reset(weights, numbers, known, [](auto const& put) {
        put(0, 0);
        for (std::size_t const index : {1U, 2U, 3U}) {
            put(index, 1);
        }
    });
    EXPECT_THAT(loads.items(1), ElementsAre(10, 20, 5));
    EXPECT_EQ(loads.load(1), 17u);

    loads.restore_order();
    EXPECT_THAT(loads.items(0), ElementsAre(30));
    EXPECT_THAT(loads.items(1), ElementsAre(20, 5, 10)) << "of equal weights the lower number first";
    EXPECT_THAT(loads.weights(1), ElementsAre(9, 4, 4));
    EXPECT_EQ(loads.position_of(1, 10, 4), 2u);
    EXPECT_EQ(loads.position_of(1, 7, 4), 2u) << "where it would stand";
    EXPECT_EQ(loads.position_of(1, 0, 1), 3u);
}

TEST(placement, keeps_the_order_when_items_move) {
    placement loads;
    loads.reset(std::vector<std::uint64_t>{9, 7, 4, 1}, std::vector<std::uint32_t>{1, 0, 1, 1}, 2);
    loads.remove(1, 1);
    loads.insert(0, 2, 4);
    loads.remove(1, 0);
    loads.insert(0, 0, 9);

    EXPECT_THAT(loads.items(0), ElementsAre(0, 1, 2));
    EXPECT_THAT(loads.weights(0), ElementsAre(9, 7, 4));
    EXPECT_EQ(loads.load(0), 20u);
    EXPECT_THAT(loads.items(1), ElementsAre(3));

    std::vector<std::uint32_t> rank_of(4);
    loads.store(rank_of);
    EXPECT_THAT(rank_of, ElementsAre(0, 0, 0, 1));
}

class placement_law : public testing::TestWithParam<std::uint64_t> {};

struct arrival {
    std::uint32_t item;
    std::uint64_t weight;
};

/// Inserts an item and, if there is one, the first of those that are left where it was.
void insert_together(placement& loads, std::uint32_t to, std::uint32_t from, std::uint32_t item,
                     std::vector<std::uint64_t> const& weights, std::vector<std::uint32_t>& rank_of) {
    std::vector<arrival> arrivals{{item, weights[item]}};
    if (from != to && !loads.items(from).empty()) {
        std::uint32_t const other = loads.items(from).front();
        loads.remove(from, 0);
        arrivals.push_back({other, weights[other]});
        rank_of[other] = to;
    }
    for (auto const& arrival : arrivals) {
        loads.add_load(to, arrival.weight);
    }
    loads.insert(to, std::span{arrivals});
}

// Enough moves that lists outgrow their places and the pool is packed, again and again.
TEST_P(placement_law, agrees_with_plain_vectors) {
    test::seeded random{GetParam()};
    std::size_t const ranks = random.between(2, 6);
    std::vector<std::uint64_t> weights(random.between(1, 60));
    for (auto& weight : weights) {
        weight = random.between(1, 1000);
    }
    std::ranges::sort(weights, std::ranges::greater{});
    std::vector<std::uint32_t> rank_of(weights.size());
    for (auto& rank : rank_of) {
        rank = static_cast<std::uint32_t>(random.up_to(ranks - 1));
    }
    placement loads;
    loads.reset(weights, rank_of, ranks);

    for (int move = 0; move < 2000; ++move) {
        // Now everything drifts to one rank, now to another.
        auto const to = static_cast<std::uint32_t>(move / 300 % static_cast<int>(ranks));
        auto const item = static_cast<std::uint32_t>(random.up_to(weights.size() - 1));
        auto const from = rank_of[item];
        auto const numbers = loads.items(from);
        auto const place = static_cast<std::size_t>(std::ranges::find(numbers, item) - numbers.begin());
        EXPECT_EQ(loads.position_of(from, item, weights[item]), place);
        loads.remove(from, place);
        if (move % 3 == 0) {
            loads.insert(to, item, weights[item]);
        } else {
            insert_together(loads, to, from, item, weights, rank_of);
        }
        rank_of[item] = to;
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::uint32_t> expected;
        std::vector<std::uint64_t> expected_weights;
        std::uint64_t load = 0;
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            if (rank_of[item] == rank) {
                expected.push_back(item);
                expected_weights.push_back(weights[item]);
                load += weights[item];
            }
        }
        EXPECT_THAT(loads.items(rank), testing::ElementsAreArray(expected));
        EXPECT_THAT(loads.weights(rank), testing::ElementsAreArray(expected_weights));
        EXPECT_EQ(loads.load(rank), load);
    }
    std::vector<std::uint32_t> stored(weights.size());
    loads.store(stored);
    EXPECT_EQ(stored, rank_of);
}

INSTANTIATE_TEST_SUITE_P(seeds, placement_law, testing::Range(std::uint64_t{0}, std::uint64_t{50}));

}  // namespace
}  // namespace evenkeel::detail::placement_test
