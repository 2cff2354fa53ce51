// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/orchestrate/detail/polish.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::polish_test {
namespace {

using ranks = std::vector<std::uint32_t>;
using sizes = std::vector<std::uint64_t>;

TEST(polisher, splits_the_items_of_two_ranks_anew_in_their_node_before_elsewhere) {
    // Rank 0 has 6 and 5, rank 1 of its node 4 and 3, rank 2 of another node 4 and 3: either could help.
    ranks rank_of{0, 0, 1, 1, 2, 2};
    polisher polish;
    EXPECT_TRUE(
        polish(sizes{6, 5, 4, 3, 4, 3}, sizes(6, 1), ranks{0, 0, 0, 0, 1, 1}, ranks{0, 0, 1}, 9, 1000, rank_of));
    EXPECT_EQ(polish.busiest(), 9U);
    EXPECT_EQ(rank_of[4], 2U);
    EXPECT_EQ(rank_of[5], 2U);
}

TEST(polisher, changes_nothing_where_the_target_cannot_be_reached) {
    ranks rank_of{0, 0, 1};
    polisher polish;
    EXPECT_FALSE(polish(sizes{5, 5, 5}, sizes(3, 1), ranks{0, 0, 0}, ranks{0, 0}, 9, 1000, rank_of));
    EXPECT_EQ(rank_of, (ranks{0, 0, 1}));
}

TEST(polisher, has_nothing_to_do_where_all_is_even) {
    ranks rank_of{1, 0};
    polisher polish;
    EXPECT_TRUE(polish(sizes{5, 5}, sizes(2, 1), ranks{0, 0}, ranks{0, 0}, 5, 1, rank_of));
    EXPECT_EQ(rank_of, (ranks{1, 0}));
}

TEST(polisher, sends_the_fewest_bytes_to_another_node_that_will_do) {
    // Rank 0 may give a 4 or a 3; the one that comes first is dearer, whichever that is.
    for (auto const& [bytes, goes] : {std::pair{sizes{9, 8, 2, 9}, 2U}, std::pair{sizes{9, 2, 8, 9}, 1U}}) {
        ranks rank_of{0, 0, 0, 1};
        polisher polish;
        EXPECT_TRUE(polish(sizes{3, 4, 3, 2}, bytes, ranks{0, 0, 0, 1}, ranks{0, 1}, 7, 1000, rank_of));
        EXPECT_EQ(rank_of[goes], 1U);
        EXPECT_EQ(std::ranges::count(rank_of, 0U), 2);
    }
}

TEST(polisher, brings_an_item_home_rather_than_sending_another_away) {
    // Three nodes. The 2 of rank 0 has come from rank 1, where something else is that is not at home.
    ranks rank_of{0, 0, 0, 1, 2};
    polisher polish;
    EXPECT_TRUE(
        polish(sizes{2, 5, 5, 7, 2}, sizes{3, 5, 5, 9, 3}, ranks{1, 0, 0, 0, 2}, ranks{0, 1, 2}, 10, 1000, rank_of));
    EXPECT_EQ(rank_of[0], 1U);
    EXPECT_EQ(rank_of[4], 2U);
    EXPECT_EQ(std::ranges::count(rank_of, 2U), 1);
}

class polisher_law : public testing::TestWithParam<unsigned> {};

TEST_P(polisher_law, keeps_what_it_says) {
    test::seeded random{GetParam()};
    std::size_t const count = random.between(2, 8);
    ranks nodes;
    for (std::size_t rank = 0; rank < count; ++rank) {
        nodes.push_back(static_cast<std::uint32_t>(rank / 2));
    }
    sizes weights;
    ranks rank_of;
    ranks home;
    std::uint64_t total = 0;
    for (std::size_t item = 0; item < 4 * count; ++item) {
        weights.push_back(random.up_to(300));
        total += weights.back();
        rank_of.push_back(static_cast<std::uint32_t>(random.up_to(count - 1)));
        home.push_back(nodes[rank_of.back()]);
    }
    auto const before = rank_of;
    std::uint64_t const target = total / count + total / count / 50 + *std::ranges::max_element(weights) / 4;
    polisher polish;
    bool const reached = polish(weights, weights, home, nodes, target, 200'000, rank_of);
    sizes loads(count);
    for (std::size_t item = 0; item < weights.size(); ++item) {
        ASSERT_LT(rank_of[item], count);
        loads[rank_of[item]] += weights[item];
    }
    if (reached) {
        EXPECT_LE(*std::ranges::max_element(loads), target);
        EXPECT_EQ(polish.busiest(), *std::ranges::max_element(loads));
    } else {
        EXPECT_EQ(rank_of, before);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, polisher_law, testing::Range(0u, 100u));

}  // namespace
}  // namespace evenkeel::detail::polish_test
