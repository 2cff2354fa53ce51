// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_bound.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/lower_bound.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::node_sorting_test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

/// Nodes of two ranks, and what these have drawn.
struct drawing {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint32_t> homes;
    std::vector<std::uint8_t> classes;
    std::vector<std::uint32_t> nodes_of_ranks;
    stay_items items{};

    explicit drawing(std::size_t nodes) {
        for (std::uint32_t node = 0; node < nodes; ++node) {
            nodes_of_ranks.insert(nodes_of_ranks.end(), 2, node);
        }
    }

    void sort(item_order order = item_order::by_node) { items.assign("test", task(), order); }

    [[nodiscard]] stay_task task() const {
        return {.weights = weights,
                .bytes = weights,
                .home_ranks = homes,
                .home_nodes = {},
                .classes = classes,
                .nodes_of_ranks = nodes_of_ranks,
                .nodes = nodes_of_ranks.size() / 2};
    }
};

TEST(node_sorting, puts_the_heaviest_of_each_node_first) {
    drawing drawn{4};
    drawn.weights = {4, 8, 0, 12, 2, 6, 6, 10};
    drawn.homes = {0, 1, 2, 3, 4, 5, 6, 7};
    drawn.sort();
    EXPECT_THAT(drawn.items.order(), ElementsAre(1, 0, 3, 5, 4, 7, 6));
    EXPECT_THAT(drawn.items.sorted_weights(), ElementsAre(4, 2, 6, 3, 1, 5, 3)) << "in units of 2, that of all";
    EXPECT_FALSE(drawn.items.is_falling());
    EXPECT_EQ(drawn.items.heaviest(), 6u);
    EXPECT_EQ(drawn.items.lightest(), 1u);

    drawn.sort(item_order::by_weight);
    EXPECT_THAT(drawn.items.order(), ElementsAre(3, 7, 1, 5, 6, 0, 4));
    EXPECT_TRUE(drawn.items.is_falling());
}

TEST(node_sorting, finds_the_items_of_a_node_wherever_the_batch_has_them) {
    drawing drawn{3};
    drawn.weights = {4, 9, 7, 7, 1, 7};
    drawn.homes = {5, 0, 4, 1, 0, 5};
    drawn.sort();
    EXPECT_THAT(drawn.items.order(), ElementsAre(1, 3, 4, 2, 5, 0)) << "the second node has nothing";
    EXPECT_THAT(drawn.items.sorted_weights(), ElementsAre(9, 7, 1, 7, 7, 4));
}

TEST(node_sorting, refuses_a_total_that_exceeds_64_bits_although_no_node_does) {
    drawing drawn{4};
    drawn.homes = {0, 1, 2, 3, 4, 5, 6, 7};
    drawn.weights.assign(8, std::uint64_t{1} << 61);
    EXPECT_THAT([&] { drawn.sort(); },
                testing::ThrowsMessage<std::overflow_error>("test: the total load exceeds 64 bits"));
    drawn.weights.back() -= 1;
    EXPECT_NO_THROW(drawn.sort());
}

TEST(node_sorting, sorts_nodes_of_many_and_of_heavy_items_as_well) {
    drawing drawn{3};
    for (std::uint64_t item = 0; item < 1500; ++item) {
        drawn.weights.push_back(1 + item * 7919 % 1000);
        drawn.homes.push_back(1);
    }
    for (std::uint64_t item = 0; item < 5; ++item) {
        drawn.weights.push_back((std::uint64_t{1} << 40) + item);
        drawn.homes.push_back(3);
    }
    drawn.weights.push_back(3);
    drawn.homes.push_back(4);
    drawn.sort();
    auto const weights = drawn.items.sorted_weights();
    EXPECT_TRUE(std::ranges::is_sorted(weights.first(1500), std::greater{}));
    EXPECT_THAT(drawn.items.order().subspan(1500), ElementsAre(1504, 1503, 1502, 1501, 1500, 1505));
}

