// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/node_caps.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail::node_caps_test {
namespace {

using sizes = std::vector<std::uint64_t>;

/// Nodes of one rank each, which have drawn so many items of weight 1.
struct drawn_nodes {
    explicit drawn_nodes(std::vector<std::uint32_t> const& counts) {
        for (std::uint32_t node = 0; node < counts.size(); ++node) {
            nodes_.push_back(node);
            homes_.resize(homes_.size() + counts[node], node);
        }
        weights_.assign(homes_.size(), 1);
        items_.assign("test", {.weights = weights_,
                               .bytes = weights_,
                               .home_ranks = homes_,
                               .home_nodes = {},
                               .classes = {},
                               .nodes_of_ranks = nodes_,
                               .nodes = nodes_.size()});
        ranks_.assign(nodes_, nodes_.size());
        state.go_home(items_, ranks_);
    }

    [[nodiscard]] sizes of_nodes() const { return {caps.caps().begin(), caps.caps().end()}; }

    stay_state state;
    node_caps caps;

  private:
    sizes weights_;
    std::vector<std::uint32_t> homes_;
    std::vector<std::uint32_t> nodes_;
    stay_items items_;
    node_ranks ranks_;
};

TEST(node_caps, keep_back_a_margin_until_they_are_opened) {
    drawn_nodes drawn{{120, 120, 60, 100}};
    EXPECT_EQ(drawn.caps.start(drawn.state, 110, 3, false), 3u);
    EXPECT_EQ(drawn.of_nodes(), sizes(4, 107));
    drawn.caps.open(drawn.state, 110);
    EXPECT_EQ(drawn.of_nodes(), sizes(4, 110));
}

TEST(node_caps, let_a_node_with_much_room_take_no_more_than_another_gives_or_as_the_others_have_no_room_for) {
    drawn_nodes drawn{{120, 120, 60, 100}};
    // 10 and 10 have to go. The third node has room for 50, the fourth for 10: four more than they need is a tenth of
    // what would be left over.
    EXPECT_EQ(drawn.caps.start(drawn.state, 110, 0, true), 0u);
    EXPECT_EQ(drawn.of_nodes(), (sizes{110, 110, 60 + 14, 110}));
    drawn.caps.open(drawn.state, 110);
    EXPECT_EQ(drawn.of_nodes(), (sizes{110, 110, 60 + 14, 110})) << "a limit stays";

    drawn_nodes plenty{{160, 80, 40, 100, 100, 100}};
    EXPECT_EQ(plenty.caps.start(plenty.state, 120, 0, true), 0u);
    EXPECT_EQ(plenty.of_nodes(), (sizes{120, 120, 40 + 40, 120, 120, 120})) << "the first gives away 40";
}

TEST(node_caps, keep_nothing_back_where_that_lets_a_node_take_on_less) {
    drawn_nodes drawn{{120, 120, 60, 100}};
    EXPECT_EQ(drawn.caps.start(drawn.state, 110, 2, true), 0u);
    EXPECT_EQ(drawn.of_nodes(), (sizes{110, 110, 60 + 14, 110}));
}

TEST(node_caps, limit_nothing_where_no_node_would_take_on_most) {
    drawn_nodes drawn{{140, 80, 90, 90}};
    EXPECT_EQ(drawn.caps.start(drawn.state, 110, 2, true), 2u);
    EXPECT_EQ(drawn.of_nodes(), sizes(4, 108));
    drawn_nodes full{{140, 60, 100, 100}};
    EXPECT_EQ(full.caps.start(full.state, 100, 0, true), 0u);
    EXPECT_EQ(full.of_nodes(), sizes(4, 100)) << "the second needs all of it";
}

}  // namespace
}  // namespace evenkeel::detail::node_caps_test
