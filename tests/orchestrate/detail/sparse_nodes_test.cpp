// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/sparse_nodes.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::sparse_nodes_test {
namespace {

/// Items of so many nodes of two ranks, each with its weight, which mostly is also its bytes, and its home.
struct few_items {
    explicit few_items(std::size_t nodes) { view.assign(flat_group({2 * nodes}), uniform_topology({2 * nodes}, {2})); }

    void add(std::uint64_t weight, std::uint32_t home) { add(weight, home, weight); }
    void add(std::uint64_t weight, std::uint32_t home, std::uint64_t bytes) {
        task.some_weights.push_back(weight);
        task.some_bytes.push_back(bytes);
        task.home_ranks.push_back(home);
        task.weights = task.some_weights;
        task.bytes = task.some_bytes;
    }

    [[nodiscard]] std::vector<std::uint64_t> loads(std::span<std::uint32_t const> rank_of) const {
        std::vector<std::uint64_t> result(view.ranks());
        for (std::size_t item = 0; item < rank_of.size(); ++item) {
            result[rank_of[item]] += task.weights[item];
        }
        return result;
    }

    phase_task task;
    group_view view;
    std::unique_ptr<sparse_nodes> even_out = std::make_unique<sparse_nodes>();
};

TEST(sparse_nodes, splits_a_node_anew_and_leaves_an_even_one_alone) {
    few_items drawn{2};
    for (std::uint64_t const weight : {7u, 6u, 5u, 4u}) {
        drawn.add(weight, 0);
    }
    drawn.add(11, 2);
    drawn.add(10, 3);
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 11, 1024));
    EXPECT_EQ(drawn.loads(drawn.even_out->rank_of()), (std::vector<std::uint64_t>{11, 11, 11, 10}));
    EXPECT_EQ(drawn.even_out->rank_of()[4], 2u);
    EXPECT_EQ(drawn.even_out->rank_of()[5], 3u);
    EXPECT_EQ(drawn.even_out->between_nodes(), 0u);
    EXPECT_EQ(drawn.even_out->busiest(), 11u);
}

TEST(sparse_nodes, trades_the_cheapest_items_that_let_both_nodes_be_even) {
    few_items drawn{2};
    for (std::uint64_t const weight : {6u, 6u, 6u, 2u}) {  // 12 and 8 at best
        drawn.add(weight, 0);
    }
    for (std::uint64_t const weight : {5u, 5u, 4u, 4u}) {
        drawn.add(weight, 2);
    }
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 11, 1024));
    EXPECT_LE(drawn.even_out->busiest(), 11u);
    EXPECT_EQ(drawn.even_out->between_nodes(), 10u) << "one 6 for a 4: without the 2 or with more, node 0 is as uneven";
}

TEST(sparse_nodes, trades_whole_samples_where_they_stay_whole) {
    few_items drawn{2};
    // Five units do not go into two ranks. One of a pair would do, but the sample of one is as cheap.
    for (std::uint32_t const home : {0u, 0u, 1u, 1u, 1u, 2u, 2u, 3u}) {
        drawn.add(5, home);
    }
    drawn.task.starts = {0, 2, 4, 5, 7};
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 13, 1024, parcel_of::sample));
    auto const rank_of = drawn.even_out->rank_of();
    EXPECT_EQ(drawn.loads(rank_of), (std::vector<std::uint64_t>{10, 10, 10, 10}));
    EXPECT_EQ(drawn.even_out->between_nodes(), 5u) << "the sample of one unit";
    for (auto const& [first, last] : {std::pair{0u, 1u}, {2u, 3u}, {5u, 6u}}) {
        EXPECT_EQ(rank_of[first] / 2, rank_of[last] / 2);
    }
    EXPECT_EQ(rank_of[4] / 2, 1u);
}

TEST(sparse_nodes, offers_a_sample_to_other_nodes_if_the_first_cannot_be_even_with_it) {
    few_items drawn{3};
    std::vector<std::pair<std::uint64_t, std::uint32_t>> const items{{5, 0},  {5, 0},  {5, 1}, {5, 1}, {5, 1},
                                                                     {11, 2}, {10, 3}, {8, 4}, {8, 5}};
    for (auto const& [weight, home] : items) {
        drawn.task.starts.push_back(static_cast<std::uint32_t>(drawn.task.size()));
        drawn.add(weight, home);
    }
    // Node 0 has to give a 5. Node 1 has room for it, but 11, 10 and 5 do not go into 13 and 13.
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 13, 1024, parcel_of::sample));
    EXPECT_EQ(drawn.loads(drawn.even_out->rank_of()), (std::vector<std::uint64_t>{10, 10, 11, 10, 13, 8}));
    EXPECT_EQ(drawn.even_out->between_nodes(), 5u);
}

