// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/partition.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::partition_test {
namespace {

auto moving(plan plan, std::size_t count) {
    return [=] { require_partition("move", plan, count); };
}

auto refuses(std::string const& found) { return testing::ThrowsMessage<std::invalid_argument>("move: " + found); }

TEST(require_partition, accepts_a_plan_with_every_item_once) {
    auto const lengths = std::vector{9, 1, 5};
    auto const plan = test::plan_of({{2, 0}, {1}});
    EXPECT_NO_THROW(evenkeel::require_partition("move", plan, lengths.size()));
}

TEST(require_partition, accepts_any_number_of_items_on_any_number_of_ranks) {
    EXPECT_NO_THROW(require_partition("move", test::plan_of({{0, 4}, {1}, {2}, {3}}), 5));
    EXPECT_NO_THROW(require_partition("move", test::plan_of({{0}, {1}, {}}), 2));
    EXPECT_NO_THROW(require_partition("move", test::plan_of({{}, {}}), 0));
    EXPECT_NO_THROW(require_partition("move", plan{}, 0));
    EXPECT_NO_THROW(require_partition("move", test::plan_of({{}, {0}, {}, {}, {1}, {}}, 3), 2));
}

TEST(require_partition, names_the_first_item_that_is_missing) {
    EXPECT_THAT(moving(test::plan_of({{0}, {1}, {2}, {3}}), 5), refuses("plan lacks item 4, expected every item once"));
    EXPECT_THAT(moving(test::plan_of({{4}, {1}}), 5), refuses("plan lacks item 0, expected every item once"));
    EXPECT_THAT(moving(plan{}, 1), refuses("plan lacks item 0, expected every item once"));
}

TEST(require_partition, names_the_first_item_that_is_placed_twice) {
    EXPECT_THAT(moving(test::plan_of({{0, 1}, {2, 1}}), 3),
                refuses("plan.items[3] = 1, expected every item once, not twice"));
    EXPECT_THAT(moving(test::plan_of({{0, 0}}), 1), refuses("plan.items[1] = 0, expected every item once, not twice"));
}

TEST(require_partition, names_the_first_item_that_is_unknown) {
    EXPECT_THAT(moving(test::plan_of({{0, 3}, {1}}), 3), refuses("plan.items[1] = 3, expected an item below 3"));
    EXPECT_THAT(moving(test::plan_of({{4294967295}}), 1),
                refuses("plan.items[0] = 4294967295, expected an item below 1"));
    EXPECT_THAT(moving(test::plan_of({{0}}), 0), refuses("plan.items[0] = 0, expected an item below 0"));
}

TEST(require_partition, calls_the_plan_what_its_caller_calls_it) {
    auto const given = [](plan const& plan) { return [=] { require_partition("move", plan, 3, "given", "->"); }; };
    EXPECT_THAT(given(test::plan_of({{0, 3}, {1}})), refuses("given->items[1] = 3, expected an item below 3"));
    EXPECT_THAT(given(test::plan_of({{0}, {1}})), refuses("given lacks item 2, expected every item once"));
    EXPECT_THAT(given(test::plan_of({{0}}, 0)), refuses("given->micro_batches = 0, expected at least 1"));
    EXPECT_THAT(given({.items = {item_id{0}}, .offsets = {0, 2}}),
                refuses("given->offsets = [0 .. 2], expected offsets from 0 to given->items.size() = 1"));
}

TEST(require_partition, refuses_a_plan_without_micro_batches) {
    EXPECT_THAT(moving(test::plan_of({{0}}, 0), 1), refuses("plan.micro_batches = 0, expected at least 1"));
}

TEST(require_partition, refuses_lists_that_do_not_fill_the_micro_batches_of_every_rank) {
    EXPECT_THAT(moving(test::plan_of({{0}, {1}, {2}}, 2), 3),
                refuses("plan.offsets.size() = 4, expected 1 + ranks * micro_batches"));
    EXPECT_THAT(moving({.items = {}, .offsets = {}}, 0),
                refuses("plan.offsets.size() = 0, expected 1 + ranks * micro_batches"));
}

TEST(require_partition, refuses_lists_that_do_not_cover_the_items) {
    EXPECT_THAT(moving({.items = {item_id{0}, item_id{1}}, .offsets = {0, 1}}, 2),
                refuses("plan.offsets = [0 .. 1], expected offsets from 0 to plan.items.size() = 2"));
    EXPECT_THAT(moving({.items = {item_id{0}}, .offsets = {0, 2}}, 1),
                refuses("plan.offsets = [0 .. 2], expected offsets from 0 to plan.items.size() = 1"));
    EXPECT_THAT(moving({.items = {item_id{0}}, .offsets = {1, 1}}, 1),
                refuses("plan.offsets = [1 .. 1], expected offsets from 0 to plan.items.size() = 1"));
}

TEST(require_partition, refuses_lists_that_overlap) {
    EXPECT_THAT(moving({.items = {item_id{0}, item_id{1}}, .offsets = {0, 2, 1, 2}}, 2),
                refuses("plan.offsets[2] = 1, expected offsets that never fall"));
    EXPECT_THAT(moving({.items = {item_id{0}, item_id{1}}, .offsets = {0, 99, 2}}, 2),
                refuses("plan.offsets[2] = 2, expected offsets that never fall"));
}

class require_partition_law : public testing::TestWithParam<unsigned> {};

TEST_P(require_partition_law, accepts_every_partition_and_refuses_any_single_change) {
    test::seeded random{GetParam()};
    std::size_t const count = random.between(1, 20);
    rank_count const ranks{random.between(1, 6)};
    std::size_t const micro_batches = random.between(1, 3);
    auto const sound = test::random_plan(random, count, ranks, micro_batches);
    ASSERT_NO_THROW(require_partition("move", sound, count));
    EXPECT_THROW(require_partition("move", sound, count + 1), std::invalid_argument);
    EXPECT_THROW(require_partition("move", sound, count - 1), std::invalid_argument);

    for (std::size_t position = 0; position < count; ++position) {
        for (std::size_t item = 0; item <= count; ++item) {
            auto broken = sound;
            broken.items[position] = to_id<item_id>(item);
            if (broken != sound) {
                EXPECT_THROW(require_partition("move", broken, count), std::invalid_argument);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, require_partition_law, testing::Range(0u, 50u));

}  // namespace
}  // namespace evenkeel::partition_test
