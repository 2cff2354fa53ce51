// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/plan.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::plan_test {
namespace {

using items = std::vector<std::uint32_t>;

static_assert(std::is_aggregate_v<plan>);

TEST(plan, lists_the_items_of_a_rank_in_the_order_it_should_run_them) {
    auto const plan = test::plan_of({{}, {4}, {0}, {3, 1, 2}});

    items visited;
    for (auto item : plan[evenkeel::rank_id{3}]) {
        visited.push_back(static_cast<std::uint32_t>(item));
    }
    EXPECT_EQ(visited, (items{3, 1, 2}));
    EXPECT_EQ(plan.ranks(), rank_count{4});
}

TEST(plan, has_no_rank_and_no_item_at_first) {
    EXPECT_EQ(plan{}.ranks(), rank_count{0});
    EXPECT_EQ(plan{}.items.size(), 0u);
}

TEST(plan, leaves_ranks_without_items_when_there_are_fewer_items_than_ranks) {
    auto const plan = test::plan_of({{0}, {1}, {}});

    EXPECT_EQ(plan.ranks(), rank_count{3});
    EXPECT_TRUE(plan[rank_id{2}].empty());
}

TEST(plan, keeps_the_micro_batches_of_a_rank_apart_and_in_order) {
    auto const plan = test::plan_of({{0, 3}, {}, {1, 2}, {4}}, 2);

    EXPECT_EQ(plan.ranks(), rank_count{2});
    EXPECT_EQ(test::numbers(plan.batch(rank_id{0}, micro_batch_id{0})), (items{0, 3}));
    EXPECT_EQ(test::numbers(plan.batch(rank_id{0}, micro_batch_id{1})), items{});
    EXPECT_EQ(test::numbers(plan.batch(rank_id{1}, micro_batch_id{0})), (items{1, 2}));
    EXPECT_EQ(test::numbers(plan.batch(rank_id{1}, micro_batch_id{1})), items{4});
    EXPECT_EQ(test::numbers(plan[rank_id{0}]), (items{0, 3}));
    EXPECT_EQ(test::numbers(plan[rank_id{1}]), (items{1, 2, 4}));
}

TEST(plan, differs_where_the_order_or_the_cut_differs) {
    EXPECT_EQ(test::plan_of({{0, 1}, {}}), test::plan_of({{0, 1}, {}}));
    EXPECT_NE(test::plan_of({{0, 1}, {}}), test::plan_of({{1, 0}, {}}));
    EXPECT_NE(test::plan_of({{0, 1}, {}}), test::plan_of({{0}, {1}}));
    EXPECT_NE(test::plan_of({{0, 1}, {}}), test::plan_of({{0, 1}, {}}, 2));
}

}  // namespace
}  // namespace evenkeel::plan_test
