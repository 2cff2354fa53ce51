// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/layout.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::layout_test {
namespace {

place at(std::uint32_t rank, std::uint32_t micro_batch, std::uint32_t position) {
    return {world_rank{rank}, micro_batch_id{micro_batch}, position};
}

auto refuses(std::string const& found) { return testing::ThrowsMessage<std::invalid_argument>(found); }

TEST(place, is_ordered_as_a_rank_keeps_it_in_memory) {
    EXPECT_LT(at(0, 9, 9), at(1, 0, 0));
    EXPECT_LT(at(1, 0, 9), at(1, 1, 0));
    EXPECT_LT(at(1, 1, 2), at(1, 1, 3));
    EXPECT_EQ(at(1, 1, 2), at(1, 1, 2));
}

TEST(home_layout, gives_each_rank_its_consecutive_items) {
    auto const home = evenkeel::home_layout(std::vector<std::size_t>{2, 0, 1});

    EXPECT_EQ(home[evenkeel::item_id{2}].rank, world_rank{2});
    EXPECT_EQ(home.places, (std::vector{at(0, 0, 0), at(0, 0, 1), at(2, 0, 0)}));
    EXPECT_EQ(home.ranks, world_size{3});
    EXPECT_EQ(home.size(), 3u);
}

TEST(home_layout, may_hold_nothing) {
    EXPECT_EQ(home_layout(std::vector<std::size_t>{}), layout{});
    EXPECT_EQ(home_layout(std::vector<std::size_t>{0, 0}), (layout{.places = {}, .ranks = {2}}));
}

TEST(home_layout, refuses_more_items_than_ids) {
    EXPECT_THAT(
        [] {
            (void)home_layout(std::vector<std::size_t>{1, max_items});
        },
        refuses("home_layout: counts[1] = 4294967295, expected at most 4294967295 items in all"));
    EXPECT_THAT([] { (void)home_layout(std::vector<std::size_t>{static_cast<std::size_t>(-1)}); },
                refuses("home_layout: counts[0] = 18446744073709551615, expected at most 4294967295 items in all"));
}

TEST(layout_of, is_the_inverse_of_the_plan) {
    auto const layout = layout_of(test::plan_of({{3, 0}, {}, {1, 2}}));

    EXPECT_EQ(layout.places, (std::vector{at(0, 0, 1), at(2, 0, 0), at(2, 0, 1), at(0, 0, 0)}));
    EXPECT_EQ(layout.ranks, world_size{3});
}

TEST(layout_of, counts_positions_anew_in_every_micro_batch) {
    auto const layout = layout_of(test::plan_of({{0, 3}, {}, {1, 2}, {4}}, 2));

    EXPECT_EQ(layout.places, (std::vector{at(0, 0, 0), at(1, 0, 0), at(1, 0, 1), at(0, 0, 1), at(1, 1, 0)}));
    EXPECT_EQ(layout.ranks, world_size{2});
}

TEST(layout_of, puts_items_with_the_leader_of_their_rank) {
    group const scattered{.members = {world_rank{5}, world_rank{0}, world_rank{2}}, .offsets = {0, 2, 3}};
    auto const layout = layout_of(test::plan_of({{1}, {0, 2}}), scattered, {7});

    EXPECT_EQ(layout.places, (std::vector{at(2, 0, 0), at(5, 0, 0), at(2, 0, 1)}));
    EXPECT_EQ(layout.ranks, world_size{7});
}

TEST(layout_of, of_a_plan_over_all_ranks_is_that_over_the_flat_group) {
    auto const plan = test::plan_of({{3, 0}, {}, {1, 2}});
    EXPECT_EQ(layout_of(plan), layout_of(plan, flat_group({3}), {3}));
    EXPECT_EQ(layout_of(evenkeel::plan{}), layout{});
}

TEST(layout_of, refuses_a_plan_that_is_no_partition) {
    auto const twice = test::plan_of({{0, 0}});
    auto const message = "layout_of: plan.items[1] = 0, expected every item once, not twice";
    EXPECT_THAT([&] { (void)layout_of(twice); }, refuses(message));
    EXPECT_THAT([&] { (void)layout_of(twice, flat_group({1}), {1}); }, refuses(message));
    EXPECT_THAT(
        [&] {
            (void)layout_of(test::plan_of({{0}, {2}}));
        },
        refuses("layout_of: plan.items[1] = 2, expected an item below 2"));
}

TEST(layout_of, refuses_a_plan_that_does_not_know_how_many_ranks_it_has) {
    auto const none = test::plan_of({{0}}, 0);
    EXPECT_THAT([&] { (void)layout_of(none); }, refuses("layout_of: plan.micro_batches = 0, expected at least 1"));
    EXPECT_THAT([&] { (void)layout_of(none, flat_group({1}), {1}); },
                refuses("layout_of: plan.micro_batches = 0, expected at least 1"));
    EXPECT_THAT([] { (void)layout_of({.items = {}, .offsets = {}}); },
                refuses("layout_of: plan.offsets.size() = 0, expected 1 + ranks * micro_batches"));
}

TEST(layout_of, refuses_a_plan_over_another_number_of_ranks) {
    EXPECT_THAT(
        [] {
            (void)layout_of(test::plan_of({{0}, {1}}), flat_group({3}), {3});
        },
        refuses("layout_of: plan.ranks() = 2, expected the 3 ranks of the group"));
}

TEST(layout_of, refuses_a_leader_outside_the_world) {
    EXPECT_THAT(
        [] {
            (void)layout_of(test::plan_of({{0}, {1}}), flat_group({2}), {1});
        },
        refuses("layout_of: group.members[1] = 1, expected a world rank below 1"));
}

TEST(layout_of, refuses_two_ranks_with_one_leader) {
    group const shared{.members = {world_rank{0}, world_rank{0}}, .offsets = {0, 1, 2}};
    EXPECT_THAT(
        [&] {
            (void)layout_of(test::plan_of({{0}, {1}}), shared, {2});
        },
        refuses("layout_of: group.members[1] = 0, expected every world rank at most once"));
}

TEST(layout_of, refuses_a_rank_without_members) {
    group const leaderless{.members = {world_rank{0}}, .offsets = {0, 1, 1}};
    EXPECT_THAT(
        [&] {
            (void)layout_of(test::plan_of({{0}, {1}}), leaderless, {2});
        },
        refuses("layout_of: group.offsets[2] = 1, expected offsets that rise, for an instance has at least its "
                "leader"));
}

class layout_law : public testing::TestWithParam<unsigned> {};

TEST_P(layout_law, no_two_items_share_a_place_and_positions_have_no_hole) {
    test::seeded random{GetParam()};
    world_size const ranks{random.between(1, 8)};
    std::size_t const count = random.up_to(40);
    auto const layout = test::random_layout(random, count, ranks);

    ASSERT_EQ(layout.size(), count);
    std::map<std::pair<world_rank, micro_batch_id>, std::vector<bool>> seen;
    for (auto const& place : layout.places) {
        EXPECT_LT(to_index(place.rank), ranks.value);
        auto& positions = seen[{place.rank, place.micro_batch}];
        positions.resize(std::max<std::size_t>(positions.size(), place.position + 1));
        EXPECT_FALSE(positions[place.position]);
        positions[place.position] = true;
    }
    for (auto const& [batch, positions] : seen) {
        EXPECT_THAT(positions, testing::Each(true));
    }
}

TEST_P(layout_law, every_item_is_where_the_plan_lists_it) {
    test::seeded random{GetParam()};
    world_size const ranks{random.between(1, 8)};
    auto const group = test::random_group(random, ranks);
    std::size_t const micro_batches = random.between(1, 3);
    auto const plan = test::random_plan(random, random.up_to(40), group.ranks(), micro_batches);
    auto const layout = layout_of(plan, group, ranks);

    for (std::size_t item = 0; item < layout.size(); ++item) {
        place const place = layout.places[item];
        std::size_t found = 0;
        for (std::size_t rank = 0; rank < group.ranks().value; ++rank) {
            if (group.leader(to_id<rank_id>(rank)) == place.rank) {
                EXPECT_EQ(plan.batch(to_id<rank_id>(rank), place.micro_batch)[place.position], to_id<item_id>(item));
                ++found;
            }
        }
        EXPECT_EQ(found, 1u);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, layout_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::layout_test
