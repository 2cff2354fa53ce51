// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/checked.hpp>

namespace evenkeel::checked_test {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

static_assert(checked_add(2, 3, "total load") == 5, "usable in constants");
static_assert(checked_multiply(2, 3, "a weight") == 6);

TEST(checked_add, reaches_the_end_of_the_number_range) {
    EXPECT_EQ(checked_add(largest - 1, 1, "total load"), largest);
    EXPECT_EQ(checked_add(largest, 0, "total load"), largest);
    EXPECT_EQ(checked_add(0, largest, "total load"), largest);
}

TEST(checked_add, refuses_to_wrap) {
    EXPECT_THAT([] { (void)checked_add(largest, 1, "total load"); },
                testing::ThrowsMessage<std::overflow_error>("total load exceeds 64 bits"));
    EXPECT_THROW((void)checked_add(1, largest, "total load"), std::overflow_error);
    EXPECT_THROW((void)checked_add(largest, largest, "total load"), std::overflow_error);
}

TEST(checked_multiply, reaches_the_end_of_the_number_range) {
    EXPECT_EQ(checked_multiply(largest, 1, "a weight"), largest);
    EXPECT_EQ(checked_multiply(largest, 0, "a weight"), 0u);
    EXPECT_EQ(checked_multiply(4294967295u, 4294967297u, "a weight"), largest);
}

TEST(checked_multiply, refuses_to_wrap) {
    EXPECT_THAT([] { (void)checked_multiply(4294967296u, 4294967296u, "a weight"); },
                testing::ThrowsMessage<std::overflow_error>("a weight exceeds 64 bits"));
    EXPECT_THROW((void)checked_multiply(largest, 2, "a weight"), std::overflow_error);
}

}  // namespace
}  // namespace evenkeel::checked_test
