// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/topology.hpp>

namespace evenkeel::topology_test {
namespace {

TEST(uniform_topology, fills_nodes_with_consecutive_ranks) {
    auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{64}, evenkeel::node_size{8});

    EXPECT_EQ(cluster.node_of(evenkeel::world_rank{9}), node_id{1});
    EXPECT_EQ(cluster.node_of(world_rank{7}), node_id{0});
    EXPECT_EQ(cluster.node_of(world_rank{63}), node_id{7});
    EXPECT_EQ(cluster.size(), world_size{64});
    EXPECT_EQ(cluster.nodes(), 8u);
}

TEST(uniform_topology, takes_nodes_of_one_rank_and_a_single_node) {
    EXPECT_EQ(uniform_topology({3}, {1}), (topology{{node_id{0}, node_id{1}, node_id{2}}}));
    EXPECT_EQ(uniform_topology({3}, {3}), (topology{{node_id{0}, node_id{0}, node_id{0}}}));
}

TEST(uniform_topology, refuses_a_node_size_that_does_not_divide) {
    EXPECT_THAT([] { (void)uniform_topology({64}, {7}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "uniform_topology: ranks_per_node = 7, expected a divisor of the 64 ranks"));
    EXPECT_THAT([] { (void)uniform_topology({64}, {0}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "uniform_topology: ranks_per_node = 0, expected a divisor of the 64 ranks"));
    EXPECT_THAT([] { (void)uniform_topology({4}, {8}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "uniform_topology: ranks_per_node = 8, expected a divisor of the 4 ranks"));
}

TEST(uniform_topology, needs_a_rank) {
    EXPECT_THAT([] { (void)uniform_topology({0}, {8}); },
                testing::ThrowsMessage<std::invalid_argument>("uniform_topology: ranks = 0, expected at least 1"));
}

TEST(topology, counts_nodes_of_any_size_in_any_order) {
    topology const scattered{{node_id{0}, node_id{2}, node_id{2}, node_id{0}}};
    EXPECT_EQ(scattered.nodes(), 3u);
    EXPECT_EQ(scattered.size(), world_size{4});
    EXPECT_EQ(scattered.node_of(world_rank{1}), node_id{2});
    EXPECT_EQ(topology{}.nodes(), 0u);
}

}  // namespace
}  // namespace evenkeel::topology_test