TEST(sparse_nodes, lets_a_node_that_has_given_take_from_another) {
    few_items drawn{3};
    std::vector<std::pair<std::uint64_t, std::uint32_t>> const items{{5, 0}, {5, 0}, {5, 0},  {5, 1},  {5, 1},
                                                                     {8, 2}, {8, 3}, {12, 4}, {11, 5}, {3, 5}};
    for (auto const& [weight, home] : items) {
        drawn.task.starts.push_back(static_cast<std::uint32_t>(drawn.task.size()));
        drawn.add(weight, home);
    }
    // Five 5 do not go into 13 and 13, so that node 1 gets one. Nor do 12, 11 and 3: now node 0 has room for the 3.
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 13, 1024, parcel_of::sample));
    auto const rank_of = drawn.even_out->rank_of();
    EXPECT_EQ(rank_of[0] / 2, 1u);
    EXPECT_EQ(rank_of[9] / 2, 0u);
    EXPECT_EQ(drawn.even_out->between_nodes(), 8u);
    EXPECT_EQ(drawn.even_out->busiest(), 13u);
}

TEST(sparse_nodes, brings_units_of_a_sample_to_its_first_and_counts_from_there) {
    few_items drawn{2};
    for (std::uint32_t const home : {0u, 2u, 3u}) {
        drawn.add(5, home);
    }
    drawn.task.starts = {0, 2};
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 5, 1024, parcel_of::sample));
    EXPECT_EQ(drawn.loads(drawn.even_out->rank_of()), (std::vector<std::uint64_t>{5, 5, 0, 5}));
    EXPECT_EQ(drawn.even_out->between_nodes(), 0u);
}

TEST(sparse_nodes, leaves_items_for_which_no_trade_is_found_to_the_polisher) {
    few_items drawn{2};
    for (std::uint64_t const weight : {7u, 8u, 5u}) {
        drawn.add(weight, 0);
    }
    for (std::uint64_t const weight : {10u, 10u, 12u, 4u}) {
        drawn.add(weight, 2);
    }
    // The 12 goes for the 5: only then do the ranks of node 1 come out even, and no gift or exchange does it as well.
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 15, 1024));
    EXPECT_EQ(drawn.even_out->busiest(), 15u);
}

TEST(sparse_nodes, trades_what_it_has_after_earlier_trades) {
    few_items drawn{3};
    std::vector<std::pair<std::uint64_t, std::uint32_t>> const items{{11, 0}, {2, 0}, {11, 0}, {2, 0}, {12, 2},
                                                                     {6, 2},  {8, 2}, {5, 4},  {11, 4}};
    for (auto const& [weight, home] : items) {
        drawn.task.starts.push_back(static_cast<std::uint32_t>(drawn.task.size()));
        drawn.add(weight, home);
    }
    // Node 0 exchanges an 11 for the 5, which it then gives to node 1 for the 8.
    ASSERT_TRUE((*drawn.even_out)(drawn.task, drawn.view, 12, 1024, parcel_of::sample));
    auto const loads = drawn.loads(drawn.even_out->rank_of());
    EXPECT_EQ(*std::ranges::max_element(loads), 12u);
    EXPECT_EQ(drawn.even_out->between_nodes(), 24u);
}

TEST(sparse_nodes, gives_up_where_no_trade_of_whole_samples_helps) {
    few_items drawn{2};
    for (std::uint32_t const home : {0u, 0u, 0u, 2u, 2u}) {
        drawn.add(5, home);
    }
    drawn.task.starts = {0, 3};
    EXPECT_FALSE((*drawn.even_out)(drawn.task, drawn.view, 9, 64, parcel_of::sample));
}

TEST(sparse_nodes, leaves_nodes_of_different_sizes_alone) {
    few_items drawn{1};
    drawn.view.assign(flat_group({3}), {{node_id{0}, node_id{0}, node_id{1}}});
    drawn.add(5, 0);
    EXPECT_FALSE((*drawn.even_out)(drawn.task, drawn.view, 5, 1024));
}

