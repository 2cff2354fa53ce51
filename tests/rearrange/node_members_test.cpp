// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/node_members.hpp>

namespace evenkeel::node_members_test {
namespace {

using ::testing::ElementsAre;

TEST(node_members, connect_the_same_place_in_every_node) {
    node_members const nodes{uniform_topology({4}, {2})};
    EXPECT_EQ(nodes.rails(), 2u);
    EXPECT_EQ(nodes.on_rail_of(world_rank{0}, node_id{1}), world_rank{2});
    EXPECT_EQ(nodes.on_rail_of(world_rank{3}, node_id{0}), world_rank{1});
}

TEST(node_members, have_as_many_rails_as_the_smallest_node_has_ranks) {
    // Node 0 has the ranks 0, 2 and 4, node 1 the ranks 1 and 3.
    node_members const nodes{topology{{node_id{0}, node_id{1}, node_id{0}, node_id{1}, node_id{0}}}};
    EXPECT_THAT(nodes.of_nodes()[0], ElementsAre(world_rank{0}, world_rank{2}, world_rank{4}));
    EXPECT_EQ(nodes.rails(), 2u);
    EXPECT_EQ(nodes.rail_of(world_rank{4}), 0u);
    EXPECT_EQ(nodes.on_rail_of(world_rank{4}, node_id{1}), world_rank{1});
    EXPECT_EQ(nodes.on_rail_of(world_rank{3}, node_id{0}), world_rank{2});
}

TEST(node_members, share_a_rail_of_a_larger_node_among_the_ranks_on_it) {
    // Node 0 has the ranks 0 and 1 on its one rail, as the smallest node has one rank.
    node_members const nodes{topology{{node_id{0}, node_id{0}, node_id{1}, node_id{2}, node_id{2}}}};
    for (std::size_t rank = 0; rank < 5; ++rank) {
        EXPECT_EQ(nodes.rail_of(world_rank{static_cast<std::uint32_t>(rank)}), 0u);
    }
    EXPECT_EQ(nodes.on_rail_of(world_rank{0}, node_id{2}), world_rank{3});
    EXPECT_EQ(nodes.on_rail_of(world_rank{1}, node_id{2}), world_rank{4});
}

}  // namespace
}  // namespace evenkeel::node_members_test
