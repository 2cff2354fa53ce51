// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/node_rooms.hpp>
#include <evenkeel/solve/detail/shipment.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail::shipment_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t plenty = 1'000'000'000;

/// Nodes of one rank, of which the first has drawn everything, and their caps.
struct drawn_by_one {
    drawn_by_one(std::vector<std::uint64_t> of, std::vector<std::uint64_t> caps_of)
        : weights{std::move(of)}, caps{std::move(caps_of)}, homes(weights.size(), 0), nodes_of_ranks(caps.size()) {
        std::iota(nodes_of_ranks.begin(), nodes_of_ranks.end(), 0U);
        items.assign("test", {.weights = weights,
                              .bytes = weights,
                              .home_ranks = homes,
                              .home_nodes = {},
                              .classes = {},
                              .nodes_of_ranks = nodes_of_ranks,
                              .nodes = caps.size()});
        ranks.assign(nodes_of_ranks, caps.size());
        state.go_home(items, ranks);
        rooms.reserve(caps.size());
        rooms.reset(state.nodes(), caps);
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            list.push_back({weights[item], weights[item], item});
        }
    }

    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> caps;
    std::vector<std::uint32_t> homes;
    std::vector<std::uint32_t> nodes_of_ranks;
    stay_items items;
    node_ranks ranks;
    stay_state state;
    node_rooms rooms;
    std::vector<export_item> list;
    shipment goods;
    step_budget steps{plenty};
};

TEST(shipment, gives_each_item_to_the_node_with_most_room_the_heaviest_first) {
    drawn_by_one drawn{{9, 5, 4, 3, 1}, {0, 10, 12}};
    drawn.goods.pack(drawn.state, drawn.list, std::vector<std::uint32_t>{3, 0, 1});
    EXPECT_TRUE(drawn.goods.send_all(drawn.state, 0, drawn.rooms, drawn.steps));
    drawn.state.unpack_all();
    EXPECT_THAT(drawn.state.nodes().items(0), ElementsAre(2, 4));
    EXPECT_THAT(drawn.state.nodes().items(1), ElementsAre(1, 3));
    EXPECT_THAT(drawn.state.nodes().items(2), ElementsAre(0));
    EXPECT_EQ(drawn.state.nodes().load(0), 5u);
    EXPECT_EQ(drawn.state.cost_between_nodes(), 17u);
    EXPECT_EQ(drawn.rooms.pop(), 2u) << "rooms are those that are left";
}

TEST(shipment, changes_nothing_where_not_all_of_it_finds_room) {
    drawn_by_one drawn{{9, 8, 7, 1}, {0, 10, 12}};
    drawn.goods.pack(drawn.list);
    EXPECT_FALSE(drawn.goods.send_all(drawn.state, 0, drawn.rooms, drawn.steps));
    drawn.state.unpack_all();
    EXPECT_THAT(drawn.state.nodes().items(0), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(drawn.state.nodes().load(0), 25u);
    EXPECT_EQ(drawn.state.nodes().load(1), 0u);
    EXPECT_EQ(drawn.state.nodes().load(2), 0u);
    EXPECT_EQ(drawn.state.cost_between_nodes(), 0u);
    EXPECT_EQ(drawn.rooms.pop(), 2u);
    EXPECT_EQ(drawn.rooms.pop(), 1u);
}

TEST(shipment, leaves_what_finds_no_room_and_fills_that_with_lighter_items) {
    drawn_by_one drawn{{9, 8, 7, 1}, {0, 10, 12}};
    drawn.goods.pack(drawn.list);
    EXPECT_TRUE(drawn.goods.send_some(drawn.state, 0, drawn.rooms, drawn.steps));
    drawn.state.unpack_all();
    EXPECT_THAT(drawn.state.nodes().items(0), ElementsAre(2));
    EXPECT_EQ(drawn.state.nodes().load(1) + drawn.state.nodes().load(2), 18u);

    drawn_by_one full{{9, 8}, {0, 7}};
    full.goods.pack(full.list);
    EXPECT_FALSE(full.goods.send_some(full.state, 0, full.rooms, full.steps));
    EXPECT_THAT(full.state.nodes().items(1), IsEmpty());
}

TEST(shipment, counts_what_it_does_and_that_is_no_more_per_item_for_many) {
    auto const steps_of = [](std::size_t number) {
        drawn_by_one drawn{std::vector<std::uint64_t>(number, 1), {0, number}};
        drawn.goods.pack(drawn.list);
        EXPECT_TRUE(drawn.goods.send_all(drawn.state, 0, drawn.rooms, drawn.steps));
        return plenty - drawn.steps.left();
    };
    EXPECT_GE(steps_of(1'000), 10'000u) << "they are sorted";
    EXPECT_LE(steps_of(100'000), 200 * steps_of(1'000)) << "but no list is gone through for each";
}

}  // namespace
}  // namespace evenkeel::detail::shipment_test
