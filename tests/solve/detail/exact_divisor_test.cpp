// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/exact_divisor.hpp>
#include <evenkeel/solve/detail/unit_weights.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::exact_divisor_test {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(exact_divisor, does_what_division_does) {
    for (std::uint64_t divisor = 1; divisor <= 600; ++divisor) {
        exact_divisor const by{divisor};
        for (std::uint64_t number = 0; number <= 2000; ++number) {
            for (std::uint64_t const of : {number, largest - number}) {
                ASSERT_EQ(by.divides(of), of % divisor == 0) << of << " by " << divisor;
                if (of % divisor == 0) {
                    ASSERT_EQ(by.quotient(of), of / divisor) << of << " by " << divisor;
                }
            }
        }
    }
}

TEST(exact_divisor, knows_the_multiples_of_large_numbers) {
    test::seeded random{1};
    for (int turn = 0; turn < 20'000; ++turn) {
        std::uint64_t const divisor = 1 + random.up_to(largest - 1) / (std::uint64_t{1} << random.up_to(63));
        exact_divisor const by{divisor};
        std::uint64_t const quotient = random.up_to(largest / divisor - 1);
        ASSERT_TRUE(by.divides(divisor * quotient));
        ASSERT_EQ(by.quotient(divisor * quotient), quotient);
        std::uint64_t const any = random.up_to(largest - 1);
        ASSERT_EQ(by.divides(any), any % divisor == 0) << any << " by " << divisor;
    }
}

TEST(unit_weights, finds_the_greatest_common_divisor_late_in_the_batch_too) {
    unit_weights weights;
    std::vector<std::uint64_t> batch{0, 576, 1152, 0, 288, 576, 432};
    weights.assign(batch);
    EXPECT_EQ(weights.unit(), 144u);
    EXPECT_EQ(std::vector(weights.weights().begin(), weights.weights().end()),
              (std::vector<std::uint64_t>{0, 4, 8, 0, 2, 4, 3}));
    batch.push_back(1);
    weights.assign(batch);
    EXPECT_EQ(weights.unit(), 1u);
    EXPECT_EQ(weights.weights().data(), batch.data());
    weights.assign({});
    EXPECT_EQ(weights.unit(), 1u);
}

}  // namespace
}  // namespace evenkeel::detail::exact_divisor_test
