// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/cost/padded_model.hpp>

namespace evenkeel::conv_attention_test {
namespace {

constexpr conv_attention_cost model{.padded = 6144, .linear = 24576, .quadratic = 1};

static_assert(model.padded_weight(10) == 61'440, "usable in constants");
static_assert(model.packed_weight(10) == 245'860);
static_assert(mixed_model<conv_attention_cost> && !padded_model<conv_attention_cost>);
static_assert(!cost_model<conv_attention_cost>, "its loads are no sums");

TEST(conv_attention_cost, of_an_absent_item_is_nothing) {
    EXPECT_EQ(model.padded_weight(0), 0u);
    EXPECT_EQ(model.packed_weight(0), 0u);
}

TEST(conv_attention_cost, refuses_to_wrap_in_either_part) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(conv_attention_cost{}.padded_weight(largest), largest);
    EXPECT_THROW((void)conv_attention_cost{.padded = 2}.padded_weight(largest), std::overflow_error);
    EXPECT_THAT([] { (void)conv_attention_cost{.quadratic = 1}.packed_weight(4294967296); },
                testing::ThrowsMessage<std::overflow_error>(
                    "conv_attention_cost: the weight of length 4294967296 exceeds 64 bits"));
}

TEST(conv_attention_cost, compares_by_its_coefficients) {
    EXPECT_EQ(conv_attention_cost{}, (conv_attention_cost{.padded = 1, .linear = 1, .quadratic = 0}));
    EXPECT_NE(conv_attention_cost{}, conv_attention_cost{.padded = 2});
}

}  // namespace
}  // namespace evenkeel::conv_attention_test
