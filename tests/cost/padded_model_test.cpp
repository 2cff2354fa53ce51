// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include <evenkeel/cost.hpp>

namespace evenkeel::padded_model_test {
namespace {

struct blocks_cost {
    std::uint64_t padded_weight(std::uint64_t longest) const { return (longest + 127) / 128; }
};
struct two_faced_cost {
    std::uint64_t weight(std::uint64_t length) const { return length; }
    std::uint64_t padded_weight(std::uint64_t longest) const { return longest; }
};
struct narrow_padded_cost {
    std::uint32_t padded_weight(std::uint64_t longest) const { return static_cast<std::uint32_t>(longest); }
};

static_assert(padded_model<blocks_cost>);
static_assert(!padded_model<two_faced_cost> && cost_model<two_faced_cost>, "loads are sums or they are padded");
static_assert(!padded_model<narrow_padded_cost>, "32 bits wrap");
static_assert(!padded_model<linear_cost> && !mixed_model<linear_cost>);

template <class Model>
void expect_the_laws(Model const& model) {
    EXPECT_EQ(model.padded_weight(0), 0u);
    for (std::uint64_t length = 1; length < 5000; ++length) {
        EXPECT_GE(model.padded_weight(length), model.padded_weight(length - 1)) << "length " << length;
        if constexpr (mixed_model<Model>) {
            EXPECT_GE(model.packed_weight(length), model.packed_weight(length - 1)) << "length " << length;
        }
    }
}

TEST(padded_model, weighs_nothing_for_an_absent_item_and_never_less_for_a_longer_one) {
    expect_the_laws(blocks_cost{});
    expect_the_laws(padded_cost{.linear = 3, .quadratic = 1, .fixed = 90});
    expect_the_laws(padded_cost{.linear = 0, .fixed = 4});
    expect_the_laws(conv_attention_cost{.padded = 6144, .linear = 24576, .quadratic = 1});
}

}  // namespace
}  // namespace evenkeel::padded_model_test
