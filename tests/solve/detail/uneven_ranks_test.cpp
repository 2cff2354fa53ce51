// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/uneven_ranks.hpp>

namespace evenkeel::detail::uneven_ranks_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using numbers = std::vector<std::uint32_t>;
using weights = std::vector<std::uint64_t>;

TEST(uneven_ranks, are_a_batch_of_their_own) {
    // Rank 1 is at the target of 9, ranks 0 and 2 are not.
    uneven_ranks uneven;
    uneven.gather(weights{8, 7, 5, 4, 2, 1}, numbers{0, 2, 1, 1, 0, 2}, weights{10, 9, 8}, 9, 0);

    EXPECT_EQ(uneven.ranks(), 2u);
    EXPECT_THAT(uneven.weights(), ElementsAre(8, 7, 2, 1));
    EXPECT_THAT(uneven.rank_of(), ElementsAre(0, 1, 0, 1));
}

TEST(uneven_ranks, tell_the_whole_batch_what_has_changed) {
    numbers rank_of{0, 2, 1, 1, 0, 2};
    uneven_ranks uneven;
    uneven.gather(weights{8, 7, 5, 4, 2, 1}, rank_of, weights{10, 9, 8}, 9, 0);
    uneven.rank_of()[2] = 1;
    uneven.rank_of()[3] = 0;
    uneven.scatter(rank_of);

    EXPECT_THAT(rank_of, ElementsAre(0, 2, 1, 1, 2, 0));
}

TEST(uneven_ranks, are_not_those_that_leave_little_room) {
    uneven_ranks uneven;
    uneven.gather(weights{10, 8, 7}, numbers{0, 1, 2}, weights{10, 8, 7}, 9, 1);

    EXPECT_EQ(uneven.ranks(), 2u);
    EXPECT_THAT(uneven.weights(), ElementsAre(10, 7));
    EXPECT_EQ(uneven.busiest_even(), 8u);
}

TEST(uneven_ranks, may_be_none) {
    uneven_ranks uneven;
    uneven.gather(weights{3, 3}, numbers{0, 1}, weights{3, 3}, 3, 0);

    EXPECT_EQ(uneven.ranks(), 0u);
    EXPECT_THAT(uneven.weights(), IsEmpty());
}

}  // namespace
}  // namespace evenkeel::detail::uneven_ranks_test
