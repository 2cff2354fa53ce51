// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cost/linear.hpp>

namespace evenkeel::linear_test {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

static_assert(linear_cost{.linear = 3}.weight(7) == 21, "usable in constants");

TEST(linear_cost, is_the_length_by_default) {
    EXPECT_EQ(evenkeel::linear_cost{}.weight(1000), 1000u);
    EXPECT_EQ(linear_cost{}.weight(largest), largest);
    EXPECT_EQ(linear_cost{}.weight(0), 0u);
}

TEST(linear_cost, refuses_to_wrap) {
    linear_cost const pixels{.linear = std::uint64_t{1} << 32};
    EXPECT_EQ(pixels.weight(4294967295), largest - 4294967295u);
    EXPECT_THAT(
        [&] { (void)pixels.weight(4294967296); },
        testing::ThrowsMessage<std::overflow_error>("linear_cost: the weight of length 4294967296 exceeds 64 bits"));
}

TEST(linear_cost, compares_by_its_coefficient) {
    EXPECT_EQ(linear_cost{}, linear_cost{.linear = 1});
    EXPECT_NE(linear_cost{}, linear_cost{.linear = 2});
}

}  // namespace
}  // namespace evenkeel::linear_test
