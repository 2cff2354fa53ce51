// SPDX-License-Identifier: Apache-2.0
#include "comm/src/renumber.hpp"

#include <array>
#include <optional>

#include <gtest/gtest.h>

namespace evenkeel::renumber_test {
namespace {

constexpr std::array ranks{world_rank{4}, world_rank{1}, world_rank{10}};

TEST(renumbered, changes_every_rank_that_a_fault_names) {
    EXPECT_EQ(comm::renumbered("the deadline passed before rank 0 came", ranks),
              "the deadline passed before rank 4 came");
    EXPECT_EQ(comm::renumbered("the deadline passed before ranks 0, 1, 2 and 9 more came", ranks),
              "the deadline passed before ranks 4, 1, 10 and 9 more came");
    EXPECT_EQ(comm::renumbered("rank 2 sends 1 byte to rank 1, which expects 2", ranks),
              "rank 10 sends 1 byte to rank 1, which expects 2");
    EXPECT_EQ(comm::renumbered("rank 2", ranks), "rank 10");
    EXPECT_EQ(comm::renumbered("rank 2, 0 bytes more", ranks), "rank 10, 0 bytes more");
}

TEST(renumbered, leaves_all_other_numbers_alone) {
    for (auto const* const text : {"", "rank", "rank ", "ranks ", "0 ranks of 2", "rank 3 and rank x", "ranked 0",
                                   "the deadline passed while bytes were being copied", "rank 99999999999999999999"}) {
        EXPECT_EQ(comm::renumbered(text, ranks), text);
    }
}

TEST(renumbered, makes_an_error_of_the_communicator_that_was_split) {
    comm::error const wrong{"exchange", world_rank{1}, world_rank{0}, "rank 0 gave it up"};
    auto const own = comm::renumbered(wrong, world_rank{1}, ranks);
    EXPECT_STREQ(own.what(), "exchange on rank 1: rank 4 gave it up");
    EXPECT_EQ(own.rank(), world_rank{1});
    EXPECT_EQ(own.peer(), world_rank{4});
    EXPECT_FALSE(own.can_go_on());

    comm::error const nobody{"exchange", world_rank{1}, std::nullopt, "the cable broke"};
    EXPECT_EQ(comm::renumbered(nobody, world_rank{1}, ranks).peer(), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::renumber_test
