// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/errors.hpp>

namespace evenkeel::errors_test {
namespace {

template <class Found>
auto refusing(Found found) {
    return [found] { throw_invalid("balance", "ranks", found, "at least 1"); };
}

auto says(char const* message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

TEST(throw_invalid, names_function_argument_value_and_what_was_expected) {
    EXPECT_THAT([] { throw_invalid("balance", "ranks", "0", "at least 1"); },
                says("balance: ranks = 0, expected at least 1"));
}

TEST(throw_invalid, writes_whole_numbers_of_any_type) {
    EXPECT_THAT(refusing(0), says("balance: ranks = 0, expected at least 1"));
    EXPECT_THAT(refusing(std::int8_t{-128}), says("balance: ranks = -128, expected at least 1"));
    EXPECT_THAT(refusing(std::uint8_t{65}), says("balance: ranks = 65, expected at least 1"));
    EXPECT_THAT(refusing(std::numeric_limits<std::int64_t>::min()),
                says("balance: ranks = -9223372036854775808, expected at least 1"));
    EXPECT_THAT(refusing(std::numeric_limits<std::uint64_t>::max()),
                says("balance: ranks = 18446744073709551615, expected at least 1"));
}

TEST(throw_invalid, writes_floating_numbers_so_that_small_and_large_ones_are_recognised) {
    EXPECT_THAT(refusing(-0.5), says("balance: ranks = -0.5, expected at least 1"));
    EXPECT_THAT(refusing(-3.0F), says("balance: ranks = -3, expected at least 1"));
    EXPECT_THAT(refusing(-1e-300), says("balance: ranks = -1e-300, expected at least 1"));
    EXPECT_THAT(refusing(-1e300), says("balance: ranks = -1e+300, expected at least 1"));
    EXPECT_THAT(refusing(-0.1L), says("balance: ranks = -0.1, expected at least 1"));
    EXPECT_THAT(refusing(std::numeric_limits<double>::quiet_NaN()), says("balance: ranks = nan, expected at least 1"));
    EXPECT_THAT(refusing(std::numeric_limits<double>::infinity()), says("balance: ranks = inf, expected at least 1"));
}

TEST(throw_invalid, writes_the_longest_number_in_full) {
    EXPECT_THROW(refusing(std::numeric_limits<long double>::lowest())(), std::invalid_argument);
    EXPECT_THAT(refusing(-2.2250738585072014e-308),
                says("balance: ranks = -2.2250738585072014e-308, expected at least 1"));
}

TEST(element, names_one_element_of_an_argument) { EXPECT_EQ(element("samples", 7), "samples[7]"); }

}  // namespace
}  // namespace evenkeel::errors_test
