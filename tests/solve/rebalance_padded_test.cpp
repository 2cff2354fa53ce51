// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/solve/balance_padded.hpp>
#include <evenkeel/solve/rebalance_padded.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/expect_sound.hpp"
#include "tests/support/fewest_bytes.hpp"
#include "tests/support/layouts.hpp"

namespace evenkeel::rebalance_padded_test {
namespace {

using counts = std::vector<std::size_t>;
using sizes = std::vector<std::uint64_t>;
using test::drawn;
using test::lists;
using test::lists_of;
using test::refuses;

TEST(rebalance_padded, moves_only_what_has_to) {
    // Two nodes of two ranks each; each rank has drawn two samples.
    auto const lengths = std::vector{6, 1, 6, 1, 4, 2, 4, 2};
    auto const home = home_layout(counts{2, 2, 2, 2});
    auto const kept = rebalance(lengths, home, uniform_topology({4}, {2}), padded_cost{});

    EXPECT_EQ(lists(kept.plan), (lists_of{{0}, {2}, {4, 6}, {1, 3, 5, 7}}));
    EXPECT_EQ(kept.quality, (quality{.max_load = 8, .total_load = 28, .lower_bound = 8, .ranks = {4}}));
    EXPECT_EQ(kept.between_nodes, 2u);
    EXPECT_EQ(kept.between_nodes_bound, 2u);
    EXPECT_EQ(kept.moved, 8u);
    EXPECT_FALSE(kept.from_scratch);
}

TEST(rebalance_padded, pays_for_staying_with_padding_as_far_as_the_tolerance_goes) {
    //     node 0     10 1     costs 20        optimum     10 | 4 4 1      costs 12
    //     node 1     4 4      costs 8
    auto const lengths = std::vector{10, 1, 4, 4};
    auto const home = home_layout(counts{2, 2});
    auto const cluster = uniform_topology({2}, {1});
    auto const tight = rebalance(lengths, home, cluster, padded_cost{}, {.tolerance = 0.5});
    EXPECT_EQ(tight.quality.max_load, 12u);
    EXPECT_EQ(tight.between_nodes, 1u);
    EXPECT_EQ(tight.between_nodes_bound, 1u);

    auto const loose = rebalance(lengths, home, cluster, padded_cost{}, {.tolerance = 0.7});
    EXPECT_EQ(loose.quality.max_load, 20u);
    EXPECT_EQ(loose.between_nodes, 0u);
}

TEST(rebalance_padded, gives_a_whole_batch_to_a_node_with_a_rank_to_spare) {
    // Node 0 drew everything: three batches that need not be cut anew for two of them to stay.
    auto const lengths = std::vector{8, 8, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2};
    auto const kept =
        rebalance(lengths, home_layout(counts{6, 8, 0}), topology{{node_id{0}, node_id{0}, node_id{1}}}, padded_cost{});
    EXPECT_EQ(kept.quality.max_load, 16u);
    EXPECT_EQ(kept.between_nodes, 16u);
    EXPECT_EQ(kept.between_nodes_bound, 16u);
}

TEST(rebalance_padded, keeps_what_is_balanced_where_it_is) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        test::seeded random{seed};
        world_size const ranks{random.between(1, 12)};
        auto const [lengths, same] = test::mixed_batch(seed, ranks.value, 5);
        auto const even = balance(lengths, same, padded_cost{});
        auto const kept = rebalance(lengths, layout_of(even.plan), test::random_topology(random, ranks), padded_cost{},
                                    {.tolerance = 0});
        EXPECT_EQ(kept.moved, 0u) << "seed " << seed;
    }
}

TEST(rebalance_padded, needs_no_sample_and_no_second_rank) {
    auto const nothing = rebalance(sizes{}, home_layout(counts{0, 0}), uniform_topology({2}, {1}), padded_cost{});
    EXPECT_EQ(lists(nothing.plan), (lists_of{{}, {}}));
    EXPECT_EQ(nothing.quality.gap(), 0);
    EXPECT_EQ(nothing.between_nodes_bound, 0u);

    auto const alone = rebalance(sizes{5, 0, 7}, home_layout(counts{3}), uniform_topology({1}, {1}), padded_cost{});
    EXPECT_EQ(lists(alone.plan), (lists_of{{0, 1, 2}}));
    EXPECT_EQ(alone.quality.max_load, 14u);
    EXPECT_EQ(alone.moved, 0u);
}

