// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include <evenkeel/cost.hpp>

namespace evenkeel::cost_model_test {
namespace {

struct table_cost {
    std::uint64_t weight(std::uint64_t length) const { return length / 256 * 256; }
};

struct double_cost {
    double weight(std::uint64_t length) const { return static_cast<double>(length); }
};
struct narrow_cost {
    std::uint32_t weight(std::uint64_t length) const { return static_cast<std::uint32_t>(length); }
};
struct forgetful_cost {
    std::uint64_t weight(std::uint64_t length) { return length; }
};
struct unique_cost {
    std::unique_ptr<int> table;
    std::uint64_t weight(std::uint64_t length) const { return length; }
};
struct not_a_model {};

static_assert(cost_model<linear_cost> && cost_model<attention_cost> && cost_model<table_cost>);
static_assert(!cost_model<double_cost>, "doubles differ between compilers");
static_assert(!cost_model<narrow_cost>, "32 bits wrap");
static_assert(!cost_model<forgetful_cost>, "the same length costs the same, so weighing changes nothing");
static_assert(!cost_model<unique_cost>, "a model is a value");
static_assert(!cost_model<not_a_model> && !cost_model<std::uint64_t (*)(std::uint64_t)>);

template <cost_model Model>
void expect_the_laws(Model const& model) {
    EXPECT_EQ(model.weight(0), 0u);
    std::uint64_t shorter = 0;
    for (std::uint64_t length = 1; length < 5000; ++length) {
        EXPECT_GE(model.weight(length), shorter) << "length " << length;
        shorter = model.weight(length);
        EXPECT_EQ(model.weight(length), shorter) << "length " << length;
    }
}

TEST(cost_model, costs_nothing_for_an_absent_item_and_never_less_for_a_longer_one) {
    expect_the_laws(linear_cost{});
    expect_the_laws(linear_cost{.linear = 0});
    expect_the_laws(linear_cost{.linear = 1'000'003});
    expect_the_laws(attention_cost{});
    expect_the_laws(attention_cost{.linear = 0, .quadratic = 3});
    expect_the_laws(attention_cost{.linear = 24576, .quadratic = 1, .fixed = 1'000'000});
    expect_the_laws(attention_cost{.linear = 0, .quadratic = 0, .fixed = 5});
}

}  // namespace
}  // namespace evenkeel::cost_model_test
