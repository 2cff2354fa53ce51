// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/dual_feasible.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/lower_bound.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::detail::dual_feasible_test {
namespace {

using weights = std::vector<std::uint64_t>;

std::uint64_t raise(weights const& falling, std::size_t ranks, std::uint64_t bound, std::uint64_t best,
                    std::uint64_t effort = 1'000'000) {
    step_budget steps{effort};
    dual_feasible prove;
    return prove(falling, ranks, bound, best, steps);
}

TEST(dual_feasible, sees_that_two_items_do_not_fit_together) {
    // 26 on three ranks are 9 each, but any two are 8, and no two 6s or 6 and 4 fit into 9.
    EXPECT_EQ(raise({6, 6, 6, 4, 4}, 3, 9, 12), 10u);
}

TEST(dual_feasible, counts_in_steps_that_nearly_all_sizes_share) {
    // 40 on two ranks are 20 each; but of 20 or less a rank has six 3s at most, and without the 1 there are thirteen.
    EXPECT_EQ(raise({9, 9, 9, 6, 6, 1}, 2, 20, 22), 21u);
}

TEST(dual_feasible, counts_in_part_what_is_beyond_whole_steps) {
    // 51 on two ranks are 26 each; but without the 7 a rank has 24 at most, three 8s, and with it 23, as with 8 and 8.
    EXPECT_EQ(raise({12, 8, 8, 8, 8, 7}, 2, 26, 30), 27u);
}

TEST(dual_feasible, takes_whole_parts_of_frequent_weights_for_steps) {
    // 27 on two ranks are 14 each; but with the 3 a rank has 11 or 15, without it 12 or 16.
    EXPECT_EQ(raise({8, 8, 4, 4, 3}, 2, 14, 17), 15u);
}

TEST(dual_feasible, proves_nothing_above_the_best_known_load) {
    EXPECT_EQ(raise({6, 6, 6, 4, 4}, 3, 9, 9), 9u);
    EXPECT_EQ(raise({6, 6, 6, 4, 4}, 3, 10, 10), 10u);
}

TEST(dual_feasible, leaves_a_bound_that_can_be_met) { EXPECT_EQ(raise({5, 4, 3, 2, 2}, 2, 8, 9), 8u); }

TEST(dual_feasible, stops_when_the_steps_are_spent) { EXPECT_EQ(raise({6, 6, 6, 4, 4}, 3, 9, 12, 0), 9u); }

TEST(dual_feasible, leaves_weights_alone_whose_values_could_wrap) {
    constexpr std::uint64_t large = std::numeric_limits<std::uint64_t>::max() / 6;
    EXPECT_EQ(raise(weights(5, large), 3, large, 2 * large), large);
}

class dual_feasible_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(dual_feasible_law, is_never_above_the_optimum) {
    test::seeded random{GetParam()};
    // Two or three items per rank, of few sizes: where the bound differs from the mean.
    std::size_t const ranks = random.between(2, 4);
    weights items(random.between(ranks, 10));
    std::uint64_t const most = random.up_to(1) == 0 ? 12 : 200;
    // Nearly all sizes are multiples of the same, if it is not 1; sometimes costs grow with the square as well.
    std::uint64_t const common = random.between(1, 9);
    bool const squared = random.up_to(2) == 0;
    for (auto& item : items) {
        item = random.between(most / 6, most);
        item = random.up_to(3) == 0 ? item : std::max(common, item / common * common);
        item = squared ? item * 1000 + item * item : item;
    }
    std::ranges::sort(items, std::greater{});
    std::erase(items, 0U);
    auto const simple = evenkeel::lower_bound(items, {ranks});
    auto const optimum = test::optimum(items, {ranks});
    EXPECT_LE(raise(items, ranks, simple, optimum + random.up_to(20)), optimum);
}

INSTANTIATE_TEST_SUITE_P(seeds, dual_feasible_law, testing::Range(std::uint64_t{0}, std::uint64_t{500}));

}  // namespace
}  // namespace evenkeel::detail::dual_feasible_test
