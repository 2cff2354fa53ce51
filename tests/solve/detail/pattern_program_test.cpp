// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/pattern_program.hpp>
#include <evenkeel/solve/lower_bound.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::detail::pattern_program_test {
namespace {

using sizes = std::vector<size_count>;

std::uint64_t mean_of(sizes const& of, std::size_t ranks) {
    std::uint64_t total = 0;
    for (auto const& [weight, count] : of) {
        total += weight * count;
    }
    return (total + ranks - 1) / ranks;
}

/// Improves as long as that is possible.
pattern_program solved(sizes const& of, std::size_t ranks, std::uint64_t capacity, std::uint64_t most) {
    pattern_program result;
    result.reset(of, ranks, capacity, most);
    while (result.improve()) {
    }
    return result;
}

TEST(pattern_program, sees_which_sums_the_sizes_can_make) {
    // 24 on two ranks, and 5 7 is 12.
    auto const one_of_each = solved({{7, 2}, {5, 2}}, 2, 12, 24);
    EXPECT_EQ(one_of_each.capacity(), 12u);
    EXPECT_TRUE(one_of_each.fits());

    // 78 on four ranks are 20 each, which 5 5 5 5 makes; but the 8s make 16, or 18 with a 5.
    EXPECT_EQ(solved({{8, 6}, {5, 6}}, 4, 20, 60).capacity(), 21u);
}

TEST(pattern_program, fits_when_there_are_ranks_enough) {
    EXPECT_TRUE(solved({{4, 6}, {3, 4}}, 3, 12, 36).fits());
    EXPECT_FALSE(solved({{4, 6}, {3, 4}}, 3, 12, 12).capacity() > 12);
}

TEST(pattern_program, holds_every_item_in_whole_uses_and_parts) {
    sizes const of{{715, 40}, {560, 41}, {411, 39}, {268, 44}, {131, 43}};
    std::size_t const ranks = 8;
    auto const program = solved(of, ranks, mean_of(of, ranks), 20'000);
    ASSERT_TRUE(program.fits());

    std::uint64_t whole = 0;
    std::vector<std::uint64_t> held(of.size());
    for (std::size_t row = 0; row < of.size(); ++row) {
        std::uint64_t load = 0;
        whole += program.mixture().whole_uses(row);
        for (std::size_t size = 0; size < of.size(); ++size) {
            held[size] += program.mixture().whole_uses(row) * program.mixture().pattern(row)[size];
            load += program.mixture().pattern(row)[size] * of[size].weight;
        }
        EXPECT_LE(load, program.capacity());
    }
    EXPECT_LE(whole, ranks);
    EXPECT_GE(whole + of.size(), ranks);
    for (std::size_t size = 0; size < of.size(); ++size) {
        EXPECT_LE(held[size], of[size].count);
    }
}

TEST(pattern_program, proves_no_more_than_it_was_asked_for) {
    // One item more than two on each of three ranks.
    auto const program = solved({{10, 7}}, 3, 24, 26);
    EXPECT_EQ(program.capacity(), 27u);
}

TEST(pattern_program, gives_up_where_numbers_leave_their_range) {
    sizes many;
    for (std::uint64_t weight = 1; weight <= most_pattern_sizes; ++weight) {
        many.push_back({1000 + weight, 1'000'000});
    }
    std::ranges::reverse(many);
    pattern_program program;
    program.reset(many, 1000, 24'100'000, 24'100'001);
    EXPECT_FALSE(program.improve());
    EXPECT_FALSE(program.fits());
    EXPECT_EQ(program.capacity(), 24'100'000u);
}

class pattern_program_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(pattern_program_law, is_never_above_the_optimum_and_fits_at_it) {
    test::seeded random{GetParam()};
    std::size_t const ranks = random.between(1, 4);
    std::vector<std::uint64_t> kinds(random.between(1, 4));
    for (auto& kind : kinds) {
        kind = random.between(1, random.up_to(1) == 0 ? 12 : 200);
    }
    std::vector<std::uint64_t> weights(random.between(1, 10));
    std::map<std::uint64_t, std::uint64_t, std::greater<>> counts;
    for (auto& weight : weights) {
        weight = kinds[random.up_to(kinds.size() - 1)];
        ++counts[weight];
    }
    sizes of;
    for (auto const& [weight, count] : counts) {
        of.push_back({weight, count});
    }
    auto const simple = evenkeel::lower_bound(weights, {ranks});
    auto const optimum = test::optimum(weights, {ranks});
    auto const program = solved(of, ranks, simple, optimum);

    EXPECT_GE(program.capacity(), simple);
    EXPECT_LE(program.capacity(), optimum);
    EXPECT_TRUE(program.fits());
}

INSTANTIATE_TEST_SUITE_P(seeds, pattern_program_law, testing::Range(std::uint64_t{0}, std::uint64_t{500}));

}  // namespace
}  // namespace evenkeel::detail::pattern_program_test
