// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/transfer.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::transfer_test {
namespace {

using sums = std::vector<std::uint64_t>;

std::optional<std::uint64_t> amount(std::optional<transfer> const& found) {
    return found ? std::optional{found->amount} : std::nullopt;
}

TEST(smallest_transfer, moves_no_more_than_it_must) {
    auto const found = smallest_transfer(sums{0, 3, 8}, sums{0, 5, 6}, 2, 4);

    ASSERT_TRUE(found);
    EXPECT_EQ(found->give, 2u);
    EXPECT_EQ(found->take, 2u);
    EXPECT_EQ(found->amount, 2u);
}

TEST(largest_transfer, moves_as_much_as_it_may) {
    auto const found = largest_transfer(sums{0, 3, 8}, sums{0, 5, 6}, 2, 7);

    ASSERT_TRUE(found);
    EXPECT_EQ(found->give, 1u);
    EXPECT_EQ(found->take, 0u);
    EXPECT_EQ(found->amount, 3u);
}

TEST(transfer, is_not_found_where_there_is_none) {
    EXPECT_FALSE(smallest_transfer(sums{0, 9}, sums{0}, 2, 4));
    EXPECT_FALSE(largest_transfer(sums{0, 9}, sums{0}, 2, 4));
    EXPECT_FALSE(smallest_transfer(sums{0}, sums{0, 9}, 1, 4));
    EXPECT_FALSE(largest_transfer(sums{0}, sums{0, 9}, 1, 4));
}

TEST(relieving_transfer, moves_all_of_the_excess_or_fills_the_room) {
    EXPECT_EQ(relieving_transfer(sums{0, 3, 8}, sums{0, 5, 6}, 2, 4, 0, false)->amount, 2u);
    EXPECT_EQ(relieving_transfer(sums{0, 6, 9}, sums{0, 4}, 5, 9, 0, false)->amount, 5u);
    EXPECT_EQ(relieving_transfer(sums{0, 6, 9}, sums{0, 4}, 5, 9, 0, true)->amount, 6u);
    EXPECT_EQ(relieving_transfer(sums{0, 3, 8}, sums{0, 5, 6}, 9, 3, 0, false)->amount, 3u);
    EXPECT_FALSE(relieving_transfer(sums{0, 8}, sums{0, 6}, 9, 4, 0, false));
    EXPECT_TRUE(relieving_transfer(sums{0, 8}, sums{0, 6}, 9, 4, 2, false));
}

class transfer_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(transfer_law, is_the_best_of_all_pairs) {
    test::seeded random{GetParam()};
    auto const some_sums = [&] {
        sums result(random.between(1, 12));
        for (auto& sum : result) {
            sum = random.up_to(60);
        }
        result.front() = 0;
        std::ranges::sort(result);
        return result;
    };
    auto const gives = some_sums();
    auto const takes = some_sums();
    auto const at_least = random.between(1, 20);
    auto const at_most = at_least + random.up_to(10);

    std::optional<std::uint64_t> smallest;
    std::optional<std::uint64_t> largest;
    for (auto const give : gives) {
        for (auto const take : takes) {
            if (give >= take + at_least && give <= take + at_most) {
                smallest = std::min(smallest.value_or(give - take), give - take);
                largest = std::max(largest.value_or(give - take), give - take);
            }
        }
    }
    auto const enough = at_least + random.up_to(10);
    auto const first = smallest_transfer(gives, takes, at_least, at_most, enough);
    EXPECT_EQ(first.has_value(), smallest.has_value());
    if (first) {
        EXPECT_LE(first->amount, std::max(enough, *smallest));
    }
    auto const small = smallest_transfer(gives, takes, at_least, at_most);
    auto const large = largest_transfer(gives, takes, at_least, at_most);
    EXPECT_EQ(amount(small), smallest);
    EXPECT_EQ(amount(large), largest);
    for (auto const& found : {small, large}) {
        if (found) {
            EXPECT_EQ(found->amount, gives[found->give] - takes[found->take]);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, transfer_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

}  // namespace
}  // namespace evenkeel::detail::transfer_test
