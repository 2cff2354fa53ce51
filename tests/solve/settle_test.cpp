// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/flows.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/rebalance.hpp>
#include <evenkeel/solve/settle.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::settle_test {
namespace {

using sizes = std::vector<std::uint64_t>;
using ranks_of = std::vector<std::uint32_t>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

TEST(settle_exports, gives_what_the_flows_say) {
    std::vector<node_flow> const flows{{node_id{0}, node_id{1}, 10}, {node_id{0}, node_id{4}, 3}};
    auto const leaving = settle_exports(sizes{9, 3, 7, 0, 5}, flows);
    EXPECT_EQ(leaving.items, (ranks_of{2, 1, 4}));
    EXPECT_EQ(leaving.receivers, (std::vector{node_id{1}, node_id{4}}));
    EXPECT_EQ(leaving.offsets, (std::vector<std::size_t>{0, 2, 3}));
}

TEST(settle_exports, refuses_flows_of_more_than_there_is) {
    std::vector<node_flow> const flows{{node_id{0}, node_id{1}, 10}};
    EXPECT_THAT(
        [&] {
            (void)settle_exports(sizes{4, 5}, flows);
        },
        refuses("settle_exports: flows = 10, expected at most the 9 that are left"));
}

TEST(settle_exports, counts_what_went_too_much_towards_the_next_flow) {
    std::vector<node_flow> const flows{{node_id{0}, node_id{1}, 5}, {node_id{0}, node_id{2}, 4}};
    auto const leaving = settle_exports(sizes{10}, flows);
    EXPECT_EQ(leaving.items, (ranks_of{0}));
    EXPECT_EQ(leaving.offsets, (std::vector<std::size_t>{0, 1, 1}));
    std::vector<node_flow> const more{{node_id{0}, node_id{1}, 5}, {node_id{0}, node_id{2}, 6}};
    EXPECT_THAT([&] { (void)settle_exports(sizes{10}, more); },
                refuses("settle_exports: flows = 6, expected at most the 5 that are left"));
}

TEST(settle_exports, refuses_weights_of_more_than_64_bits) {
    std::uint64_t const most = std::numeric_limits<std::uint64_t>::max();
    std::vector<node_flow> const flows{{node_id{0}, node_id{1}, 5}, {node_id{0}, node_id{2}, 4}};
    EXPECT_THAT(
        [&] {
            (void)settle_exports(sizes{most - 2, most - 2, 8}, flows);
        },
        testing::ThrowsMessage<std::overflow_error>("settle_exports: the sum of the weights exceeds 64 bits"));
    auto const leaving = settle_exports(sizes{most - 8, 8}, flows);
    EXPECT_EQ(leaving.items, (ranks_of{1, 0}));
    EXPECT_EQ(leaving.offsets, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(settle_ranks, evens_out_what_stayed_and_what_came) {
    settle_workspace space;
    auto const& rank_of = settle_ranks(space, sizes{5, 4, 3, 2, 0}, ranks_of{0, 0, 1, 2, 1}, {2}, 7);
    EXPECT_EQ(rank_of[4], 1u) << "what weighs nothing stays";
    EXPECT_EQ(
        (rank_of[0] == 0 ? 5 : 0) + (rank_of[1] == 0 ? 4 : 0) + (rank_of[2] == 0 ? 3 : 0) + (rank_of[3] == 0 ? 2 : 0),
        7);
}

TEST(settle_ranks, exceeds_a_target_that_cannot_be_met_by_as_little_as_it_can) {
    settle_workspace space;
    auto const& rank_of = settle_ranks(space, sizes{5, 5, 5}, ranks_of{0, 0, 0}, {2}, 1);
    EXPECT_EQ(std::ranges::count(rank_of, 0u) == 1 || std::ranges::count(rank_of, 1u) == 1, true);
    EXPECT_TRUE(settle_ranks(space, sizes{}, ranks_of{}, {3}, 1).empty());
}

TEST(settle_ranks, refuses_what_does_not_belong_together) {
    settle_workspace space;
    EXPECT_THAT([&] { settle_ranks(space, sizes{1}, ranks_of{}, {2}, 1); },
                refuses("settle_ranks: homes.size() = 0, expected one for each of 1 items"));
    EXPECT_THAT([&] { settle_ranks(space, sizes{1}, ranks_of{3}, {2}, 1); },
                refuses("settle_ranks: homes[0] = 3, expected at most the 2 ranks of the node"));
    EXPECT_THAT([&] { settle_ranks(space, sizes{}, ranks_of{}, {0}, 1); },
                refuses("settle_ranks: ranks = 0, expected at least 1"));
}

/// What the ranks of a job decide together, each of them with nothing but its own samples, those of its node, and 16
/// bytes of every other rank.
struct job {
    std::vector<sizes> drawn;  ///< by rank
    std::set<std::uint64_t> fingerprints;
    sizes loads;
    std::uint64_t moved_between = 0;
    std::size_t items = 0;
};

void run(job& job, std::size_t per_node) {
    auto const cluster = uniform_topology({job.drawn.size()}, {per_node});
    std::vector<rank_summary> told;
    for (auto const& mine : job.drawn) {
        told.push_back({});
        for (auto const weight : mine) {
            told.back().load += weight;
            told.back().heaviest = std::max(told.back().heaviest, weight);
        }
    }
    std::vector<sizes> weights(cluster.nodes());
    std::vector<ranks_of> homes(cluster.nodes());
    std::vector<sizes> received(cluster.nodes());
    node_flows flows;
    for (std::size_t rank = 0; rank < job.drawn.size(); ++rank) {
        flows = plan_flows(told, cluster);  // each rank for itself
        job.fingerprints.insert(flows.fingerprint);
    }
    for (std::size_t node = 0; node < cluster.nodes(); ++node) {
        sizes held;
        ranks_of home;
        for (std::size_t local = 0; local < per_node; ++local) {
            for (auto const weight : job.drawn[node * per_node + local]) {
                held.push_back(weight);
                home.push_back(static_cast<std::uint32_t>(local));
            }
        }
        auto const leaving = settle_exports(held, flows.from(to_id<node_id>(node)));
        EXPECT_EQ(leaving, settle_exports(held, flows.from(to_id<node_id>(node))));
        std::vector<bool> gone(held.size());
        for (std::size_t to = 0; to < leaving.receivers.size(); ++to) {
            for (std::size_t index = leaving.offsets[to]; index < leaving.offsets[to + 1]; ++index) {
                EXPECT_FALSE(gone[leaving.items[index]]) << "nothing goes twice";
                gone[leaving.items[index]] = true;
                received[to_index(leaving.receivers[to])].push_back(held[leaving.items[index]]);
                job.moved_between += held[leaving.items[index]];
            }
        }
        for (std::size_t item = 0; item < held.size(); ++item) {
            if (!gone[item]) {
                weights[node].push_back(held[item]);
                homes[node].push_back(home[item]);
            }
        }
    }
    settle_workspace space;
    for (std::size_t node = 0; node < cluster.nodes(); ++node) {
        weights[node].insert(weights[node].end(), received[node].begin(), received[node].end());
        homes[node].resize(weights[node].size(), static_cast<std::uint32_t>(per_node));
        auto const& rank_of = settle_ranks(space, weights[node], homes[node], {per_node}, flows.target);
        job.loads.resize((node + 1) * per_node);
        for (std::size_t item = 0; item < rank_of.size(); ++item) {
            ASSERT_LT(rank_of[item], per_node);
            job.loads[node * per_node + rank_of[item]] += weights[node][item];
        }
        job.items += rank_of.size();
    }
}

TEST(decentralised, ranks_agree_and_even_the_batch_out_without_anyone_holding_the_plan) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(seed);
        auto const [lengths, ranks] = test::mixed_batch(seed, 64, 40);
        job job;
        for (std::size_t rank = 0; rank < ranks.value; ++rank) {
            job.drawn.emplace_back(lengths.begin() + static_cast<std::ptrdiff_t>(rank * 40),
                                   lengths.begin() + static_cast<std::ptrdiff_t>(rank * 40 + 40));
        }
        run(job, 8);

        EXPECT_EQ(job.fingerprints.size(), 1u);
        EXPECT_EQ(job.items, lengths.size());
        auto const busiest = *std::ranges::max_element(job.loads);
        auto const bound = lower_bound(lengths, ranks);
        EXPECT_LE(static_cast<double>(busiest), 1.003 * static_cast<double>(bound));
        std::uint64_t least = 0;
        for (std::size_t node = 0; node < 8; ++node) {
            std::uint64_t load = 0;
            for (std::size_t sample = node * 320; sample < node * 320 + 320; ++sample) {
                load += lengths[sample];
            }
            least += load - std::min(load, 8 * busiest);
        }
        EXPECT_LE(static_cast<double>(job.moved_between), 1.02 * static_cast<double>(least) + 16);
    }
}

TEST(decentralised, can_end_busier_than_at_home_where_items_are_few) {
    // Rank 0 has 2 more than its share of 8, but nothing that small.
    job job;
    job.drawn = {{5, 5}, {5, 1}};
    run(job, 1);
    EXPECT_EQ(job.loads, (sizes{5, 11}));

    auto const kept = rebalance(sizes{5, 5, 5, 1}, home_layout(std::vector<std::size_t>{2, 2}),
                                uniform_topology({2}, {1}), linear_cost{});
    EXPECT_EQ(kept.quality.max_load, 10u);
}

TEST(decentralised, works_for_batches_of_any_kind) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        test::seeded random{seed};
        std::size_t const per_node = random.between(1, 5);
        job job;
        job.drawn.resize(per_node * random.between(1, 5));
        std::size_t items = 0;
        for (auto& mine : job.drawn) {
            mine.resize(random.up_to(6));
            items += mine.size();
            std::ranges::generate(mine, [&] { return random.up_to(3) == 0 ? 0 : 7 * random.up_to(40); });
        }
        run(job, per_node);
        EXPECT_EQ(job.fingerprints.size(), 1u);
        EXPECT_EQ(job.items, items);
    }
}

}  // namespace
}  // namespace evenkeel::settle_test
