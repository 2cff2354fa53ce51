// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/fine_loads.hpp>
#include <evenkeel/solve/detail/light_items.hpp>
#include <evenkeel/solve/detail/menu.hpp>
#include <evenkeel/solve/detail/placement.hpp>

namespace evenkeel::detail::menu_test {
namespace {

using testing::ElementsAre;
using weights = std::vector<std::uint64_t>;

TEST(light_items, are_the_lightest_the_lightest_first) {
    light_items light;
    light.choose(weights{9, 7, 4, 2, 1}, 3, 2);

    EXPECT_THAT(light.positions(), ElementsAre(4, 3, 2));
}

TEST(light_items, are_no_more_of_a_weight_than_asked_for) {
    light_items light;
    light.choose(weights{9, 5, 3, 3, 3, 3, 1}, 5, 2);
    EXPECT_THAT(light.positions(), ElementsAre(6, 5, 4, 1, 0));

    light.choose(weights{3, 3, 3}, 5, light_items::any_number);
    EXPECT_THAT(light.positions(), ElementsAre(2, 1, 0));
}

TEST(light_items, are_spread_over_all_weights_alike) {
    light_items light;
    light.spread(9, 5);
    EXPECT_THAT(light.positions(), ElementsAre(8, 6, 4, 2, 0));

    light.spread(3, 5);
    EXPECT_THAT(light.positions(), ElementsAre(2, 1, 0));
    light.spread(3, 1);
    EXPECT_THAT(light.positions(), ElementsAre(2));
    light.spread(0, 5);
    EXPECT_THAT(light.positions(), ElementsAre());
}

TEST(can_spread, asks_for_less_where_the_lightest_of_few_items_make_no_fine_differences) {
    EXPECT_FALSE(can_spread(11, false));
    EXPECT_TRUE(can_spread(12, false));
    EXPECT_FALSE(can_spread(8, true));
    EXPECT_TRUE(can_spread(9, true));

    EXPECT_TRUE(few_and_fine(12 * 64, 64, 34'000'000));
    EXPECT_FALSE(few_and_fine(13 * 64, 64, 34'000'000)) << "many items per rank";
    EXPECT_FALSE(few_and_fine(12 * 64, 64, 1'376)) << "tokens alone";
}

class menu_test : public testing::Test {
  protected:
    // Rank 0 has 9 5 4 3, rank 1 has 6 2 2 2.
    menu_test() { loads.reset(weights{9, 6, 5, 4, 3, 2, 2, 2}, std::vector<std::uint32_t>{0, 1, 0, 0, 0, 1, 1, 1}, 2); }
    placement loads;
    menu gives;
    menu takes;
};

TEST_F(menu_test, offers_nothing_or_any_one_item) {
    gives.one_item(loads, 0);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 3, 4, 5, 9));
}

TEST_F(menu_test, offers_any_of_a_few_light_items) {
    gives.some_items(loads, 0, 2);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 3, 4, 7));

    // Two of the three twos, and the six.
    takes.some_items(loads, 1, 3);
    EXPECT_THAT(takes.sums(), ElementsAre(0, 2, 2, 4, 6, 8, 8, 10));
}

TEST_F(menu_test, offers_light_items_and_heavy_ones) {
    gives.spread_items(loads, 0, 2);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 3, 9, 12));
}

TEST_F(menu_test, sees_what_has_changed_since_the_last_time) {
    gives.some_items(loads, 0, 2);
    gives.some_items(loads, 0, 2);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 3, 4, 7)) << "nothing";
    gives.some_items(loads, 1, 2);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 2, 2, 4)) << "the rank";
    gives.some_items(loads, 1, 1);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 2)) << "how many";
    gives.one_item(loads, 1);
    gives.some_items(loads, 1, 1);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 2)) << "the kind, twice";
    loads.insert(1, 8, 1);
    gives.some_items(loads, 1, 1);
    EXPECT_THAT(gives.sums(), ElementsAre(0, 1)) << "the weight";

    // The same weights at other places: a 9 more before them.
    takes.some_items(loads, 0, 2);
    loads.insert(0, 0, 9);
    takes.some_items(loads, 0, 2);
    exchange(loads, 0, takes, 1, gives, {.give = 1, .take = 0, .amount = 3});
    EXPECT_THAT(loads.weights(0), ElementsAre(9, 9, 5, 4));
}

TEST_F(menu_test, exchanges_one_item_for_another) {
    gives.one_item(loads, 0);
    takes.one_item(loads, 1);
    exchange(loads, 0, gives, 1, takes, {.give = 4, .take = 3, .amount = 7});

    EXPECT_THAT(loads.weights(0), ElementsAre(5, 4, 3, 2));
    EXPECT_THAT(loads.weights(1), ElementsAre(9, 6, 2, 2));
}

TEST_F(menu_test, gives_without_taking) {
    gives.one_item(loads, 0);
    takes.one_item(loads, 1);
    exchange(loads, 0, gives, 1, takes, {.give = 1, .take = 0, .amount = 3});

    EXPECT_THAT(loads.weights(0), ElementsAre(9, 5, 4));
    EXPECT_THAT(loads.weights(1), ElementsAre(6, 3, 2, 2, 2));
}

TEST_F(menu_test, exchanges_several_items_for_several) {
    gives.some_items(loads, 0, 3);
    takes.some_items(loads, 1, 3);
    // 5 + 3 against 6 + 2.
    exchange(loads, 0, gives, 1, takes, {.give = 5, .take = 5, .amount = 0});

    EXPECT_THAT(loads.weights(0), ElementsAre(9, 6, 4, 2));
    EXPECT_THAT(loads.weights(1), ElementsAre(5, 3, 2, 2));
    EXPECT_EQ(loads.load(0), 21u);
    EXPECT_EQ(loads.load(1), 12u);
}

}  // namespace
}  // namespace evenkeel::detail::menu_test
