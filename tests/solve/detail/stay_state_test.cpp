// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::stay_state_test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

/// Nodes of two ranks that have drawn as many items each, divided as finely as they can be.
struct drawn_items {
    drawn_items(std::size_t nodes, std::vector<std::uint64_t> of) : weights_{std::move(of)} {
        for (std::uint32_t rank = 0; rank < 2 * nodes; ++rank) {
            nodes_of_ranks.push_back(rank / 2);
        }
        for (std::size_t item = 0; item < weights_.size(); ++item) {
            homes_.push_back(static_cast<std::uint32_t>(item * 2 * nodes / weights_.size()));
        }
        items.assign("test",
                     {.weights = weights_,
                      .bytes = weights_,
                      .home_ranks = homes_,
                      .home_nodes = {},
                      .classes = {},
                      .nodes_of_ranks = nodes_of_ranks,
                      .nodes = nodes},
                     item_order::by_node);
        ranks.assign(nodes_of_ranks, nodes);
        state.go_home(items, ranks);
    }

    stay_items items;
    node_ranks ranks;
    stay_state state;
    std::vector<std::uint32_t> nodes_of_ranks;

  private:
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint32_t> homes_;
};

void send(stay_state& state, std::uint32_t item, std::uint64_t weight, std::uint32_t from, std::uint32_t to) {
    state.promise(weight, to);
    state.send(from, std::vector<parcel>{{item, weight, to}});
}

TEST(stay_state, lists_what_is_sent_to_a_node_once_it_is_unpacked) {
    drawn_items drawn{2, {9, 5, 3, 1, 8, 4, 4, 2}};
    auto& state = drawn.state;
    send(state, 2, 3, 0, 1);
    send(state, 0, 9, 0, 1);
    EXPECT_EQ(state.nodes().load(0), 6u);
    EXPECT_EQ(state.nodes().load(1), 30u) << "loads are known at once";
    EXPECT_EQ(state.rank_load(3), 18u) << "the lighter rank there";
    EXPECT_EQ(state.cost_between_nodes(), 12u);
    EXPECT_THAT(state.nodes().items(0), ElementsAre(1, 3));

    state.unpack(1);
    EXPECT_THAT(state.nodes().items(1), ElementsAre(0, 4, 5, 6, 2, 7));
    EXPECT_THAT(state.nodes().weights(1), ElementsAre(9, 8, 4, 4, 3, 2));

    // One that is on its way moves on.
    send(state, 3, 1, 0, 1);
    state.move(3, 1, 0, 0);
    EXPECT_THAT(state.nodes().items(0), ElementsAre(1, 3));
    EXPECT_THAT(state.nodes().items(1), ElementsAre(0, 4, 5, 6, 2, 7));
    EXPECT_EQ(state.cost_between_nodes(), 12u);
}

TEST(stay_state, forgets_what_was_on_its_way_when_everything_goes_home) {
    drawn_items drawn{2, {9, 5, 3, 1, 8, 4, 4, 2}};
    send(drawn.state, 2, 3, 0, 1);
    drawn.state.go_home(drawn.items, drawn.ranks);
    drawn.state.unpack_all();
    EXPECT_THAT(drawn.state.nodes().items(0), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(drawn.state.nodes().items(1), ElementsAre(4, 5, 6, 7));
    EXPECT_EQ(drawn.state.cost_between_nodes(), 0u);
}

TEST(stay_state, says_that_leaving_a_long_list_takes_more_steps_than_leaving_a_short_one) {
    auto const steps_of = [](std::size_t items) {
        drawn_items drawn{2, std::vector<std::uint64_t>(2 * items, 1)};
        return drawn.state.move(0, 0, 1, 2);
    };
    EXPECT_LT(steps_of(10), 100u);
    EXPECT_GT(steps_of(10'000), 2'000u);
    // What has been sent there is put into its place first.
    drawn_items drawn{2, std::vector<std::uint64_t>(2000, 1)};
    std::vector<parcel> parcels;
    for (std::uint32_t item = 0; item < 900; ++item) {
        drawn.state.promise(1, 1);
        parcels.push_back({item, 1, 1});
    }
    drawn.state.send(0, parcels);
    EXPECT_GT(drawn.state.unpack(1), 1900u);
    EXPECT_EQ(drawn.state.unpack(1), 0u);
}

class stay_state_law : public testing::TestWithParam<std::uint64_t> {};

// More items than there is memory for those on their way.
TEST_P(stay_state_law, sending_ends_where_moving_does) {
    test::seeded random{GetParam()};
    std::size_t const nodes = random.between(2, 5);
    std::vector<std::uint64_t> weights(8 * nodes);
    for (auto& weight : weights) {
        weight = random.up_to(9) == 0 ? 0 : random.between(1, 20);
    }
    drawn_items sent{nodes, weights};
    drawn_items moved{nodes, weights};
    for (int turn = 0; turn < 300; ++turn) {
        auto const item = static_cast<std::uint32_t>(random.up_to(weights.size() - 1));
        auto const to = static_cast<std::uint32_t>(random.up_to(nodes - 1));
        std::uint32_t const from = moved.state.node_of_rank(moved.state.rank_of(item));
        if (from == to || moved.items.weight(item) == 0) {
            continue;
        }
        moved.state.move(item, from, to, moved.state.rank_in(item, to));
        sent.state.unpack(from);
        send(sent.state, item, weights[item], from, to);
    }
    sent.state.unpack_all();
    for (std::size_t node = 0; node < nodes; ++node) {
        EXPECT_THAT(sent.state.nodes().items(node), ElementsAreArray(moved.state.nodes().items(node)));
        EXPECT_THAT(sent.state.nodes().weights(node), ElementsAreArray(moved.state.nodes().weights(node)));
        EXPECT_EQ(sent.state.nodes().load(node), moved.state.nodes().load(node));
    }
    EXPECT_THAT(sent.state.ranks_of(), ElementsAreArray(moved.state.ranks_of()));
    EXPECT_EQ(sent.state.cost_between_nodes(), moved.state.cost_between_nodes());

    // The same lists again from the ranks alone.
    drawn_items again{nodes, weights};
    again.state.take_up(again.items, again.ranks, moved.state.ranks_of());
    placement of_ranks;
    again.state.list_ranks(of_ranks);
    for (std::size_t node = 0; node < nodes; ++node) {
        EXPECT_THAT(again.state.nodes().items(node), ElementsAreArray(moved.state.nodes().items(node)));
    }
    for (std::uint32_t rank = 0; rank < 2 * nodes; ++rank) {
        EXPECT_EQ(of_ranks.load(rank), moved.state.rank_load(rank));
        EXPECT_TRUE(std::ranges::is_sorted(of_ranks.weights(rank), std::ranges::greater{}));
    }
    EXPECT_EQ(again.state.cost_between_nodes(), moved.state.cost_between_nodes());
}

INSTANTIATE_TEST_SUITE_P(seeds, stay_state_law, testing::Range(std::uint64_t{0}, std::uint64_t{40}));

}  // namespace
}  // namespace evenkeel::detail::stay_state_test
