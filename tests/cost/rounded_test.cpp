// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/rounded.hpp>

namespace evenkeel::rounded_test {
namespace {

static_assert(cost_model<rounded_cost<attention_cost>>);
static_assert(rounded_cost{linear_cost{}, 16}.weight(1000) == 1008, "usable in constants");

TEST(rounded_length, goes_up_to_the_next_multiple) {
    EXPECT_EQ(rounded_length(1000, 16), 1008u);
    EXPECT_EQ(rounded_length(1008, 16), 1008u);
    EXPECT_EQ(rounded_length(1, 16), 16u);
    EXPECT_EQ(rounded_length(7, 1), 7u);
}

TEST(rounded_length, of_nothing_is_nothing) { EXPECT_EQ(rounded_length(0, 16), 0u); }

TEST(rounded_length, refuses_the_multiple_zero_and_what_exceeds_64_bits) {
    EXPECT_THROW((void)rounded_length(1, 0), std::invalid_argument);
    EXPECT_THROW((void)rounded_length(std::numeric_limits<std::uint64_t>::max(), 16), std::overflow_error);
}

TEST(rounded_cost, is_the_cost_of_what_is_run) {
    auto const model = rounded_cost{attention_cost{.linear = 24576, .quadratic = 1}, 16};

    EXPECT_EQ(model.run_length(1000), 1008u);
    EXPECT_EQ(model.weight(1000), (attention_cost{.linear = 24576, .quadratic = 1}.weight(1008)));
    EXPECT_EQ(model.weight(0), 0u);
}

}  // namespace
}  // namespace evenkeel::rounded_test
