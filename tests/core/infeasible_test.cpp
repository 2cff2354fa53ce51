// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/core/infeasible.hpp>

namespace evenkeel::infeasible_test {
namespace {

TEST(infeasible, says_which_wish_and_how_much_is_missing) {
    infeasible const lacking{"search_groups: the memory of pipelines[1]", std::nullopt, 1024};

    EXPECT_STREQ(lacking.what(), "search_groups: the memory of pipelines[1] cannot be met, 1024 are missing");
    EXPECT_EQ(lacking.constraint(), "search_groups: the memory of pipelines[1]");
    EXPECT_EQ(lacking.item(), std::nullopt);
    EXPECT_EQ(lacking.amount(), 1024u);
}

TEST(infeasible, names_the_item_that_stands_against_it) {
    infeasible const too_long{"max_tokens", 7, 3};

    EXPECT_STREQ(too_long.what(), "max_tokens cannot be met by item 7, 3 are missing");
    EXPECT_EQ(too_long.item(), 7u);
}

TEST(infeasible, counts_one_as_one_and_says_at_least_where_counting_ends) {
    EXPECT_STREQ((infeasible{"max_tokens", std::nullopt, 1}.what()), "max_tokens cannot be met, 1 is missing");
    EXPECT_STREQ((infeasible{"memory", std::nullopt, infeasible::most_amount}.what()),
                 "memory cannot be met, at least 9223372036854775808 are missing");
}

}  // namespace
}  // namespace evenkeel::infeasible_test