TEST(rebalance_padded, leaves_ranks_idle_when_there_are_more_ranks_than_samples) {
    auto const kept =
        rebalance(std::vector{5, 3}, home_layout(counts{2, 0, 0}), uniform_topology({3}, {3}), padded_cost{});
    EXPECT_EQ(kept.quality.max_load, 5u);
    EXPECT_EQ(kept.moved, 3u);
}

TEST(rebalance_padded, splits_equal_samples_evenly) {
    auto const kept =
        rebalance(std::vector(12, 7), home_layout(counts{12, 0, 0, 0}), uniform_topology({4}, {2}), padded_cost{});
    EXPECT_EQ(kept.quality.max_load, 21u);
    EXPECT_EQ(kept.between_nodes, 42u);
    EXPECT_EQ(kept.between_nodes_bound, 42u);
    EXPECT_EQ(kept.moved, 63u);
}

TEST(rebalance_padded, leaves_samples_that_cost_nothing_at_home) {
    auto const kept = rebalance(std::vector{0, 4, 4, 0}, home_layout(counts{3, 1}), uniform_topology({2}, {2}),
                                padded_cost{}, {.bytes = sizes{100, 4, 4, 100}});
    EXPECT_EQ(kept.quality.max_load, 4u);
    EXPECT_EQ(kept.moved, 4u);
    auto const absent = rebalance(std::vector{0, 0, 0}, home_layout(counts{2, 1}), uniform_topology({2}, {1}),
                                  padded_cost{}, {.bytes = sizes{1, 2, 3}});
    EXPECT_EQ(lists(absent.plan), (lists_of{{0, 1}, {2}}));
    EXPECT_EQ(absent.total, 6u);
}

TEST(rebalance_padded, sends_of_two_alike_the_one_with_fewer_bytes) {
    auto const kept = rebalance(std::vector{5, 5, 5, 5}, home_layout(counts{4, 0}), uniform_topology({2}, {1}),
                                padded_cost{}, {.bytes = sizes{100, 1, 100, 1}});
    EXPECT_EQ(kept.between_nodes, 2u);
    EXPECT_EQ(kept.between_nodes_bound, 2u);
}

TEST(rebalance_padded, refuses_what_does_not_belong_together) {
    auto const home = home_layout(counts{2, 1});
    auto const cluster = uniform_topology({2}, {1});
    auto const lengths = sizes{1, 2, 3};
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2}, home, cluster, padded_cost{});
        },
        refuses("rebalance: home.size() = 3, expected one for each of 2 samples"));
    EXPECT_THAT([&] { (void)rebalance(lengths, home, cluster, padded_cost{}, {.tolerance = -1}); },
                refuses("rebalance: options.tolerance = -1, expected at least 0"));
    EXPECT_THAT([&] { (void)rebalance(lengths, home, cluster, padded_cost{}, {.resolution = 0}); },
                refuses("rebalance: options.resolution = 0, expected at least 1"));
    EXPECT_THAT([&] { (void)rebalance(lengths, home, cluster, padded_cost{}, {.bytes = sizes{1}}); },
                refuses("rebalance: options.bytes.size() = 1, expected one for each of 3 samples"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(std::vector{1, -2, 3}, home, cluster, padded_cost{});
        },
        testing::Throws<std::invalid_argument>());
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{most, 2, 1}, home, cluster, padded_cost{}, {.bytes = sizes{1, 1, 1}});
        },
        testing::ThrowsMessage<std::overflow_error>("rebalance: the total load exceeds 64 bits"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{most / 2, 9, 9}, home, cluster, padded_cost{.linear = 3});
        },
        testing::Throws<std::overflow_error>());
}

TEST(rebalance_padded, takes_loads_of_nearly_64_bits) {
    constexpr std::uint64_t large = std::uint64_t{1} << 62;
    auto const kept = rebalance(sizes{large, large - 1, 3}, home_layout(counts{3, 0}), uniform_topology({2}, {1}),
                                padded_cost{}, {.tolerance = 1e9});
    EXPECT_EQ(kept.total, 2 * large + 2);
}

