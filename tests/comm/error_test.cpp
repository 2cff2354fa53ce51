// SPDX-License-Identifier: Apache-2.0
#include <concepts>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include <gtest/gtest.h>

#include <evenkeel/comm/error.hpp>

namespace evenkeel::comm::error_test {
namespace {

static_assert(std::derived_from<error, std::runtime_error>);

TEST(error, says_what_failed_where_and_why) {
    error const caught{"exchange", world_rank{2}, std::nullopt, "rank 0 sends 1 byte to rank 1, which expects 3"};
    EXPECT_STREQ(caught.what(), "exchange on rank 2: rank 0 sends 1 byte to rank 1, which expects 3");
    EXPECT_EQ(caught.operation(), "exchange");
    EXPECT_EQ(caught.rank(), world_rank{2});
    EXPECT_EQ(caught.peer(), std::nullopt);
    EXPECT_EQ(caught.reason(), "rank 0 sends 1 byte to rank 1, which expects 3");
    EXPECT_FALSE(caught.can_go_on());
    EXPECT_TRUE((error{"agree", world_rank{0}, {}, "ranks disagree", aftermath::can_go_on}.can_go_on()));
}

TEST(error, names_the_peer_that_caused_it) {
    error const caught{"barrier", world_rank{0}, world_rank{7}, "rank 7 gave it up"};
    EXPECT_EQ(caught.peer(), world_rank{7});
    error const copied = caught;
    EXPECT_EQ(copied.peer(), world_rank{7});
    EXPECT_STREQ(copied.what(), caught.what());
}

}  // namespace
}  // namespace evenkeel::comm::error_test
