// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/lower_bound.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::lower_bound_test {
namespace {

using weights = std::vector<std::uint64_t>;

TEST(lower_bound, is_the_mean_or_what_the_pigeonhole_principle_forces) {
    EXPECT_EQ(lower_bound(weights{6, 6, 4, 4, 4}, rank_count{2}), 12u);
    EXPECT_EQ(lower_bound(weights{9, 9, 9}, rank_count{2}), 18u);
}

TEST(lower_bound, of_nothing_is_nothing) {
    EXPECT_EQ(lower_bound(weights{}, rank_count{3}), 0u);
    EXPECT_EQ(lower_bound(weights{0, 0}, rank_count{3}), 0u);
}

TEST(lower_bound, is_at_least_the_heaviest_item) {
    EXPECT_EQ(lower_bound(weights{1, 7, 2}, rank_count{2}), 7u);
    EXPECT_EQ(lower_bound(weights{5, 3}, rank_count{3}), 5u);
}

TEST(lower_bound, rounds_the_mean_up_to_what_tiles_can_add_up_to) {
    // The mean is 1152, neither reached by the heaviest nor by any pair.
    EXPECT_EQ(lower_bound(weights{512, 256, 1024, 512}, rank_count{2}), 1280u);
    EXPECT_EQ(lower_bound(weights{256, 512, 256, 256}, rank_count{3}), 512u);
    EXPECT_EQ(lower_bound(weights{3, 2, 2, 1}, rank_count{3}), 3u);
}

TEST(lower_bound, counts_three_on_one_rank_when_there_is_one_more_than_two_each) {
    // The five heaviest on two ranks: some rank has three of them, at best the lightest three.
    EXPECT_EQ(lower_bound(weights{5, 4, 4, 4, 4}, rank_count{2}), 12u);
    EXPECT_EQ(lower_bound(weights{4, 4, 4, 4, 4, 1}, rank_count{2}), 12u);
}

TEST(lower_bound, of_one_rank_is_everything) { EXPECT_EQ(lower_bound(weights{5, 0, 4, 11}, rank_count{1}), 20u); }

TEST(lower_bound, holds_at_the_end_of_the_number_range) {
    constexpr std::uint64_t half = std::numeric_limits<std::uint64_t>::max() / 2;
    EXPECT_EQ(lower_bound(weights{half, half}, rank_count{2}), half);
    EXPECT_EQ(lower_bound(weights{half, half, 1}, rank_count{2}), half + 1);
    EXPECT_THROW((void)lower_bound(weights{half, half, 2}, rank_count{2}), std::overflow_error);
}

TEST(lower_bound, needs_a_rank) {
    EXPECT_THAT([] { (void)lower_bound(weights{1}, rank_count{0}); },
                testing::ThrowsMessage<std::invalid_argument>("lower_bound: ranks = 0, expected at least 1"));
}

class lower_bound_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(lower_bound_law, is_never_above_the_optimum) {
    auto const [lengths, ranks] = test::small_batch(GetParam());
    EXPECT_LE(lower_bound(lengths, ranks), test::optimum(lengths, ranks));
}

TEST_P(lower_bound_law, is_at_least_the_mean_and_the_heaviest) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 9, 1 + GetParam() % 5);
    std::uint64_t total = 0;
    std::uint64_t heaviest = 0;
    for (auto const length : lengths) {
        total += length;
        heaviest = std::max(heaviest, length);
    }
    auto const bound = lower_bound(lengths, ranks);
    EXPECT_GE(bound * ranks.value, total);
    EXPECT_GE(bound, heaviest);
}

INSTANTIATE_TEST_SUITE_P(seeds, lower_bound_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

}  // namespace
}  // namespace evenkeel::lower_bound_test
