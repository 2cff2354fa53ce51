// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/mixed_bound.hpp>

#include "tests/solve/detail/mixed_items.hpp"

namespace evenkeel::detail::mixed_bound_test {
namespace {

using weights = std::vector<std::uint64_t>;

/// The bound of items that weigh `padded` and `packed` times their length.
std::uint64_t bound_of(weights const& lengths, std::size_t ranks, std::uint64_t padded, std::uint64_t packed) {
    return mixed_bound(test::mixed_items(lengths, padded, packed), ranks);
}

TEST(mixed_bound, is_the_mean_the_heaviest_or_what_the_heaviest_cost_together) {
    EXPECT_EQ(bound_of({4, 3, 3, 2}, 2, 0, 1), 6u);
    EXPECT_EQ(bound_of({9, 1, 1}, 2, 1, 1), 18u);
    // Two of the three share a rank: 2 * 9 padded and 9 + 8 packed, less if they are the lighter two: 2 * 8 + 8 + 8.
    EXPECT_EQ(bound_of({9, 8, 8}, 2, 1, 1), 32u);
}

TEST(mixed_bound, is_a_multiple_of_what_all_weights_have_in_common) {
    // The mean is 6 * 7 * 256 / 4, and all weights are multiples of 512.
    EXPECT_EQ(bound_of({256, 256, 256, 256, 256, 256, 256}, 4, 2, 4), 3072u);
    EXPECT_EQ(bound_of({1, 1, 1, 2, 2, 2, 2, 2, 2}, 4, 0, 512), 2048u);
}

TEST(mixed_bound, counts_what_long_samples_make_others_pad) {
    // Four samples of 500 need a rank each. Under a bound C, a rank that takes others as well pads the first of them to
    // 100, and of the C - 600 that are left at most a quarter is padding in its own right: 100 - (C - 600) / 4 is lost.
    // With a mean of 750 and that, C = 800.
    weights lengths(4, 100);
    lengths.insert(lengths.end(), 40, 5);
    EXPECT_GE(bound_of(lengths, 4, 1, 4), 799u);
    EXPECT_LE(bound_of(lengths, 4, 1, 4), 800u);
}

TEST(mixed_bound, holds_at_the_end_of_the_number_range) {
    std::uint64_t const long_one = std::uint64_t{1} << 60;
    EXPECT_EQ(bound_of({long_one, long_one}, 2, 1, 1), 2 * long_one);
    EXPECT_EQ(bound_of({long_one, 1}, 1, 1, 2), 4 * long_one + 2);
}

}  // namespace
}  // namespace evenkeel::detail::mixed_bound_test
