// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/rearrangement.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::rearrangement_test {
namespace {

static_assert(!std::is_default_constructible_v<rearrangement>, "from nowhere to nowhere is made by saying so");

layout home(std::vector<std::size_t> const& counts) { return home_layout(counts); }

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

TEST(rearrangement, composes_two_exchanges_to_one) {
    auto const home = home_layout(std::vector<std::size_t>{2, 1});
    auto const encoder_plan = test::plan_of({{2}, {0, 1}});
    auto const llm_plan = test::plan_of({{1, 2}, {0}});

    auto const to_encoder = evenkeel::rearrangement{home, layout_of(encoder_plan)};
    auto const to_llm = evenkeel::rearrangement{home, layout_of(llm_plan)};
    auto const outputs = evenkeel::compose(to_llm, evenkeel::invert(to_encoder));

    EXPECT_EQ(outputs, (rearrangement{layout_of(encoder_plan), layout_of(llm_plan)}));
    EXPECT_EQ(outputs.size(), 3u);
    EXPECT_EQ(outputs.ranks(), world_size{2});
}

TEST(rearrangement, joins_groups_of_different_size_and_members) {
    group const encoder{.members = {world_rank{2}, world_rank{0}, world_rank{3}}, .offsets = {0, 1, 2, 3}};
    group const llm{.members = {world_rank{1}, world_rank{0}}, .offsets = {0, 2}};
    auto const from = layout_of(test::plan_of({{1}, {}, {0}}), encoder, {4});
    auto const to = layout_of(test::plan_of({{0, 1}}), llm, {4});
    rearrangement const move{from, to};

    EXPECT_EQ(move.from()[item_id{0}].rank, world_rank{3});
    EXPECT_EQ(move.to()[item_id{0}].rank, world_rank{1});
    EXPECT_EQ(compose(invert(move), move), (rearrangement{from, from}));
}

TEST(rearrangement, may_move_nothing) {
    EXPECT_EQ((rearrangement{layout{}, layout{}}.size()), 0u);
    EXPECT_EQ((rearrangement{home({0, 0}), home({0, 0})}.ranks()), world_size{2});
}

TEST(rearrangement, refuses_layouts_of_different_batches_or_worlds) {
    EXPECT_THAT(
        [] {
            (void)rearrangement(home({2, 1}), home({2, 2}));
        },
        refuses("rearrangement: to.size() = 4, expected the 3 items of `from`"));
    EXPECT_THAT(
        [] {
            (void)rearrangement(home({2, 1}), home({2, 1, 0}));
        },
        refuses("rearrangement: to.ranks = 3, expected the world of `from`, 2 ranks"));
}

TEST(rearrangement, refuses_an_item_outside_the_world) {
    auto stray = home({2, 1});
    stray.places[1].rank = world_rank{2};
    EXPECT_THAT(
        [&] {
            (void)rearrangement(stray, home({2, 1}));
        },
        refuses("rearrangement: from[1].rank = 2, expected a world rank below 2"));
    EXPECT_THAT(
        [&] {
            (void)rearrangement(home({2, 1}), stray);
        },
        refuses("rearrangement: to[1].rank = 2, expected a world rank below 2"));
}

TEST(compose, refuses_a_second_that_does_not_begin_where_the_first_ends) {
    rearrangement const first{home({2, 1}), home({1, 2})};
    auto elsewhere = home({1, 2});
    elsewhere.places[1].position = 7;
    EXPECT_THAT(
        [&] {
            (void)compose({elsewhere, home({2, 1})}, first);
        },
        refuses("compose: second.from()[1] = another place than in first.to(), expected that `second` begins "
                "where `first` ends"));
    EXPECT_THAT([&] { (void)compose(first, first); },
                refuses("compose: second.from()[1] = another place than in first.to(), expected that `second` begins "
                        "where `first` ends"));
}

TEST(compose, refuses_rearrangements_of_different_batches_or_worlds) {
    rearrangement const first{home({2, 1}), home({1, 2})};
    EXPECT_THAT(
        [&] {
            (void)compose({home({2, 2}), home({2, 2})}, first);
        },
        refuses("compose: second.size() = 4, expected the 3 items of `first`"));
    EXPECT_THAT(
        [&] {
            (void)compose({home({2, 1, 0}), home({2, 1, 0})}, first);
        },
        refuses("compose: second.ranks() = 3, expected the world of `first`, 2 ranks"));
}

class rearrangement_law : public testing::TestWithParam<unsigned> {
  protected:
    test::journey const journey = test::random_journey(GetParam());
};

TEST_P(rearrangement_law, the_inverse_of_the_inverse_is_the_rearrangement) {
    EXPECT_EQ(invert(invert(journey.first)), journey.first);
}

TEST_P(rearrangement_law, the_inverse_undoes_on_either_side) {
    auto const& move = journey.first;
    EXPECT_EQ(compose(invert(move), move), (rearrangement{move.from(), move.from()}));
    EXPECT_EQ(compose(move, invert(move)), (rearrangement{move.to(), move.to()}));
}

TEST_P(rearrangement_law, staying_changes_nothing_on_either_side) {
    auto const& move = journey.first;
    EXPECT_EQ(compose(move, {move.from(), move.from()}), move);
    EXPECT_EQ(compose({move.to(), move.to()}, move), move);
}

TEST_P(rearrangement_law, composition_associates) {
    auto const& [first, second, third] = journey;
    EXPECT_EQ(compose(third, compose(second, first)), compose(compose(third, second), first));
}

TEST_P(rearrangement_law, the_inverse_of_a_composition_goes_back_in_opposite_order) {
    auto const& [first, second, third] = journey;
    EXPECT_EQ(invert(compose(second, first)), compose(invert(first), invert(second)));
}

INSTANTIATE_TEST_SUITE_P(seeds, rearrangement_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::rearrangement_test
