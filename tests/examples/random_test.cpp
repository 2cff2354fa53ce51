// SPDX-License-Identifier: Apache-2.0
#include "examples/support/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace evenkeel::examples::random_test {
namespace {

TEST(splitmix64, gives_the_published_sequence) {
    auto next = splitmix64{1234567};
    for (auto const expected : {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                UINT64_C(9817491932198370423), UINT64_C(4593380528125082431)}) {
        EXPECT_EQ(next(), expected);
    }
}

TEST(random_source, gives_the_published_sequence_of_xoshiro256_plus_plus) {
    auto next = random_source{std::array<std::uint64_t, 4>{1, 2, 3, 4}};
    for (auto const expected : {UINT64_C(41943041), UINT64_C(58720359), UINT64_C(3588806011781223),
                                UINT64_C(3591011842654386), UINT64_C(9228616714210784205)}) {
        EXPECT_EQ(next(), expected);
    }
}

TEST(random_source, depends_on_the_seed_alone) {
    auto one = random_source{7};
    auto same = random_source{7};
    auto other = random_source{8};
    EXPECT_EQ(one(), same());
    EXPECT_NE(one(), other());
}

TEST(random_source, keeps_its_draws_in_range) {
    auto random = random_source{1};
    auto seen = std::array<int, 5>{};
    for (auto i = 0; i < 10'000; ++i) {
        auto const share = random.uniform();
        EXPECT_TRUE(share >= 0 && share < 1);
        ++seen.at(random.between(3, 7) - 3);
    }
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 1'800);
}

TEST(random_source, draws_a_normal_with_mean_0_and_deviation_1) {
    constexpr auto count = 100'000;
    auto random = random_source{1};
    auto sum = 0.0;
    auto squares = 0.0;
    for (auto i = 0; i < count; ++i) {
        auto const value = random.normal();
        sum += value;
        squares += value * value;
    }
    EXPECT_NEAR(sum / count, 0, 0.01);
    EXPECT_NEAR(squares / count, 1, 0.02);
}

}  // namespace
}  // namespace evenkeel::examples::random_test
