// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/topology.hpp>
#include <evenkeel/solve/flows.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/layouts.hpp"

namespace evenkeel::flows_test {
namespace {

using summaries = std::vector<rank_summary>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

TEST(plan_flows, lets_the_node_with_too_much_give_to_the_one_with_room) {
    // Two ranks per node; nodes have 30, 10 and 20.
    summaries const told{{20, 9}, {10, 9}, {4, 2}, {6, 3}, {10, 5}, {10, 5}};
    auto const flows = plan_flows(told, uniform_topology({6}, {2}), 0);

    EXPECT_EQ(flows.lower_bound, 10u);
    EXPECT_EQ(flows.target, 10u);
    EXPECT_EQ(flows.flows, (std::vector<node_flow>{{node_id{0}, node_id{1}, 10}}));
    EXPECT_EQ(flows.from(node_id{0}).size(), 1u);
    EXPECT_TRUE(flows.from(node_id{1}).empty());
}

TEST(plan_flows, aims_no_lower_than_the_heaviest_item_and_no_finer_than_tiles) {
    EXPECT_EQ(plan_flows(summaries{{50, 50}, {2, 1}}, uniform_topology({2}, {1}), 0).target, 50u);
    // 5 tiles on 2 ranks: one of them has 3.
    auto const tiles = plan_flows(summaries{{256, 256}, {1024, 256}}, uniform_topology({2}, {1}), 0);
    EXPECT_EQ(tiles.target, 3u * 256u);
    EXPECT_EQ(tiles.flows, (std::vector<node_flow>{{node_id{1}, node_id{0}, 256}}));
}

TEST(plan_flows, has_none_where_no_node_has_too_much) {
    EXPECT_TRUE(plan_flows(summaries{{9, 5}, {1, 1}}, uniform_topology({2}, {2})).flows.empty());
    EXPECT_TRUE(plan_flows(summaries(4), uniform_topology({4}, {1})).flows.empty());
}

TEST(plan_flows, tells_ranks_apart_that_were_told_something_else) {
    summaries told{{20, 9}, {10, 9}, {4, 2}, {6, 3}};
    auto const cluster = uniform_topology({4}, {2});
    auto const mine = plan_flows(told, cluster).fingerprint;
    EXPECT_EQ(plan_flows(told, cluster).fingerprint, mine);
    EXPECT_NE(plan_flows(told, cluster, 0.5).fingerprint, mine) << "another target";
    EXPECT_NE(plan_flows(told, uniform_topology({4}, {1})).fingerprint, mine);
    std::vector<rank_summary> const even(4, {5, 5});
    EXPECT_NE(plan_flows(even, uniform_topology({4}, {1})).fingerprint, plan_flows(even, cluster).fingerprint)
        << "nothing flows either way";
    told[3].heaviest = 4;
    EXPECT_NE(plan_flows(told, cluster).fingerprint, mine) << "the same flows";
}

TEST(plan_flows, refuses_what_does_not_belong_together) {
    auto const cluster = uniform_topology({2}, {1});
    EXPECT_THAT([&] { (void)plan_flows(summaries(3), cluster); },
                refuses("plan_flows: summaries.size() = 3, expected one for each of 2 ranks"));
    EXPECT_THAT([&] { (void)plan_flows(summaries{}, {}); },
                refuses("plan_flows: topology.size() = 0, expected at least 1"));
    EXPECT_THAT(
        [&] {
            (void)plan_flows(summaries(2), {{node_id{0}, node_id{2}}});
        },
        refuses("plan_flows: topology.nodes() = 3, expected at most one node for each of 2 ranks"));
    EXPECT_THAT([&] { (void)plan_flows(summaries(2), cluster, -1); },
                refuses("plan_flows: tolerance = -1, expected at least 0"));
    auto const most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THROW((void)plan_flows(summaries{{most, 1}, {1, 1}}, cluster), std::overflow_error);
}

TEST(plan_flows, shares_out_what_nobody_needs_among_the_flows) {
    // Ten nodes have 1 too much; an item of each will be more than that. One node has room for 50, one for 45.
    summaries told(10, {.load = 101, .heaviest = 20});
    told.push_back({.load = 50, .heaviest = 20});
    told.push_back({.load = 55, .heaviest = 20});
    auto const flows = plan_flows(told, uniform_topology({12}, {1}), 0.08);
    EXPECT_EQ(flows.target, 100u);
    std::size_t to_roomiest = 0;
    for (auto const& flow : flows.flows) {
        EXPECT_EQ(flow.weight, 1u);
        to_roomiest += flow.to == node_id{10} ? 1U : 0U;
    }
    EXPECT_EQ(flows.flows.size(), 10u);
    EXPECT_EQ(to_roomiest, 5u);
}

TEST(plan_flows, shares_out_rooms_of_more_than_64_bits) {
    // One node has room for the target, fifteen for 16 less; three have 8 too much. The rooms add up to 2^65 and 16.
    std::uint64_t const target = (std::uint64_t{1} << 61) + 16;
    summaries told(15, {.load = 16, .heaviest = 16});
    told.push_back({.load = 0, .heaviest = 0});
    told.resize(19, {.load = target + 8, .heaviest = target});
    auto const flows = plan_flows(told, uniform_topology({19}, {1}), 0);
    EXPECT_EQ(flows.target, target);
    ASSERT_EQ(flows.flows.size(), 3u);
    EXPECT_EQ(flows.flows[0].to, node_id{15});
    EXPECT_EQ(flows.flows[1].to, node_id{0});
    EXPECT_EQ(flows.flows[2].to, node_id{1});
}

TEST(plan_flows, keeps_back_no_more_than_small_nodes_have_to_spare) {
    // Half of these nodes have too much. A margin that is fit for the largest is too much for all of them.
    std::vector<std::size_t> const sizes{13, 6, 2, 4, 2, 1};
    std::vector<std::uint64_t> const loads{73'033, 44'201, 20'637, 35'696, 37'144, 17'683};
    summaries told;
    topology cluster;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
        cluster.nodes_of_ranks.resize(told.size() + sizes[node], to_id<node_id>(node));
        told.push_back({.load = loads[node], .heaviest = 1000});
        told.resize(cluster.nodes_of_ranks.size());
    }
    auto const flows = plan_flows(told, cluster, 1e-3);
    auto left = loads;
    for (auto const& flow : flows.flows) {
        left[to_index(flow.from)] -= flow.weight;
        left[to_index(flow.to)] += flow.weight;
    }
    for (std::size_t node = 0; node < sizes.size(); ++node) {
        EXPECT_LE(left[node], flows.target * sizes[node]) << "node " << node;
    }
}

TEST(plan_flows, keeps_back_no_more_than_a_single_rank_may_have) {
    // A thousandth of the ranks has everything, and may have 1.5 thousandths of it; kept back it was a 150th.
    summaries told(1000);
    told.back() = {.load = 1'000'000, .heaviest = 1};
    topology cluster{std::vector<node_id>(1000, node_id{0})};
    cluster.nodes_of_ranks.back() = node_id{1};
    auto const flows = plan_flows(told, cluster, 0.5);
    ASSERT_EQ(flows.flows.size(), 1u);
    EXPECT_GE(flows.flows[0].weight, 1'000'000 - flows.target);
    EXPECT_LE(flows.flows[0].weight, 1'000'000u);
}

TEST(plan_flows_law, leave_no_node_with_more_than_its_ranks_may_have) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        test::seeded random{seed};
        world_size const ranks{random.between(1, 24)};
        auto const cluster = test::random_topology(random, ranks);
        summaries told(ranks.value);
        for (auto& one : told) {
            one.heaviest = random.up_to(50);
            one.load = one.heaviest * random.up_to(9) + (one.heaviest > 0 ? one.heaviest : 0);
        }
        auto const flows = plan_flows(told, cluster, seed % 2 == 0 ? 0.0 : 1e-2);
        std::vector<std::uint64_t> loads(cluster.nodes());
        std::vector<std::uint64_t> most(cluster.nodes());
        std::vector<std::uint64_t> given(cluster.nodes());
        for (std::size_t rank = 0; rank < ranks.value; ++rank) {
            loads[to_index(cluster.nodes_of_ranks[rank])] += told[rank].load;
            most[to_index(cluster.nodes_of_ranks[rank])] += flows.target;
        }
        for (auto const& flow : flows.flows) {
            EXPECT_GT(flow.weight, 0u);
            EXPECT_GT(loads[to_index(flow.from)], most[to_index(flow.from)]) << "only who has too much gives";
            EXPECT_LE(loads[to_index(flow.to)], most[to_index(flow.to)]);
            given[to_index(flow.from)] += flow.weight;
        }
        for (auto const& flow : flows.flows) {
            loads[to_index(flow.to)] += flow.weight;
        }
        for (std::size_t node = 0; node < loads.size(); ++node) {
            EXPECT_LE(loads[node] - given[node], most[node]);
        }
        EXPECT_LT(flows.flows.size(), std::max<std::size_t>(1, cluster.nodes()));
    }
}

}  // namespace
}  // namespace evenkeel::flows_test
