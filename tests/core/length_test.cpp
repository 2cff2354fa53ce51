// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/length.hpp>

namespace evenkeel::length_test {
namespace {

static_assert(sample_length<std::int8_t> && sample_length<std::uint8_t> && sample_length<short> && sample_length<int>);
static_assert(sample_length<long long> && sample_length<unsigned long long> && sample_length<std::size_t>);
static_assert(sample_length<float> && sample_length<double> && sample_length<long double>);
static_assert(sample_length<int const&> && sample_length<double&&>, "what a projection returns");
static_assert(!sample_length<bool> && !sample_length<char> && !sample_length<wchar_t> && !sample_length<char8_t> &&
              !sample_length<char16_t> && !sample_length<char32_t>);
static_assert(!sample_length<bool const&> && !sample_length<char&>);
static_assert(!sample_length<std::string> && !sample_length<std::byte> && !sample_length<int*>);
static_assert(!sample_length<std::integral_constant<int, 3>>, "what converts to a number is not one");
__extension__ using int128 = __int128;
static_assert(!sample_length<int128>, "never cut to 64 bits");

static_assert(whole_length(std::int16_t{9}, 1, "balance", 0) == 9, "usable in constants");

template <class Length>
std::uint64_t whole(Length length, std::uint64_t resolution = 1) {
    return whole_length(length, resolution, "balance", 3);
}

template <class Length>
auto taking(Length length, std::uint64_t resolution = 1) {
    return [=] { (void)whole(length, resolution); };
}

auto refuses(std::string const& value) {
    return testing::ThrowsMessage<std::invalid_argument>("balance: samples[3] = " + value +
                                                         ", expected a length of at least 0");
}

auto overflows() {
    return testing::ThrowsMessage<std::overflow_error>("balance: samples[3]: the length exceeds 64 bits");
}

constexpr double two_to_64 = 18446744073709551616.0;

TEST(whole_length, counts_parts_of_a_unit) {
    EXPECT_EQ(evenkeel::whole_length(std::int16_t{9}, 1, "balance", 0), 9u);
    EXPECT_EQ(evenkeel::whole_length(2.54, 100, "balance", 0), 254u);
}

TEST(whole_length, names_the_argument_of_its_caller) {
    EXPECT_THAT([] { (void)whole_length(-1, 1, "field_per_token", 2, "lengths"); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "field_per_token: lengths[2] = -1, expected a length of at least 0"));
    EXPECT_THAT([] { (void)whole_length(two_to_64, 1, "field_per_token", 2, "lengths"); },
                testing::ThrowsMessage<std::overflow_error>("field_per_token: lengths[2]: the length exceeds 64 bits"));
}

template <class Length>
class whole_length_of_integers : public testing::Test {};
using integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t, long long, unsigned long long>;
TYPED_TEST_SUITE(whole_length_of_integers, integers);

TYPED_TEST(whole_length_of_integers, keeps_every_value) {
    for (int value = 0; value <= 127; ++value) {
        EXPECT_EQ(whole(static_cast<TypeParam>(value)), static_cast<std::uint64_t>(value));
        EXPECT_EQ(whole(static_cast<TypeParam>(value), 1000), static_cast<std::uint64_t>(value) * 1000);
    }
    constexpr TypeParam largest = std::numeric_limits<TypeParam>::max();
    EXPECT_EQ(whole(largest), static_cast<std::uint64_t>(largest));
}

TYPED_TEST(whole_length_of_integers, refuses_a_negative_one) {
    if constexpr (std::is_signed_v<TypeParam>) {
        EXPECT_THAT(taking(TypeParam{-1}), refuses("-1"));
        constexpr TypeParam lowest = std::numeric_limits<TypeParam>::min();
        EXPECT_THAT(taking(lowest), refuses(std::to_string(lowest)));
        EXPECT_THAT(taking(lowest, 0), refuses(std::to_string(lowest)));
    } else {
        EXPECT_EQ(whole(static_cast<TypeParam>(-1)), std::numeric_limits<TypeParam>::max());
    }
}

TYPED_TEST(whole_length_of_integers, refuses_to_wrap) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(whole(TypeParam{1}, largest), largest);
    EXPECT_THAT(taking(TypeParam{2}, largest), overflows());
    EXPECT_THAT(taking(TypeParam{2}, largest / 2 + 1), overflows());
    EXPECT_EQ(whole(TypeParam{0}, largest), 0u);
}

TEST(whole_length, multiplies_large_integers_exactly) {
    EXPECT_EQ(whole(std::uint32_t{4294967295}, 4294967297), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(whole(std::int64_t{9007199254740993}, 1), 9007199254740993u) << "2^53 + 1 is no double";
    EXPECT_THAT(taking(std::int64_t{1} << 33, std::uint64_t{1} << 31), overflows());
}

template <class Length>
class whole_length_of_floats : public testing::Test {};
using floats = testing::Types<float, double, long double>;
TYPED_TEST_SUITE(whole_length_of_floats, floats);

TYPED_TEST(whole_length_of_floats, rounds_half_away_from_zero) {
    using length = TypeParam;
    EXPECT_EQ(whole(length{0}), 0u);
    EXPECT_EQ(whole(-length{0}), 0u);
    EXPECT_EQ(whole(length{0.5}), 1u);
    EXPECT_EQ(whole(length{1.5}), 2u);
    EXPECT_EQ(whole(length{2.5}), 3u);
    EXPECT_EQ(whole(length{2.25}), 2u);
    EXPECT_EQ(whole(std::numeric_limits<length>::denorm_min()), 0u);
}

TYPED_TEST(whole_length_of_floats, equals_the_whole_length_where_the_value_is_whole) {
    for (int value = 0; value < 2000; ++value) {
        EXPECT_EQ(whole(static_cast<TypeParam>(value)), whole(value));
        EXPECT_EQ(whole(static_cast<TypeParam>(value), 24576), whole(value, 24576));
    }
}

TYPED_TEST(whole_length_of_floats, counts_parts_of_a_unit) {
    EXPECT_EQ(whole(TypeParam{2.5}, 100), 250u);
    EXPECT_EQ(whole(TypeParam(2.54L), 100), 254u);
    EXPECT_EQ(whole(TypeParam{0.001953125}, 256), 1u) << "half a part is rounded up";
    EXPECT_EQ(whole(TypeParam{2.5}, 0), 0u);
}

TYPED_TEST(whole_length_of_floats, refuses_what_is_negative_or_no_number) {
    using limits = std::numeric_limits<TypeParam>;
    EXPECT_THAT(taking(TypeParam{-1}), refuses("-1"));
    EXPECT_THAT(taking(TypeParam{-0.25}), refuses("-0.25"));
    EXPECT_THAT(taking(-limits::infinity()), refuses("-inf"));
    EXPECT_THAT(taking(limits::quiet_NaN()), refuses("nan"));
    EXPECT_THROW((void)whole(-limits::denorm_min()), std::invalid_argument) << "even if it would round to 0";
    EXPECT_THROW((void)whole(limits::lowest(), 0), std::invalid_argument);
}

TYPED_TEST(whole_length_of_floats, refuses_what_exceeds_64_bits) {
    using limits = std::numeric_limits<TypeParam>;
    EXPECT_THAT(taking(TypeParam(two_to_64)), overflows());
    EXPECT_THAT(taking(TypeParam(two_to_64 / 2), 2), overflows());
    EXPECT_EQ(whole(TypeParam(two_to_64 / 2), 1), std::uint64_t{1} << 63);
    EXPECT_THAT(taking(limits::max()), overflows());
    EXPECT_THAT(taking(limits::infinity()), overflows());
    EXPECT_THAT(taking(limits::infinity(), 0), overflows()) << "infinity * 0 is no number";
}

TEST(whole_length, rounds_down_what_is_just_below_half) {
    EXPECT_EQ(whole(std::nextafter(0.5F, 0.0F)), 0u);
    EXPECT_EQ(whole(std::nextafter(0.5, 0.0)), 0u);
}

TEST(whole_length, takes_the_last_float_and_double_below_2_to_the_64) {
    EXPECT_EQ(whole(std::nextafter(18446744073709551616.0F, 0.0F)), 18446742974197923840u);
    EXPECT_EQ(whole(std::nextafter(two_to_64, 0.0)), 18446744073709549568u);
}

TEST(whole_length, takes_a_long_double_as_the_nearest_double) {
    EXPECT_EQ(whole(9007199254740993.0L), 9007199254740992u);
    EXPECT_EQ(whole(std::nextafter(0.5L, 0.0L)), 1u);
    EXPECT_EQ(whole(std::numeric_limits<long double>::denorm_min()), 0u);
}

}  // namespace
}  // namespace evenkeel::length_test
