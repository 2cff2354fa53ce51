// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <evenkeel/core/quality.hpp>

namespace evenkeel::quality_test {
namespace {

TEST(quality, has_no_gap_where_the_busiest_rank_meets_the_bound) {
    quality const even{.max_load = 1000, .total_load = 1900, .lower_bound = 1000, .ranks = {2}};
    EXPECT_EQ(even.gap(), 0.0);
}

TEST(quality, measures_the_busiest_rank_against_the_bound_and_the_mean) {
    quality const uneven{.max_load = 12, .total_load = 32, .lower_bound = 10, .ranks = {4}};
    EXPECT_DOUBLE_EQ(uneven.gap(), 0.2);
    EXPECT_DOUBLE_EQ(uneven.imbalance(), 1.5);
    EXPECT_DOUBLE_EQ(uneven.tail_floor(), 1.25);
}

TEST(quality, of_a_batch_without_load_is_perfect) {
    quality const idle{.max_load = 0, .total_load = 0, .lower_bound = 0, .ranks = {64}};
    EXPECT_EQ(idle.imbalance(), 1.0);
    EXPECT_EQ(idle.tail_floor(), 1.0);
    EXPECT_EQ(idle.gap(), 0.0);
    EXPECT_EQ(quality{}.imbalance(), 1.0);
}

TEST(quality, of_one_rank_is_perfect) {
    quality const alone{.max_load = 7, .total_load = 7, .lower_bound = 7, .ranks = {1}};
    EXPECT_EQ(alone.imbalance(), 1.0);
    EXPECT_EQ(alone.tail_floor(), 1.0);
    EXPECT_EQ(alone.gap(), 0.0);
}

TEST(quality, sees_one_token_too_many_in_large_loads) {
    constexpr std::uint64_t bound = std::uint64_t{1} << 62;
    quality const close{.max_load = bound + 1, .total_load = bound, .lower_bound = bound, .ranks = {1}};
    EXPECT_GT(close.gap(), 0.0);
}

TEST(quality, holds_at_the_end_of_the_number_range) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    quality const extreme{.max_load = largest, .total_load = largest, .lower_bound = 1, .ranks = {1024}};
    EXPECT_DOUBLE_EQ(extreme.imbalance(), 1024.0);
    EXPECT_DOUBLE_EQ(extreme.gap(), 18446744073709551614.0);
}

}  // namespace
}  // namespace evenkeel::quality_test
