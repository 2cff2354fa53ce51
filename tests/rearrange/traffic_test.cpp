// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/rearrange/exchange.hpp>
#include <evenkeel/rearrange/traffic.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::traffic_test {
namespace {

using sizes = std::vector<std::uint64_t>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

///     node        0               1
///     home        0: 0    1: 1    2: 2    3: 3
///     planned     0: 1    1: 2    2: 0    3: 3
rearrangement small_move() {
    return {home_layout(std::vector<std::size_t>{1, 1, 1, 1}), layout_of(test::plan_of({{1}, {2}, {0}, {3}}))};
}

TEST(traffic_of, tells_fast_links_from_slow_ones) {
    auto const move = small_move();
    auto const cluster = uniform_topology(world_size{4}, node_size{2});
    auto const bytes = sizes{1, 10, 100, 1000};
    EXPECT_EQ(evenkeel::traffic_of(move, cluster, bytes).between_nodes, 101u);
    EXPECT_EQ(
        traffic_of(move, cluster, bytes),
        (traffic{.total = 1111, .moved = 111, .between_nodes = 101, .nodes = 2, .node_to_node = {10, 1, 100, 0}}));
}

TEST(traffic_of, has_no_slow_link_on_one_node) {
    auto const single = traffic_of(small_move(), uniform_topology({4}, {4}), sizes{1, 10, 100, 1000});
    EXPECT_EQ(single.between_nodes, 0u);
    EXPECT_EQ(single.moved, 111u);
    EXPECT_EQ(single.node_to_node, sizes{111});
}

TEST(traffic_of, of_a_batch_that_stays_is_nothing) {
    auto const home = home_layout(std::vector<std::size_t>{2, 2});
    auto const none =
        traffic_of({home, layout_of(test::plan_of({{1, 0}, {2, 3}}))}, uniform_topology({2}, {1}), sizes(4, 5));
    EXPECT_EQ(none, (traffic{.total = 20, .moved = 0, .between_nodes = 0, .nodes = 2, .node_to_node = {0, 0, 0, 0}}));
    EXPECT_EQ(traffic_of({layout{}, layout{}}, topology{}, {}), traffic{});
}

TEST(traffic_of, refuses_sizes_of_another_batch) {
    EXPECT_THAT([] { (void)traffic_of(small_move(), uniform_topology({4}, {2}), sizes(5)); },
                refuses("traffic_of: bytes.size() = 5, expected one size for each of 4 items"));
}

TEST(traffic_of, refuses_the_topology_of_another_world) {
    EXPECT_THAT([] { (void)traffic_of(small_move(), uniform_topology({8}, {2}), sizes(4)); },
                refuses("traffic_of: topology.size() = 8, expected the world of the rearrangement, 4 ranks"));
}

TEST(traffic_of, refuses_more_nodes_than_ranks) {
    // 2^32 nodes would be 2^64 pairs of nodes: none at all, once wrapped.
    topology const stray{{node_id{0}, node_id{0}, node_id{0}, node_id{4294967295}}};
    EXPECT_THAT([&] { (void)traffic_of(small_move(), stray, sizes(4)); },
                refuses("traffic_of: topology.nodes() = 4294967296, expected at most one node for each of 4 ranks"));
}

TEST(traffic_of, refuses_to_wrap) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    auto const cluster = uniform_topology({4}, {2});
    EXPECT_EQ(traffic_of(small_move(), cluster, sizes{largest, 0, 0, 0}).between_nodes, largest);
    EXPECT_THAT(
        [&] {
            (void)traffic_of(small_move(), cluster, sizes{largest, 0, 0, 1});
        },
        testing::ThrowsMessage<std::overflow_error>("traffic_of: the total of all bytes exceeds 64 bits"));
}

class traffic_law : public testing::TestWithParam<unsigned> {
  protected:
    traffic_law() {
        test::seeded random{GetParam() + 1000};
        bytes = test::random_bytes(random, move.size());
        cluster = test::random_topology(random, move.ranks());
    }

    rearrangement const move = test::random_journey(GetParam()).first;
    sizes bytes;
    topology cluster;
};

TEST_P(traffic_law, is_the_sum_of_all_exchanges) {
    auto const traffic = traffic_of(move, cluster, bytes);
    std::size_t const nodes = cluster.nodes();
    ASSERT_EQ(traffic.nodes, nodes);

    sizes sums(nodes * nodes);
    std::uint64_t kept = 0;
    for (std::size_t rank = 0; rank < move.ranks().value; ++rank) {
        auto const mine = exchange_of(move, to_id<world_rank>(rank), bytes);
        std::size_t const from = to_index(cluster.node_of(mine.self));
        for (std::size_t number = 0; number < mine.sends.size(); ++number) {
            std::size_t const to = to_index(cluster.node_of(mine.sends.peers[number]));
            sums[from * nodes + to] += mine.sends.byte_offsets[number + 1] - mine.sends.byte_offsets[number];
        }
        for (item_id const item : mine.kept) {
            kept += bytes[to_index(item)];
        }
    }
    EXPECT_EQ(traffic.node_to_node, sums);
    EXPECT_EQ(traffic.moved, std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}));
    EXPECT_EQ(traffic.total, traffic.moved + kept);
    EXPECT_EQ(traffic.total, std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
}

TEST_P(traffic_law, row_and_column_sums_are_what_the_nodes_send_and_receive) {
    auto const traffic = traffic_of(move, cluster, bytes);
    sizes sent(traffic.nodes);
    sizes received(traffic.nodes);
    for (std::size_t rank = 0; rank < move.ranks().value; ++rank) {
        auto const mine = exchange_of(move, to_id<world_rank>(rank), bytes);
        sent[to_index(cluster.node_of(mine.self))] += mine.sends.bytes();
        received[to_index(cluster.node_of(mine.self))] += mine.receives.bytes();
    }
    std::uint64_t within = 0;
    for (std::size_t node = 0; node < traffic.nodes; ++node) {
        std::uint64_t row = 0;
        std::uint64_t column = 0;
        for (std::size_t other = 0; other < traffic.nodes; ++other) {
            row += traffic.node_to_node[node * traffic.nodes + other];
            column += traffic.node_to_node[other * traffic.nodes + node];
        }
        EXPECT_EQ(row, sent[node]);
        EXPECT_EQ(column, received[node]);
        within += traffic.node_to_node[node * traffic.nodes + node];
    }
    EXPECT_EQ(traffic.moved - traffic.between_nodes, within);
}

TEST_P(traffic_law, the_way_back_carries_as_much) {
    auto const there = traffic_of(move, cluster, bytes);
    auto const back = traffic_of(invert(move), cluster, bytes);
    EXPECT_EQ(back.moved, there.moved);
    EXPECT_EQ(back.between_nodes, there.between_nodes);
}

TEST_P(traffic_law, one_composed_exchange_carries_no_more_than_two) {
    auto const second = test::random_journey(GetParam()).second;
    auto const both = traffic_of(compose(second, move), cluster, bytes);
    auto const first = traffic_of(move, cluster, bytes);
    auto const then = traffic_of(second, cluster, bytes);
    EXPECT_LE(both.moved, first.moved + then.moved);
    EXPECT_LE(both.between_nodes, first.between_nodes + then.between_nodes);
}

INSTANTIATE_TEST_SUITE_P(seeds, traffic_law, testing::Range(0u, 200u));

}  // namespace
}  // namespace evenkeel::traffic_test
