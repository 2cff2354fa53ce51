// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/room_queue.hpp>

namespace evenkeel::detail::room_queue_test {
namespace {

class room_queue_test : public testing::Test {
  protected:
    // Rank 0 is full, 1 and 3 have room for 4, 2 has room for 9.
    room_queue_test() {
        loads.reset(std::vector<std::uint64_t>{10, 6, 6, 1}, std::vector<std::uint32_t>{0, 1, 3, 2}, 4);
        rooms.reserve(4);
        rooms.reset(loads, 10);
    }
    placement loads;
    room_queue rooms;
};

TEST_F(room_queue_test, gives_the_rank_with_most_room_and_of_equals_the_first) {
    EXPECT_EQ(rooms.pop(), 2u);
    EXPECT_EQ(rooms.pop(), 1u);
    EXPECT_EQ(rooms.pop(), 3u);
    EXPECT_EQ(rooms.pop(), std::nullopt);
}

TEST_F(room_queue_test, skips_what_is_out_of_date) {
    loads.insert(2, 9, 8);
    rooms.push(2);

    EXPECT_EQ(rooms.pop(), 1u);
    EXPECT_EQ(rooms.pop(), 3u);
    EXPECT_EQ(rooms.pop(), 2u);
    EXPECT_EQ(rooms.pop(), std::nullopt);
}

TEST_F(room_queue_test, does_not_take_in_ranks_without_room) {
    rooms.push(0);
    loads.insert(1, 9, 5);
    rooms.push(1);

    EXPECT_EQ(rooms.pop(), 2u);
    EXPECT_EQ(rooms.pop(), 3u);
    EXPECT_EQ(rooms.pop(), std::nullopt);
}

TEST_F(room_queue_test, stays_in_its_memory_however_often_ranks_are_pushed) {
    for (int times = 0; times < 100; ++times) {
        rooms.push(3);
    }
    EXPECT_EQ(rooms.pop(), 2u);
    EXPECT_EQ(rooms.pop(), 1u);
    EXPECT_EQ(rooms.pop(), 3u);
}

}  // namespace
}  // namespace evenkeel::detail::room_queue_test
