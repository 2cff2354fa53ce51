// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/subset_sums.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::subset_sums_test {
namespace {

TEST(subset_sums, are_those_of_all_subsets_in_rising_order) {
    subset_sums sums;
    sums.assign(std::vector<std::uint64_t>{5, 3, 2});

    EXPECT_THAT(sums.sums(), testing::ElementsAre(0, 2, 3, 5, 5, 7, 8, 10));
    std::vector<unsigned> subsets;
    for (std::size_t index = 0; index < sums.size(); ++index) {
        subsets.push_back(sums.subset(index));
    }
    EXPECT_THAT(subsets, testing::ElementsAre(0, 0b100, 0b010, 0b001, 0b110, 0b101, 0b011, 0b111));
}

TEST(subset_sums, of_nothing_are_nothing) {
    subset_sums sums;
    sums.assign({});

    EXPECT_THAT(sums.sums(), testing::ElementsAre(0));
}

class subset_sums_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(subset_sums_law, each_subset_is_there_once_with_its_sum) {
    test::seeded random{GetParam()};
    std::vector<std::uint64_t> weights(random.up_to(subset_sums::most_weights));
    for (auto& weight : weights) {
        weight = random.between(1, GetParam() % 2 == 0 ? 4 : 1'000'000);
    }
    subset_sums sums;
    sums.assign(weights);

    EXPECT_TRUE(std::ranges::is_sorted(sums.sums()));
    std::set<unsigned> subsets;
    for (std::size_t index = 0; index < sums.size(); ++index) {
        std::uint64_t sum = 0;
        for (std::size_t bit = 0; bit < weights.size(); ++bit) {
            sum += (sums.subset(index) >> bit & 1) != 0 ? weights[bit] : 0;
        }
        EXPECT_EQ(sums.sum(index), sum);
        subsets.insert(sums.subset(index));
    }
    EXPECT_EQ(subsets.size(), std::size_t{1} << weights.size());
}

INSTANTIATE_TEST_SUITE_P(seeds, subset_sums_law, testing::Range(std::uint64_t{0}, std::uint64_t{50}));

}  // namespace
}  // namespace evenkeel::detail::subset_sums_test
