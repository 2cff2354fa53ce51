// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/few_sizes.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::few_sizes_test {
namespace {

using weights = std::vector<std::uint64_t>;

/// Tiles of one to five with a quadratic cost: 1, 4, 9, 16 and 25, heaviest first.
weights tiles(std::uint64_t seed, std::size_t count) {
    test::seeded random{seed};
    weights result(count);
    for (auto& weight : result) {
        weight = random.between(1, 5);
        weight *= weight;
    }
    std::ranges::sort(result, std::greater{});
    return result;
}

std::uint64_t mean_of(weights const& of, std::size_t ranks) {
    return (std::accumulate(of.begin(), of.end(), std::uint64_t{0}) + ranks - 1) / ranks;
}

TEST(few_sizes, give_nearly_all_ranks_no_more_than_the_bound) {
    std::size_t const ranks = 64;
    auto const falling = tiles(1, ranks * 10);
    auto const mean = mean_of(falling, ranks);
    step_budget steps{10'000'000};
    few_sizes few;
    ASSERT_TRUE(few.suits(falling, mean, 2 * mean, steps));
    few.start(ranks, mean);
    ASSERT_TRUE(few.improve(steps));
    EXPECT_GE(few.bound(), mean);

    weights loads(ranks);
    std::vector<std::uint32_t> rank_of(falling.size());
    few.place(loads, rank_of);

    weights summed(ranks);
    for (std::size_t item = 0; item < falling.size(); ++item) {
        summed.at(rank_of[item]) += falling[item];
    }
    EXPECT_EQ(loads, summed);
    EXPECT_LE(std::ranges::count_if(loads, [&](std::uint64_t load) { return load > few.bound(); }), 5);
}

TEST(few_sizes, suit_neither_small_batches_nor_many_sizes_nor_large_loads_nor_few_steps) {
    step_budget const steps{10'000'000};
    few_sizes few;
    EXPECT_TRUE(few.suits(tiles(1, 32), 100, 200, steps));
    EXPECT_FALSE(few.suits(tiles(1, 31), 100, 200, steps));
    EXPECT_FALSE(few.suits(tiles(1, 32), 100, 200, step_budget{1000}));
    EXPECT_FALSE(few.suits(tiles(1, 32), 1'000'000, 2'000'000, steps));

    weights many(32);
    std::iota(many.rbegin(), many.rend(), std::uint64_t{1});
    EXPECT_FALSE(few.suits(many, 100, 200, steps));
}

}  // namespace
}  // namespace evenkeel::detail::few_sizes_test
