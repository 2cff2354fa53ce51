// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>

namespace evenkeel::detail::group_view_test {
namespace {

/// Three nodes of three world ranks. The group has two instances on node 0, one of two ranks, and one on node 2.
class three_instances : public testing::Test {
  protected:
    three_instances() {
        view_.assign({.members = {world_rank{0}, world_rank{1}, world_rank{2}, world_rank{7}}, .offsets = {0, 1, 3, 4}},
                     uniform_topology({9}, {3}));
    }

    [[nodiscard]] std::vector<std::uint32_t> nearest(std::uint32_t rank) const {
        std::vector<std::uint32_t> result;
        for (std::size_t item = 0; item < 4; ++item) {
            result.push_back(view_.nearest(world_rank{rank}, item));
        }
        return result;
    }

    using ranks = std::vector<std::uint32_t>;
    group_view view_;
};

TEST_F(three_instances, are_nearest_to_their_members) {
    EXPECT_EQ(nearest(0), (ranks{0, 0, 0, 0}));
    EXPECT_EQ(nearest(1), (ranks{1, 1, 1, 1}));
    EXPECT_EQ(nearest(2), (ranks{1, 1, 1, 1}));
}

TEST_F(three_instances, share_the_items_of_their_node_and_those_of_nodes_without_any_in_turn) {
    EXPECT_EQ(nearest(6), (ranks{2, 2, 2, 2}));
    EXPECT_EQ(nearest(3), (ranks{0, 1, 2, 0}));
    view_.assign({.members = {world_rank{0}, world_rank{1}, world_rank{7}}, .offsets = {0, 1, 2, 3}},
                 uniform_topology({9}, {3}));
    EXPECT_EQ(nearest(2), (ranks{0, 1, 0, 1}));
}

TEST_F(three_instances, are_on_nodes_of_their_leaders_numbered_anew) {
    EXPECT_EQ(view_.nodes(), 2u);
    EXPECT_EQ(view_.on_node(1).front(), 2u);
    EXPECT_EQ(view_.node_of(world_rank{8}), 1u);
    EXPECT_EQ(view_.node_of(world_rank{4}), ~std::uint32_t{0});
    EXPECT_EQ(view_.leader(1), world_rank{1});
}

}  // namespace
}  // namespace evenkeel::detail::group_view_test
