// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/nearest_shares.hpp>
#include <evenkeel/solve/detail/placement.hpp>

namespace evenkeel::detail::nearest_shares_test {
namespace {

TEST(nearest_shares, keeps_the_shares_with_least_above_the_target_in_all) {
    std::vector<std::uint64_t> const weights{6, 5, 4, 3};
    placement loads;
    nearest_shares nearest;
    auto const offer = [&](std::vector<std::uint32_t> const& rank_of) {
        loads.reset(weights, rank_of, 3);
        bool const nearer = nearest.is_nearer(loads, 5);
        if (nearer) {
            nearest.keep(rank_of);
        }
        return nearer;
    };
    EXPECT_TRUE(offer({0, 0, 1, 2}));   // 6 too much
    EXPECT_FALSE(offer({0, 0, 1, 1}));  // 6 and 2
    EXPECT_TRUE(offer({0, 1, 2, 2}));   // 1 and 2
    EXPECT_FALSE(offer({0, 1, 2, 1}));  // 1 and 3
    EXPECT_EQ(nearest.rank_of(), (std::vector<std::uint32_t>{0, 1, 2, 2}));
    nearest.forget();
    EXPECT_TRUE(offer({0, 0, 0, 0}));
}

}  // namespace
}  // namespace evenkeel::detail::nearest_shares_test
