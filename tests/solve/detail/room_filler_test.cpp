// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/room_filler.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail::room_filler_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using weights = std::vector<std::uint64_t>;

/// The weights of the items chosen.
weights fill(weights const& falling, std::uint64_t room, std::uint64_t waste) {
    remaining_items items;
    items.reset(falling);
    step_budget steps{1'000'000};
    room_filler filler;
    weights result;
    for (auto const number : filler(items, room, waste, steps)) {
        result.push_back(items.weight(number));
    }
    return result;
}

TEST(room_filler, takes_as_few_items_as_fill_the_room) {
    EXPECT_THAT(fill({9, 7, 5, 3, 2}, 7, 0), ElementsAre(7));
    EXPECT_THAT(fill({9, 7, 5, 3, 2}, 8, 0), ElementsAre(5, 3));
    EXPECT_THAT(fill({9, 7, 5, 3, 2}, 10, 0), ElementsAre(7, 3));
    EXPECT_THAT(fill({9, 7, 5, 3, 2}, 15, 0), ElementsAre(7, 5, 3));
}

TEST(room_filler, is_content_with_what_wastes_little) { EXPECT_THAT(fill({9, 7, 5, 3, 2}, 8, 1), ElementsAre(7)); }

TEST(room_filler, leaves_as_little_room_as_it_can) {
    EXPECT_THAT(fill({9, 7, 5}, 13, 0), ElementsAre(7, 5));
    EXPECT_THAT(fill({9, 7, 5}, 4, 0), IsEmpty());
}

TEST(room_filler, does_not_take_an_item_twice) { EXPECT_THAT(fill({5, 3}, 6, 0), ElementsAre(5)); }

}  // namespace
}  // namespace evenkeel::detail::room_filler_test