class rebalance_padded_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(rebalance_padded_law, is_within_the_tolerance_and_counts_its_bytes_right) {
    test::seeded random{GetParam()};
    world_size const ranks{random.between(1, 20)};
    std::size_t const per_rank = random.between(0, 12);
    auto const lengths = GetParam() % 3 == 0 ? test::sparse_batch(GetParam(), ranks.value, per_rank).lengths
                                             : test::mixed_batch(GetParam(), ranks.value, per_rank).lengths;
    drawn batch{.lengths = lengths,
                .home = test::random_layout(random, lengths.size(), ranks),
                .cluster = test::random_topology(random, ranks),
                .bytes = lengths};
    if (GetParam() % 2 == 0) {
        batch.bytes = test::random_bytes(random, lengths.size());
    }
    auto const optimum = balance(lengths, {ranks.value}, padded_cost{}).quality.max_load;
    static padded_rebalance_workspace space;
    for (double const tolerance : {0.0, 0.03, 0.3}) {
        auto const kept = rebalance(lengths, batch.home, batch.cluster, padded_cost{},
                                    {.tolerance = tolerance, .bytes = batch.bytes});
        test::expect_sound(kept, batch, padded_cost{}, tolerance);
        EXPECT_EQ(kept.quality.lower_bound, optimum);
        EXPECT_EQ(rebalance(space, lengths, batch.home, batch.cluster, padded_cost{},
                            {.tolerance = tolerance, .bytes = batch.bytes}),
                  kept);
        auto without = rebalance(lengths, batch.home, batch.cluster, padded_cost{},
                                 {.tolerance = tolerance, .bytes = batch.bytes, .bounds = false});
        EXPECT_FALSE(without.moved_bound.has_value() || without.between_nodes_bound.has_value());
        EXPECT_EQ(without.plan, kept.plan);
    }
}

TEST_P(rebalance_padded_law, never_claims_a_bound_that_some_plan_is_below) {
    test::seeded random{GetParam() + 1000};
    world_size const ranks{4};
    std::size_t const items = random.up_to(6);
    drawn batch{.lengths = sizes(items),
                .home = test::random_layout(random, items, ranks),
                .cluster = GetParam() % 4 == 0 ? test::random_topology(random, ranks) : uniform_topology(ranks, {2}),
                .bytes = test::random_bytes(random, items)};
    for (auto& length : batch.lengths) {
        length = random.up_to(12);
    }
    if (GetParam() % 2 == 0) {
        batch.bytes = batch.lengths;
    }
    auto const kept = rebalance(batch.lengths, batch.home, batch.cluster, padded_cost{},
                                {.tolerance = GetParam() % 3 == 0 ? 0.0 : 0.2, .bytes = batch.bytes});
    auto const fewest = test::fewest_bytes(batch, padded_cost{}, kept.quality.max_load);
    EXPECT_LE(kept.between_nodes_bound, fewest.between_nodes);
    EXPECT_LE(kept.moved_bound, fewest.moved);
    EXPECT_GE(kept.between_nodes, fewest.between_nodes);
}

INSTANTIATE_TEST_SUITE_P(seeds, rebalance_padded_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

TEST(rebalance_padded, moves_a_fraction_of_what_the_optimal_plan_does) {
    // 64 ranks in nodes of 8, lengths of one order of magnitude.
    auto const [lengths, ranks] = test::sparse_batch(1, 64, 40);
    auto const home = home_layout(counts(64, 40));
    auto const cluster = uniform_topology({64}, {8});
    drawn const batch{lengths, home, cluster, lengths};
    auto const anew = test::carried_by(balance(lengths, ranks, padded_cost{}).plan, batch);
    auto const kept = rebalance(lengths, home, cluster, padded_cost{}, {.tolerance = 0.1});
    EXPECT_LT(kept.between_nodes, anew.between_nodes / 10);
    auto const tight = rebalance(lengths, home, cluster, padded_cost{}, {.tolerance = 0.02});
    EXPECT_LT(tight.between_nodes, anew.between_nodes / 2);
}

}  // namespace
}  // namespace evenkeel::rebalance_padded_test
