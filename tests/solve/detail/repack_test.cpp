// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repack.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::detail::repack_test {
namespace {

using testing::ElementsAre;
using weights = std::vector<std::uint64_t>;
using ranks = std::vector<std::uint32_t>;

placement place(weights const& falling, ranks const& rank_of, std::size_t count) {
    placement result;
    result.reset(falling, rank_of, count);
    return result;
}

TEST(repack, gives_the_heaviest_items_the_company_that_fills_their_rank) {
    // 7 6 | 8 2 | 5 5 2 | 9 2
    auto loads = place({9, 8, 7, 6, 5, 5, 2, 2, 2}, {3, 1, 0, 0, 2, 2, 1, 2, 3}, 4);
    step_budget steps{10'000};
    repack pack;
    ASSERT_TRUE(pack(loads, ranks{0, 1, 2, 3}, 12, steps));

    EXPECT_THAT(loads.weights(0), ElementsAre(9, 2));
    EXPECT_THAT(loads.weights(1), ElementsAre(8, 2, 2));
    EXPECT_THAT(loads.weights(2), ElementsAre(7, 5));
    EXPECT_THAT(loads.weights(3), ElementsAre(6, 5));
    EXPECT_LT(steps.left(), 10'000u);
}

TEST(repack, leaves_the_placement_as_it_was_where_it_finds_nothing) {
    weights const falling{6, 6, 6, 4, 4};
    ranks const rank_of{0, 1, 2, 0, 1};
    auto loads = place(falling, rank_of, 4);
    step_budget steps{10'000};
    repack pack;
    // Only four of the five fit apart; then, more than there is room for.
    EXPECT_FALSE(pack(loads, ranks{0, 1, 2}, 9, steps));
    EXPECT_FALSE(pack(loads, ranks{0, 1, 2}, 8, steps));
    ranks stored(falling.size());
    loads.store(stored);
    EXPECT_EQ(stored, rank_of);
}

TEST(repack, leaves_ranks_alone_that_have_many_items) {
    auto loads = place(weights(15, 1), ranks{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 2);
    step_budget steps{10'000};
    repack pack;
    EXPECT_FALSE(pack(loads, ranks{0, 1}, 8, steps));
}

TEST(repack, reaches_the_optimum_of_a_few_ranks_nearly_always_and_never_less) {
    std::size_t reached = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        test::seeded random{seed};
        std::size_t const count = random.between(2, repack::most_ranks);
        weights falling(random.between(count, 10));
        ranks rank_of(falling.size());
        for (std::size_t item = 0; item < falling.size(); ++item) {
            falling[item] = random.between(5, 60);
            rank_of[item] = static_cast<std::uint32_t>(random.up_to(count - 1));
        }
        ranks all(count);
        std::iota(all.begin(), all.end(), 0U);
        std::ranges::sort(falling, std::greater{});
        auto const optimum = test::optimum(falling, {count});
        auto loads = place(falling, rank_of, count);
        step_budget steps{100'000};
        repack pack;
        EXPECT_FALSE(pack(loads, all, optimum - 1, steps));
        if (pack(loads, all, optimum, steps)) {
            ranks stored(falling.size(), 99);
            loads.store(stored);
            EXPECT_EQ(loads.busiest_load(), optimum);
            EXPECT_EQ(std::ranges::count(stored, 99U), 0);
            ++reached;
        }
    }
    EXPECT_GE(reached, 490u);
}

}  // namespace
}  // namespace evenkeel::detail::repack_test
