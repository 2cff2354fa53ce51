// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <evenkeel/comm/deadline.hpp>

namespace evenkeel::comm::deadline_test {
namespace {

using namespace std::chrono_literals;
using clock = deadline::clock;

static_assert(std::convertible_to<std::chrono::minutes, deadline>,
              "a duration may stand where a deadline is asked for");
static_assert(!std::convertible_to<int, deadline>, "a number has no unit");
static_assert(!std::convertible_to<std::chrono::system_clock::time_point, deadline>, "that clock can be set");

template <class Budget>
void expect_end_of_clock(Budget budget) {
    deadline const until = budget;
    EXPECT_EQ(until.at(), clock::time_point::max());
    EXPECT_FALSE(until.passed());
}

template <class Budget>
void expect_passed(Budget budget) {
    deadline const until = budget;
    EXPECT_LE(until.at(), clock::now());
    EXPECT_GT(until.at(), clock::now() - 1h);
    EXPECT_TRUE(until.passed());
}

TEST(deadline, is_a_moment_from_now) {
    auto const before = clock::now();
    deadline const until = 20s;
    auto const after = clock::now();
    EXPECT_GE(until.at(), before + 20s);
    EXPECT_LE(until.at(), after + 20s);
    EXPECT_FALSE(until.passed());
}

TEST(deadline, keeps_fractions_of_a_second) {
    auto const before = clock::now();
    deadline const until = std::chrono::duration<double>{1.5};
    EXPECT_GE(until.at(), before + 1500ms);
    EXPECT_LE(until.at(), clock::now() + 1500ms);
}

TEST(deadline, passes) {
    deadline const until = 2ms;
    while (clock::now() < until.at()) {
    }
    EXPECT_TRUE(until.passed());
}

TEST(deadline, has_passed_with_a_budget_of_zero_or_less) {
    expect_passed(0s);
    expect_passed(-1ns);
    expect_passed(-3h);
    expect_passed(std::chrono::nanoseconds::min());
    expect_passed(std::chrono::hours::min());
    expect_passed(std::chrono::duration<double>{-std::numeric_limits<double>::infinity()});
}

TEST(deadline, is_the_end_of_the_clock_with_a_budget_beyond_it) {
    expect_end_of_clock(std::chrono::nanoseconds::max());
    expect_end_of_clock(std::chrono::seconds::max());
    expect_end_of_clock(std::chrono::hours::max());
    expect_end_of_clock(std::chrono::years{1000});
    expect_end_of_clock(std::chrono::duration<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()});
    expect_end_of_clock(std::chrono::duration<double>{std::numeric_limits<double>::infinity()});
    expect_end_of_clock(std::chrono::duration<float>{1e30F});
}

TEST(deadline, is_never_past_for_a_budget_near_the_end_of_the_clock) {
    auto const left = clock::time_point::max() - clock::now();
    for (auto const budget : {left - 1h, left - 1s, left - 1us, left, left + 1us}) {
        EXPECT_GT(deadline{budget}.at(), clock::now() + 1h);
    }
}

}  // namespace
}  // namespace evenkeel::comm::deadline_test
