// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/rearrange/order.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::order_test {
namespace {

using items = std::vector<std::uint32_t>;

TEST(items_on, lists_what_a_rank_holds) {
    auto const held =
        evenkeel::items_on(evenkeel::home_layout(std::vector<std::size_t>{2, 3}), evenkeel::world_rank{1});
    EXPECT_EQ(test::numbers(held), (items{2, 3, 4}));
}

TEST(items_on, goes_micro_batch_by_micro_batch_and_position_by_position) {
    auto const layout = layout_of(test::plan_of({{5, 0}, {3}, {4, 1}, {2}}, 2));
    EXPECT_EQ(test::numbers(items_on(layout, world_rank{0})), (items{5, 0, 3}));
    EXPECT_EQ(test::numbers(items_on(layout, world_rank{1})), (items{4, 1, 2}));
}

TEST(items_on, of_a_rank_without_items_is_empty) {
    EXPECT_TRUE(items_on(home_layout(std::vector<std::size_t>{2, 0}), world_rank{1}).empty());
    EXPECT_TRUE(items_on(home_layout(std::vector<std::size_t>{2, 0}), world_rank{9}).empty());
    EXPECT_TRUE(items_on(layout{}, world_rank{0}).empty());
}

TEST(items_in_order, goes_rank_after_rank) {
    auto const layout = layout_of(test::plan_of({{5, 0}, {3}, {4, 1}, {2}}, 2));
    EXPECT_EQ(test::numbers(items_in_order(layout)), (items{5, 0, 3, 4, 1, 2}));
    EXPECT_TRUE(items_in_order(evenkeel::layout{}).empty());
}

class order_law : public testing::TestWithParam<unsigned> {};

TEST_P(order_law, ranks_lists_one_after_the_other_are_all_items_in_order_of_their_places) {
    auto const layout = test::random_journey(GetParam()).first.to();
    std::map<place, item_id> sorted;
    for (std::size_t item = 0; item < layout.size(); ++item) {
        sorted.emplace(layout.places[item], to_id<item_id>(item));
    }
    std::vector<item_id> expected;
    for (auto const& [place, item] : sorted) {
        expected.push_back(item);
    }
    std::vector<item_id> by_rank;
    for (std::size_t rank = 0; rank < layout.ranks.value; ++rank) {
        auto const held = items_on(layout, to_id<world_rank>(rank));
        by_rank.insert(by_rank.end(), held.begin(), held.end());
    }
    EXPECT_EQ(items_in_order(layout), expected);
    EXPECT_EQ(by_rank, expected);
}

INSTANTIATE_TEST_SUITE_P(seeds, order_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::order_test
