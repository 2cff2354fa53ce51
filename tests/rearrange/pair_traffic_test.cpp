// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>
#include <evenkeel/rearrange/traffic.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/layouts.hpp"

namespace evenkeel::test::pair_traffic_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using cells = std::vector<std::uint64_t>;

pair_bytes pair(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    return {world_rank{from}, world_rank{to}, bytes};
}

TEST(pair_traffic_of, leaves_out_what_stays_and_pairs_without_bytes) {
    EXPECT_THAT(pair_traffic_of(cells{7, 1, 0, 7}, world_size{2}).pairs, ElementsAre(pair(0, 1, 1)));
    EXPECT_THAT(pair_traffic_of(cells{9}, world_size{1}).pairs, IsEmpty());
    EXPECT_THAT(pair_traffic_of(cells{}, world_size{0}).pairs, IsEmpty());
}

TEST(pair_traffic_of, adds_up_the_items_of_a_pair_in_order_of_sender_and_receiver) {
    // Items 0, 1, 2 on rank 0 and 3 on rank 1; 0 and 2 go to rank 1, 1 stays, 3 goes to rank 0.
    rearrangement const move{home_layout(std::vector<std::size_t>{3, 1}), layout_of(plan_of({{1, 3}, {0, 2}}))};
    EXPECT_THAT(pair_traffic_of(move, cells{5, 6, 7, 8}).pairs, ElementsAre(pair(0, 1, 12), pair(1, 0, 8)));
    EXPECT_THAT(pair_traffic_of(move, cells{0, 6, 0, 8}).pairs, ElementsAre(pair(1, 0, 8)));
}

TEST(pair_traffic_of, is_what_each_rank_sends_and_receives) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        seeded random{seed};
        world_size const ranks{random.between(1, 6)};
        std::size_t const items = random.up_to(30);
        rearrangement const move{random_layout(random, items, ranks), random_layout(random, items, ranks)};
        auto const bytes = random_bytes(random, items);
        auto const all = pair_traffic_of(move, bytes);
        std::vector<pair_bytes> expected;
        for (std::size_t rank = 0; rank < ranks.value; ++rank) {
            auto const sends = exchange_of(move, to_id<world_rank>(rank), bytes).sends;
            for (std::size_t m = 0; m < sends.size(); ++m) {
                expected.push_back(
                    {to_id<world_rank>(rank), sends.peers[m], sends.byte_offsets[m + 1] - sends.byte_offsets[m]});
            }
        }
        EXPECT_EQ(all.pairs, expected) << "seed " << seed;
        EXPECT_EQ(all.ranks, ranks);
    }
}

TEST(pair_traffic_of, refuses_what_is_no_square_and_sums_beyond_64_bits) {
    EXPECT_THROW(static_cast<void>(pair_traffic_of(cells{1, 2, 3}, world_size{2})), std::invalid_argument);
    auto const most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THROW(static_cast<void>(pair_traffic_of(cells{0, most, 1, 0}, world_size{2})), std::overflow_error);
    rearrangement const move{home_layout(std::vector<std::size_t>{2}), home_layout(std::vector<std::size_t>{2})};
    EXPECT_THROW(static_cast<void>(pair_traffic_of(move, cells{1})), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(pair_traffic_of(move, cells{most, 1})), std::overflow_error);
}

}  // namespace
}  // namespace evenkeel::test::pair_traffic_test
