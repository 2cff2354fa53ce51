// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cost.hpp>

namespace evenkeel::load_of_test {
namespace {

using lengths_of = std::vector<std::uint64_t>;

TEST(load_of, is_what_the_model_says_of_the_batch) {
    auto const lengths = lengths_of{900, 100, 500};
    EXPECT_EQ(evenkeel::load_of(lengths, evenkeel::linear_cost{}), 1500u);
    EXPECT_EQ(evenkeel::load_of(lengths, evenkeel::padded_cost{}), 2700u);
    EXPECT_EQ(evenkeel::load_of(lengths, evenkeel::conv_attention_cost{.linear = 4}), 8700u);
    EXPECT_EQ(load_of(lengths, attention_cost{.quadratic = 1}), 1500u + 810'000 + 10'000 + 250'000);
}

TEST(load_of, of_nothing_is_nothing) {
    EXPECT_EQ(load_of(lengths_of{}, linear_cost{}), 0u);
    EXPECT_EQ(load_of(lengths_of{}, padded_cost{.fixed = 9}), 0u);
    EXPECT_EQ(load_of(lengths_of{}, conv_attention_cost{}), 0u);
}

TEST(load_of, pads_no_absent_sample) {
    EXPECT_EQ(load_of(lengths_of{0, 5, 0, 3}, padded_cost{.fixed = 1}), 12u);
    EXPECT_EQ(load_of(lengths_of{0, 5, 0, 3}, conv_attention_cost{}), 18u);
    // A model without a padded part leaves nothing to pad; one without a packed part is padded.
    EXPECT_EQ(load_of(lengths_of{0, 5, 0, 3}, conv_attention_cost{.padded = 0}), 8u);
    EXPECT_EQ(load_of(lengths_of{0, 5, 0, 3}, conv_attention_cost{.linear = 0}), 10u);
}

TEST(load_of, refuses_to_wrap) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(load_of(lengths_of{most / 2, most / 2 + 1}, linear_cost{}), most);
    EXPECT_THROW((void)load_of(lengths_of{most / 2 + 1, most / 2 + 1}, linear_cost{}), std::overflow_error);
    EXPECT_THAT(
        [] {
            (void)load_of(lengths_of{most / 2 + 1, 1}, padded_cost{});
        },
        testing::ThrowsMessage<std::overflow_error>("load_of: the load exceeds 64 bits"));
    EXPECT_THROW((void)load_of(lengths_of{most / 2, 1}, conv_attention_cost{}), std::overflow_error);
}

}  // namespace
}  // namespace evenkeel::load_of_test