class sparse_nodes_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(sparse_nodes_law, keeps_what_it_says) {
    test::seeded random{GetParam()};
    few_items drawn{random.between(2, 5)};
    std::uint64_t total = 0;
    for (std::size_t item = random.up_to(40); item > 0; --item) {
        std::uint64_t const weight = random.up_to(5) == 0 ? 0 : random.between(1, 1000);
        drawn.add(weight, static_cast<std::uint32_t>(random.up_to(drawn.view.ranks() - 1)), random.up_to(1000));
        total += weight;
    }
    std::uint64_t const target = total / drawn.view.ranks() + random.between(1, 400);
    if (!(*drawn.even_out)(drawn.task, drawn.view, target, 64)) {
        return;
    }
    auto const rank_of = drawn.even_out->rank_of();
    ASSERT_EQ(rank_of.size(), drawn.task.size());
    auto const loads = drawn.loads(rank_of);
    EXPECT_EQ(*std::ranges::max_element(loads), drawn.even_out->busiest());
    EXPECT_LE(drawn.even_out->busiest(), target);
    std::uint64_t between_nodes = 0;
    for (std::size_t item = 0; item < rank_of.size(); ++item) {
        std::uint32_t const home = drawn.task.home_ranks[item];
        between_nodes += rank_of[item] / 2 != home / 2 ? drawn.task.bytes[item] : 0;
        EXPECT_TRUE(drawn.task.weights[item] > 0 || rank_of[item] == home) << "what weighs nothing has no need to move";
    }
    EXPECT_EQ(drawn.even_out->between_nodes(), between_nodes);
}

TEST_P(sparse_nodes_law, keeps_samples_whole_and_those_that_weigh_nothing_in_their_node) {
    test::seeded random{GetParam()};
    few_items drawn{random.between(2, 5)};
    std::uint64_t total = 0;
    for (std::size_t sample = random.between(1, 30); sample > 0; --sample) {
        auto const node = static_cast<std::uint32_t>(random.up_to(drawn.view.nodes() - 1));
        bool const weighs = random.up_to(5) > 0;
        drawn.task.starts.push_back(static_cast<std::uint32_t>(drawn.task.size()));
        for (std::size_t unit = random.between(1, 3); unit > 0; --unit) {
            drawn.add(weighs ? random.up_to(300) : 0, 2 * node + static_cast<std::uint32_t>(random.up_to(1)),
                      random.up_to(1000));
            total += drawn.task.some_weights.back();
        }
    }
    std::uint64_t const target = total / drawn.view.ranks() + random.between(1, 200);
    if (!(*drawn.even_out)(drawn.task, drawn.view, target, 64, parcel_of::sample)) {
        return;
    }
    auto const rank_of = drawn.even_out->rank_of();
    ASSERT_EQ(rank_of.size(), drawn.task.size());
    auto const loads = drawn.loads(rank_of);
    EXPECT_EQ(*std::ranges::max_element(loads), drawn.even_out->busiest());
    EXPECT_LE(drawn.even_out->busiest(), target);
    std::uint64_t between_nodes = 0;
    drawn.task.starts.push_back(static_cast<std::uint32_t>(rank_of.size()));
    for (std::size_t sample = 0; sample + 1 < drawn.task.starts.size(); ++sample) {
        std::uint32_t const first = drawn.task.starts[sample];
        std::uint64_t weight = 0;
        for (std::uint32_t item = first; item < drawn.task.starts[sample + 1]; ++item) {
            EXPECT_EQ(rank_of[item] / 2, rank_of[first] / 2);
            weight += drawn.task.weights[item];
            between_nodes += rank_of[item] / 2 != drawn.task.home_ranks[item] / 2 ? drawn.task.bytes[item] : 0;
        }
        EXPECT_TRUE(weight > 0 || rank_of[first] / 2 == drawn.task.home_ranks[first] / 2);
    }
    EXPECT_EQ(drawn.even_out->between_nodes(), between_nodes);
}

INSTANTIATE_TEST_SUITE_P(seeds, sparse_nodes_law, testing::Range<std::uint64_t>(0, 2000));

}  // namespace
}  // namespace evenkeel::detail::sparse_nodes_test
