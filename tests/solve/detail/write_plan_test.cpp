// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>

namespace evenkeel::detail::write_plan_test {
namespace {

using testing::ElementsAre;

TEST(write_plan, lists_the_items_of_each_rank_in_the_order_of_the_batch) {
    plan plan;
    write_plan(std::vector<std::uint32_t>{2, 0, 2, 0, 2}, 4, plan);

    EXPECT_THAT(plan.items, ElementsAre(item_id{1}, item_id{3}, item_id{0}, item_id{2}, item_id{4}));
    EXPECT_THAT(plan.offsets, ElementsAre(0, 2, 2, 5, 5));
    EXPECT_EQ(plan.micro_batches, 1u);
}

TEST(write_plan, forgets_the_plan_before) {
    plan plan;
    write_plan(std::vector<std::uint32_t>{1, 1, 0}, 2, plan);
    write_plan(std::vector<std::uint32_t>{0}, 1, plan);

    EXPECT_THAT(plan.items, ElementsAre(item_id{0}));
    EXPECT_THAT(plan.offsets, ElementsAre(0, 1));
}

// In caches near and far.
TEST(write_sorted_plan, lists_the_same_for_who_knows_the_rank_of_each_place) {
    for (std::size_t const size : {0U, 1U, 1000U, 300'000U}) {
        std::vector<std::uint32_t> places(size);
        std::vector<std::uint32_t> rank_of(size);
        std::vector<std::uint32_t> rank_of_item(size);
        for (std::uint32_t item = 0; item < size; ++item) {
            places[item] = static_cast<std::uint32_t>((item * std::size_t{7919} + 3) % size);
            rank_of_item[item] = item * item % 17;
            rank_of[places[item]] = rank_of_item[item];
        }
        plan plan;
        write_sorted_plan(places, rank_of, 19, plan);
        evenkeel::plan expected;
        write_plan(rank_of_item, 19, expected);
        EXPECT_EQ(plan, expected) << size << " items";
    }
}

TEST(write_plan_of_runs, lists_the_same_for_who_has_counted) {
    std::vector<std::uint32_t> const rank_of_item{2, 2, 0, 2, 3, 3, 0};
    evenkeel::plan counted_here;
    write_plan(rank_of_item, 4, counted_here);

    constexpr std::uint32_t none = 4;
    for (auto const& homes : {std::vector<std::uint32_t>{2, 2, 2, 2, 3, 3, 0}, {0, 0, 0, 0, 0, 0, 0},
                              {none, 2, 0, none, none, 3, 3}, {3, 3, 3, 2, 2, 2, none}}) {
        plan plan;
        plan.offsets = {2, 0, 3, 2, 0};
        write_plan_of_runs(rank_of_item, homes, plan);
        EXPECT_EQ(plan, counted_here);
    }
}

TEST(write_plan_of_runs, lists_ranks_that_have_drawn_many) {
    std::vector<std::uint32_t> homes(1000);
    std::vector<std::uint32_t> rank_of_item(1000);
    plan plan;
    plan.offsets = {0, 0, 0, 0};
    for (std::uint32_t item = 0; item < 1000; ++item) {
        homes[item] = item / 400;
        rank_of_item[item] = item % 7 == 0 ? item % 3 : homes[item];
        ++plan.offsets[rank_of_item[item]];
    }
    write_plan_of_runs(rank_of_item, homes, plan);

    evenkeel::plan counted_here;
    write_plan(rank_of_item, 3, counted_here);
    EXPECT_EQ(plan, counted_here);
}

TEST(write_plan_of_runs, writes_empty_batches_for_no_items) {
    plan plan;
    plan.offsets = {0, 0, 0};
    write_plan_of_runs({}, {}, plan);

    EXPECT_THAT(plan.items, ElementsAre());
    EXPECT_THAT(plan.offsets, ElementsAre(0, 0, 0));
}

TEST(deal_in_turn, keeps_items_where_they_were_drawn_and_counts_even) {
    std::vector<std::uint32_t> rank_of(6);
    deal_in_turn(rank_of, 3);
    EXPECT_THAT(rank_of, ElementsAre(0, 0, 1, 1, 2, 2));
    deal_in_turn(rank_of, 4);
    EXPECT_THAT(rank_of, ElementsAre(0, 0, 1, 2, 2, 3));
    deal_in_turn(rank_of, 13);
    EXPECT_THAT(rank_of, ElementsAre(0, 2, 4, 6, 8, 10));
}

}  // namespace
}  // namespace evenkeel::detail::write_plan_test
