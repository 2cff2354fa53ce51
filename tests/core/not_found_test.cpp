// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/core/not_found.hpp>

namespace evenkeel::not_found_test {
namespace {

TEST(not_found, carries_the_nearest_attempt_and_what_it_misses) {
    plan const nearest{.items = {item_id{0}, item_id{1}}, .offsets = {0, 2}};
    not_found const lacking{"balance: options.wishes.cap", 3, nearest};

    EXPECT_STREQ(lacking.what(),
                 "balance: options.wishes.cap was not met within the effort, the nearest attempt misses it by 3");
    EXPECT_EQ(lacking.constraint(), "balance: options.wishes.cap");
    EXPECT_EQ(lacking.violation(), 3u);
    EXPECT_EQ(lacking.nearest(), nearest);
}

}  // namespace
}  // namespace evenkeel::not_found_test