class node_sorting_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(node_sorting_law, every_node_is_sorted_and_the_bound_is_that_of_all_items) {
    test::seeded random{GetParam()};
    std::size_t const nodes = random.between(1, 9);
    drawing drawn{nodes};
    std::uint64_t const unit = random.between(1, 3);
    std::array<std::uint64_t, 4> constexpr widths{4, 3000, 250'000, 5'000'000};
    std::uint64_t const heaviest = widths.at(random.up_to(3));
    drawn.weights.resize(random.up_to(120));
    for (auto& weight : drawn.weights) {
        weight = random.up_to(3) == 0 ? 0 : unit * random.between(1, heaviest);
        drawn.homes.push_back(static_cast<std::uint32_t>(random.up_to(2 * nodes - 1)));
    }
    if (random.up_to(1) == 0) {
        std::ranges::sort(drawn.homes);
    }
    if (random.up_to(1) == 0) {
        for (std::size_t item = 0; item < drawn.weights.size(); ++item) {
            drawn.classes.push_back(static_cast<std::uint8_t>(random.up_to(2)));
        }
    }
    drawn.sort();
    auto const& items = drawn.items;
    std::uint64_t bound = 0;
    std::size_t const ranks = random.between(1, 40);
    if (items.size() > 0) {
        // Before anybody asks for their order.
        sorted_items spare;
        bound = lower_bound(items, ranks, spare) * items.unit();
    }

    std::vector<std::uint32_t> all(items.order().begin(), items.order().end());
    for (std::size_t place = 0; place < all.size(); ++place) {
        EXPECT_EQ(items.sorted_weights()[place], items.weight(all[place]));
        if (place > 0) {
            std::uint32_t const before = items.home_node(all[place - 1]);
            std::uint32_t const node = items.home_node(all[place]);
            EXPECT_TRUE(before < node || (before == node && items.precedes(all[place - 1], all[place])));
        }
    }

    std::ranges::sort(all);
    std::vector<std::uint32_t> expected;
    std::uint64_t divisor = 0;
    for (std::uint32_t item = 0; item < drawn.weights.size(); ++item) {
        divisor = std::gcd(divisor, drawn.weights[item]);
        if (drawn.weights[item] > 0) {
            expected.push_back(item);
        }
    }
    EXPECT_EQ(all, expected);
    EXPECT_EQ(items.size(), expected.size());
    EXPECT_EQ(items.unit(), std::max<std::uint64_t>(divisor, 1));
    if (items.size() > 0) {
        EXPECT_EQ(items.heaviest() * items.unit(), std::ranges::max(drawn.weights));
        EXPECT_EQ(bound, evenkeel::lower_bound(drawn.weights, rank_count{ranks}));
    }
}

// Most of these batches have classes, so that nodes list class 0 alone.
TEST_P(node_sorting_law, a_completed_list_is_that_of_all_items) {
    test::seeded random{GetParam()};
    std::size_t const nodes = random.between(2, 5);
    drawing drawn{nodes};
    for (std::size_t item = 0; item < 40 * nodes; ++item) {
        drawn.weights.push_back(random.up_to(9) == 0 ? 0 : 2 * random.between(1, 30));
        drawn.homes.push_back(static_cast<std::uint32_t>(item / 20));
        drawn.classes.push_back(static_cast<std::uint8_t>(random.up_to(2)));
    }
    // What one phase before has moved.
    for (std::size_t turn = random.up_to(5); turn > 0; --turn) {
        drawn.homes[random.up_to(drawn.homes.size() - 1)] = static_cast<std::uint32_t>(random.up_to(2 * nodes - 1));
    }
    drawn.sort();
    node_ranks ranks;
    ranks.assign(drawn.nodes_of_ranks, nodes);
    stay_state some;
    some.go_home(drawn.items, ranks);
    EXPECT_NE(drawn.items.class_0(), nullptr);

    drawing complete{drawn};
    complete.sort(item_order::by_weight);
    EXPECT_EQ(complete.items.class_0(), nullptr);
    stay_state all;
    all.go_home(complete.items, ranks);
    for (std::uint32_t node = 0; node < nodes; ++node) {
        EXPECT_EQ(some.nodes().load(node), all.nodes().load(node)) << "loads are known at once";
        for (auto const item : some.nodes().items(node)) {
            EXPECT_EQ(drawn.classes[item], 0);
        }
    }
    // Some leave before the list is complete, and others come.
    for (int turn = 0; turn < 20; ++turn) {
        auto const item = static_cast<std::uint32_t>(random.up_to(drawn.weights.size() - 1));
        std::uint32_t const from = all.node_of_rank(all.rank_of(item));
        std::uint32_t const to = static_cast<std::uint32_t>(random.up_to(nodes - 1));
        if (from == to || drawn.weights[item] == 0) {
            continue;
        }
        some.move(item, from, to, 2 * to);
        all.move(item, from, to, 2 * to);
    }
    for (std::uint32_t node = 0; node < nodes; ++node) {
        some.complete(node);
        EXPECT_TRUE(some.is_complete(node));
        EXPECT_THAT(some.nodes().items(node), ElementsAreArray(all.nodes().items(node)));
        EXPECT_THAT(some.nodes().weights(node), ElementsAreArray(all.nodes().weights(node)));
        EXPECT_EQ(some.nodes().load(node), all.nodes().load(node));
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, node_sorting_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

}  // namespace
}  // namespace evenkeel::detail::node_sorting_test
