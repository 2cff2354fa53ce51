// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/cost/padded_model.hpp>

namespace evenkeel::padded_test {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

static_assert(padded_cost{.linear = 3, .quadratic = 2, .fixed = 5}.padded_weight(10) == 235, "usable in constants");
static_assert(padded_model<padded_cost> && !mixed_model<padded_cost>);
static_assert(!cost_model<padded_cost>, "its loads are no sums");

TEST(padded_cost, is_the_longest_length_by_default) {
    EXPECT_EQ(evenkeel::padded_cost{}.padded_weight(900), 900u);
    EXPECT_EQ(padded_cost{}.padded_weight(largest), largest);
}

TEST(padded_cost, weighs_the_longest_as_attention_weighs_a_sequence) {
    for (std::uint64_t length = 0; length < 2000; ++length) {
        EXPECT_EQ((padded_cost{.linear = 7, .quadratic = 3, .fixed = 11}.padded_weight(length)),
                  (attention_cost{.linear = 7, .quadratic = 3, .fixed = 11}.weight(length)));
    }
}

TEST(padded_cost, of_an_absent_item_is_nothing) {
    EXPECT_EQ((padded_cost{.linear = largest, .quadratic = largest, .fixed = largest}.padded_weight(0)), 0u);
}

TEST(padded_cost, refuses_to_wrap) {
    constexpr padded_cost square{.linear = 0, .quadratic = 1};
    EXPECT_THAT(
        [&] { (void)square.padded_weight(4294967296); },
        testing::ThrowsMessage<std::overflow_error>("padded_cost: the weight of length 4294967296 exceeds 64 bits"));
}

TEST(padded_cost, compares_by_its_coefficients) {
    EXPECT_EQ(padded_cost{}, (padded_cost{.linear = 1, .quadratic = 0, .fixed = 0}));
    EXPECT_NE(padded_cost{}, padded_cost{.fixed = 1});
}

}  // namespace
}  // namespace evenkeel::padded_test
