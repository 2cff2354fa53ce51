// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/many_sizes.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::many_sizes_test {
namespace {

using weights = std::vector<std::uint64_t>;
using outcome = many_sizes::outcome;

sorted_items sorted(weights of) {
    std::ranges::sort(of, std::greater{});
    sorted_items items;
    items.total = std::accumulate(of.begin(), of.end(), std::uint64_t{0});
    items.weights = std::move(of);
    return items;
}

/// What fills each of so many ranks with two to four items of a few dozen sizes: a rank has `unit` times 120.
sorted_items full_ranks(std::uint64_t seed, std::size_t ranks, std::uint64_t unit) {
    test::seeded random{seed};
    weights result;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::uint64_t left = 120;
        for (std::uint64_t pieces = random.between(2, 4); pieces > 1; --pieces) {
            std::uint64_t const piece = random.between(10, left - 10 * (pieces - 1));
            result.push_back(unit * piece);
            left -= piece;
        }
        result.push_back(unit * left);
    }
    return sorted(std::move(result));
}

TEST(many_sizes, find_patterns_that_hold_what_filled_the_ranks_before) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        std::uint64_t const unit = seed % 2 == 0 ? 1 : 1'000'003;
        std::size_t const ranks = 40 * seed;
        auto const items = full_ranks(seed, ranks, unit);
        step_budget steps{100'000'000};
        many_sizes many;
        ASSERT_TRUE(many.suits(items.weights, ranks, 1000 * unit)) << seed;
        many.start(items, ranks, 121 * unit, steps);
        ASSERT_EQ(many.improve(0, steps), outcome::fits) << seed;

        weights loads(ranks);
        std::vector<std::uint32_t> rank_of(items.size());
        many.place(loads, rank_of);

        weights summed(ranks);
        for (std::size_t item = 0; item < items.size(); ++item) {
            summed.at(rank_of[item]) += items.weights[item];
        }
        EXPECT_EQ(loads, summed) << seed;
        auto const above = std::ranges::count_if(loads, [&](std::uint64_t load) { return load > 121 * unit; });
        EXPECT_LT(above, 30) << seed;
    }
}

TEST(many_sizes, prove_no_more_than_there_is_whatever_the_prices) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        std::uint64_t const unit = seed % 2 == 0 ? 1 : 1'000'003;
        std::size_t const ranks = 17 + 5 * seed;
        auto const items = full_ranks(seed, ranks, unit);
        std::uint64_t const least = 100 * unit;
        step_budget steps{100'000'000};
        many_sizes many;
        ASSERT_TRUE(many.suits(items.weights, ranks, 1000 * unit));
        many.start(items, ranks, std::max(110 * unit, items.weights.front()), steps);
        for (std::size_t round = 0; round < 5; ++round) {
            step_budget part{20'000};
            static_cast<void>(many.improve(0, part));
            auto const proved = many.prove(least, 1000 * unit, steps);
            EXPECT_GE(proved, least) << seed;
            EXPECT_LE(proved, 120 * unit) << seed;
        }
    }
}

TEST(many_sizes, prove_that_a_third_item_has_to_go_somewhere) {
    for (std::uint64_t const unit : {std::uint64_t{1}, std::uint64_t{1'000'003}}) {
        // 35 sixes on 17 ranks are three on one of them, though the mean is less than 13; the ones fit in anywhere.
        weights of(35, 6 * unit);
        of.resize(40, unit);
        auto const items = sorted(std::move(of));
        step_budget steps{100'000'000};
        many_sizes many;
        ASSERT_TRUE(many.suits(items.weights, 17, 36 * unit));
        many.start(items, 17, 13 * unit, steps);
        ASSERT_EQ(many.improve(0, steps), outcome::no_better);
        EXPECT_EQ(many.prove(13 * unit, 36 * unit, steps), 18 * unit);
    }
}

TEST(many_sizes, go_on_from_the_patterns_at_hand_when_ranks_hold_more) {
    auto const items = sorted(weights(35, 6));
    step_budget steps{1'000'000};
    many_sizes many;
    ASSERT_TRUE(many.suits(items.weights, 17, 36));
    many.start(items, 17, 13, steps);
    ASSERT_EQ(many.improve(0, steps), outcome::no_better);
    many.raise(18);
    EXPECT_EQ(many.improve(0, steps), outcome::fits);
}

TEST(many_sizes, leave_open_what_takes_more_steps_than_there_are) {
    auto const items = full_ranks(1, 100, 1);
    step_budget steps{100'000'000};
    many_sizes many;
    ASSERT_TRUE(many.suits(items.weights, 100, 1000));
    many.start(items, 100, 120, steps);
    step_budget none{0};
    EXPECT_EQ(many.improve(0, none), outcome::open);
}

TEST(many_sizes, suit_neither_few_ranks_nor_many_items_per_rank_nor_more_sizes_than_they_count) {
    many_sizes many;
    EXPECT_TRUE(many.suits(weights(34, 1), 17, 100));
    EXPECT_FALSE(many.suits(weights(34, 1), 16, 100));
    EXPECT_FALSE(many.suits(weights(17 * 14, 1), 17, 100));
    EXPECT_FALSE(many.suits(weights(34, 1), 17, std::uint64_t{1} << 61));

    weights all(257);
    std::iota(all.rbegin(), all.rend(), std::uint64_t{1});
    EXPECT_FALSE(many.suits(all, 100, 1000));
    all.pop_back();
    EXPECT_TRUE(many.suits(all, 100, 1000));
}

}  // namespace
}  // namespace evenkeel::detail::many_sizes_test
