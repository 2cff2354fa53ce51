// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/length.hpp>
#include <evenkeel/cost/attention.hpp>

namespace evenkeel::attention_test {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

static_assert(attention_cost{.quadratic = 2, .fixed = 5}.weight(10) == 215, "usable in constants");

auto weighing(attention_cost model, std::uint64_t length) {
    return [=] { (void)model.weight(length); };
}

auto overflows(std::uint64_t length) {
    return testing::ThrowsMessage<std::overflow_error>("attention_cost: the weight of length " +
                                                       std::to_string(length) + " exceeds 64 bits");
}

TEST(attention_cost, adds_the_linear_the_quadratic_and_the_fixed_part) {
    EXPECT_EQ((evenkeel::attention_cost{.linear = 24576, .quadratic = 1}.weight(1000)), 25'576'000u);
    EXPECT_EQ((attention_cost{.linear = 0, .quadratic = 1}.weight(1000)), 1'000'000u);
    EXPECT_EQ((attention_cost{.linear = 0, .quadratic = 0, .fixed = 9}.weight(1000)), 9u);
    EXPECT_EQ(attention_cost{}.weight(1000), 1000u);
}

TEST(attention_cost, of_an_absent_item_is_nothing) {
    EXPECT_EQ((attention_cost{.linear = 3, .quadratic = 2, .fixed = 9}.weight(0)), 0u);
    EXPECT_EQ((attention_cost{.linear = largest, .quadratic = largest, .fixed = largest}.weight(0)), 0u);
}

TEST(attention_cost, tells_one_long_document_from_two_short_ones_of_as_many_tokens) {
    attention_cost const model{.linear = 24576, .quadratic = 1};
    EXPECT_GT(model.weight(1024), 2 * model.weight(512));
}

TEST(attention_cost, squares_32_bit_lengths_without_wrapping) {
    attention_cost const quadratic{.linear = 0, .quadratic = 1};
    auto const lengths = std::vector<std::int32_t>{50000, 46341};
    std::vector<std::uint64_t> weights;
    for (auto const length : lengths) {
        weights.push_back(quadratic.weight(whole_length(length, 1, "balance", weights.size())));
    }
    EXPECT_EQ(weights, (std::vector<std::uint64_t>{2'500'000'000, 2'147'488'281}));
}

TEST(attention_cost, reaches_the_end_of_the_number_range) {
    EXPECT_EQ((attention_cost{.linear = 0, .quadratic = 1}.weight(4294967295)), 18446744065119617025u);
    EXPECT_EQ((attention_cost{.linear = 2, .quadratic = 1}.weight(4294967295)), largest);
    EXPECT_EQ((attention_cost{.linear = 1, .quadratic = 0, .fixed = 1}.weight(largest - 1)), largest);
}

TEST(attention_cost, refuses_to_wrap_in_any_of_its_parts) {
    EXPECT_THAT(weighing({.linear = 0, .quadratic = 1}, 4294967296), overflows(4294967296));
    EXPECT_THAT(weighing({.linear = 0, .quadratic = largest}, 2), overflows(2));
    EXPECT_THAT(weighing({.linear = 0, .quadratic = std::uint64_t{1} << 63}, 2), overflows(2)) << "wraps to 0";
    EXPECT_THAT(weighing({.linear = largest, .quadratic = 1}, 1), overflows(1));
    EXPECT_THAT(weighing({.linear = 2, .quadratic = 0}, largest), overflows(largest));
    EXPECT_THAT(weighing({.linear = 2, .quadratic = 1, .fixed = 1}, 4294967295), overflows(4294967295));
}

TEST(attention_cost, compares_by_its_coefficients) {
    EXPECT_EQ(attention_cost{}, (attention_cost{.linear = 1, .quadratic = 0, .fixed = 0}));
    EXPECT_NE(attention_cost{}, attention_cost{.quadratic = 1});
    EXPECT_NE(attention_cost{}, attention_cost{.fixed = 1});
}

}  // namespace
}  // namespace evenkeel::attention_test
