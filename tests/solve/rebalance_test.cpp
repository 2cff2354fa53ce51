// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/partition.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/rebalance.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/expect_sound.hpp"
#include "tests/support/fewest_bytes.hpp"
#include "tests/support/layouts.hpp"

namespace evenkeel::rebalance_test {
namespace {

using counts = std::vector<std::size_t>;
using sizes = std::vector<std::uint64_t>;
using test::drawn;
using test::lists;
using test::lists_of;
using test::refuses;

TEST(rebalance, moves_only_what_has_to) {
    // Two nodes of two ranks each; each rank has drawn two samples.
    auto const lengths = std::vector{9, 3, 2, 2, 4, 2, 3, 2};
    auto const home = home_layout(counts{2, 2, 2, 2});
    auto const cluster = uniform_topology({4}, {2});
    auto const kept = rebalance(lengths, home, cluster, linear_cost{});

    EXPECT_EQ(lists(kept.plan), (lists_of{{0}, {1, 2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(kept.quality, (quality{.max_load = 9, .total_load = 27, .lower_bound = 9, .ranks = {4}}));
    EXPECT_EQ(kept.total, 27u);
    EXPECT_EQ(kept.moved, 3u);
    EXPECT_EQ(kept.moved_bound, 3u);
    EXPECT_EQ(kept.between_nodes, 0u);
    EXPECT_EQ(kept.between_nodes_bound, 0u);
    EXPECT_FALSE(kept.from_scratch);
}

TEST(rebalance, keeps_what_is_balanced_where_it_is) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        test::seeded random{seed};
        auto const ranks = world_size{random.between(1, 12)};
        auto const [lengths, same] = test::mixed_batch(seed, ranks.value, 5);
        auto const even = balance(lengths, same, linear_cost{}, {.tolerance = 1e-3});
        auto const home = layout_of(even.plan);
        // From scratch may miss the target; what it reached is then what is good enough.
        auto const kept = rebalance(lengths, home, test::random_topology(random, ranks), linear_cost{},
                                    {.tolerance = even.quality.gap() + 1e-9});
        EXPECT_EQ(kept.moved, 0u) << "seed " << seed;
        EXPECT_EQ(lists(kept.plan), lists(even.plan)) << "seed " << seed;
    }
}

TEST(rebalance, keeps_what_only_a_plan_from_scratch_proves_to_be_balanced) {
    // The mean is 48, so that 48 is what is tried first; that no rank may stay below 50 takes a search to see.
    auto const lengths = std::vector{10, 40, 2, 32, 16, 13, 34, 12, 25, 6, 45, 6, 46};
    auto const home = home_layout(counts{2, 3, 2, 3, 2, 1});
    auto const kept = rebalance(lengths, home, uniform_topology({6}, {2}), linear_cost{}, {.tolerance = 0.02});
    EXPECT_EQ(kept.quality.lower_bound, 50u);
    EXPECT_EQ(kept.quality.max_load, 51u);
    EXPECT_EQ(kept.moved, 0u);
}

TEST(rebalance, needs_no_sample_and_no_second_rank) {
    auto const nothing = rebalance(sizes{}, home_layout(counts{0, 0}), uniform_topology({2}, {1}), linear_cost{});
    EXPECT_EQ(lists(nothing.plan), (lists_of{{}, {}}));
    EXPECT_EQ(nothing.quality.gap(), 0);
    EXPECT_EQ(nothing.between_nodes_bound, 0u);

    auto const alone = rebalance(sizes{5, 0, 7}, home_layout(counts{3}), uniform_topology({1}, {1}), linear_cost{});
    EXPECT_EQ(lists(alone.plan), (lists_of{{0, 1, 2}}));
    EXPECT_EQ(alone.moved, 0u);
}

TEST(rebalance, leaves_ranks_idle_when_there_are_more_ranks_than_samples) {
    auto const kept =
        rebalance(std::vector{5, 3}, home_layout(counts{2, 0, 0}), uniform_topology({3}, {3}), linear_cost{});
    EXPECT_EQ(kept.quality.max_load, 5u);
    EXPECT_EQ(kept.moved, 3u);
}

TEST(rebalance, places_every_sample_whatever_the_divisibility) {
    auto const kept = rebalance(std::vector{1, 1, 1, 1, 1}, home_layout(counts{5, 0, 0, 0}), uniform_topology({4}, {2}),
                                linear_cost{});
    require_partition("test", kept.plan, 5);
    EXPECT_EQ(kept.quality.max_load, 2u);
    EXPECT_EQ(kept.between_nodes, 1u);
    EXPECT_EQ(kept.moved, 3u);
}

TEST(rebalance, accepts_ranks_that_drew_nothing) {
    auto const kept =
        rebalance(std::vector{3, 3}, home_layout(counts{0, 2}), uniform_topology({2}, {1}), linear_cost{});
    EXPECT_EQ(lists(kept.plan), (lists_of{{0}, {1}}));
    EXPECT_EQ(kept.between_nodes, 3u);
    EXPECT_EQ(kept.between_nodes_bound, 3u);
}

TEST(rebalance, leaves_samples_that_cost_nothing_at_home) {
    auto const kept = rebalance(std::vector{0, 4, 4, 0}, home_layout(counts{3, 1}), uniform_topology({2}, {2}),
                                linear_cost{}, {.bytes = sizes{100, 4, 4, 100}});
    EXPECT_EQ(kept.quality.max_load, 4u);
    EXPECT_EQ(kept.moved, 4u);
    EXPECT_EQ(lists(kept.plan)[0][0], 0u);
}

TEST(rebalance, ships_no_batch_that_could_run_where_it_is) {
    // From scratch, the two long samples and the two short ones meet; where they meet is luck. Here nothing has to
    // move.
    auto const lengths = std::vector{10, 2, 9, 3};
    auto const kept = rebalance(lengths, home_layout(counts{2, 2}), uniform_topology({2}, {1}), linear_cost{});
    EXPECT_EQ(kept.quality.gap(), 0);
    EXPECT_EQ(kept.between_nodes, 0u);
}

TEST(rebalance, moves_what_weighs_most_per_byte) {
    // Either pair would do; text of the same length costs 1 byte, with its images 100.
    auto const kept = rebalance(std::vector{5, 5, 5, 5}, home_layout(counts{4, 0}), uniform_topology({2}, {1}),
                                linear_cost{}, {.bytes = sizes{100, 1, 100, 1}});
    EXPECT_EQ(lists(kept.plan), (lists_of{{0, 2}, {1, 3}}));
    EXPECT_EQ(kept.between_nodes, 2u);
    EXPECT_EQ(kept.between_nodes_bound, 2u);
}

TEST(rebalance, moves_what_is_free_first) {
    auto const kept = rebalance(std::vector{6, 1, 1, 1, 1, 2}, home_layout(counts{6, 0}), uniform_topology({2}, {1}),
                                linear_cost{}, {.bytes = sizes{600, 0, 0, 0, 0, 0}});
    EXPECT_EQ(kept.quality.max_load, 6u);
    EXPECT_EQ(kept.between_nodes, 0u);
}

TEST(rebalance, moves_items_of_a_lower_class_first) {
    std::vector<std::uint8_t> const classes{1, 0, 1, 0};
    auto const kept = rebalance(std::vector{5, 5, 5, 5}, home_layout(counts{4, 0}), uniform_topology({2}, {1}),
                                linear_cost{}, {.classes = classes});
    EXPECT_EQ(lists(kept.plan), (lists_of{{0, 2}, {1, 3}}));
}

TEST(rebalance, finds_the_ranks_of_a_node_wherever_they_are) {
    // Nodes of two, one and three ranks, mixed: node 1 has the load and node 2 the room.
    topology const cluster{.nodes_of_ranks = {node_id{2}, node_id{0}, node_id{2}, node_id{1}, node_id{0}, node_id{2}}};
    auto const kept =
        rebalance(std::vector{4, 4, 2, 2, 4, 4, 2, 2}, home_layout(counts{0, 2, 0, 2, 2, 2}), cluster, linear_cost{});
    EXPECT_EQ(kept.quality.max_load, 4u);
    EXPECT_EQ(kept.between_nodes, kept.between_nodes_bound);
}

TEST(rebalance, does_not_wrap_around_on_32_bit_lengths_with_a_quadratic_cost) {
    auto const kept = rebalance(std::vector<std::uint32_t>{50'000, 46'341}, home_layout(counts{2, 0}),
                                uniform_topology({2}, {2}), attention_cost{.linear = 0, .quadratic = 1});
    EXPECT_EQ(kept.quality.max_load, 2'500'000'000u);
    EXPECT_EQ(kept.moved, 46'341u);
}

TEST(rebalance, says_when_it_had_to_start_from_scratch) {
    auto const lengths = sizes{3, 3};
    auto const home = home_layout(counts{2, 0});
    auto const cluster = uniform_topology({2}, {1});
    EXPECT_FALSE(rebalance(lengths, home, cluster, linear_cost{}).from_scratch);

    auto const lazy = rebalance(lengths, home, cluster, linear_cost{}, {.effort = 0});
    EXPECT_TRUE(lazy.from_scratch);
    EXPECT_EQ(lazy.quality.max_load, 3u) << "the target is reached all the same";
    EXPECT_EQ(lazy.between_nodes, 3u) << "and the batches are where they move least";
}

TEST(rebalance, makes_the_same_plan_without_bounds_and_says_that_there_are_none) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 8, 6);
        auto const home = home_layout(counts(8, 6));
        auto const cluster = uniform_topology({8}, {4});
        auto const with = rebalance(lengths, home, cluster, linear_cost{}, {.effort = 64});
        auto const without = rebalance(lengths, home, cluster, linear_cost{}, {.effort = 64, .bounds = false});
        EXPECT_TRUE(with.moved_bound.has_value() && with.between_nodes_bound.has_value());
        auto expected = with;
        expected.moved_bound.reset();
        expected.between_nodes_bound.reset();
        EXPECT_EQ(without, expected);
    }
}

// Items of a later class wait to be sorted until they are needed, which must not depend on who asks for bounds.
TEST(rebalance, makes_the_same_plan_without_bounds_of_items_that_have_classes) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::seeded random{seed};
        std::size_t const per_rank = random.up_to(1) == 0 ? random.between(1, 12) : random.between(14, 30);
        auto lengths = test::mixed_batch(seed, 8, per_rank).lengths;
        std::uint64_t const unit = random.up_to(1) == 0 ? 1 : std::uint64_t{1} << 22;
        std::vector<std::uint8_t> classes(lengths.size());
        for (std::size_t item = 0; item < lengths.size(); ++item) {
            lengths[item] *= unit;
            classes[item] = static_cast<std::uint8_t>(random.up_to(1));
        }
        auto const home = home_layout(counts(8, per_rank));
        auto const cluster = uniform_topology({8}, {2});
        rebalance_options options{.effort = 64, .classes = classes};
        auto const with = rebalance(lengths, home, cluster, linear_cost{}, options);
        options.bounds = false;
        EXPECT_EQ(rebalance(lengths, home, cluster, linear_cost{}, options).plan, with.plan) << "seed " << seed;
    }
}

TEST(rebalance, refuses_what_does_not_belong_together) {
    auto const home = home_layout(counts{2, 1});
    auto const cluster = uniform_topology({2}, {1});
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2}, home, cluster, linear_cost{});
        },
        refuses("rebalance: home.size() = 3, expected one for each of 2 samples"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2, 3}, home, uniform_topology({3}, {1}), linear_cost{});
        },
        refuses("rebalance: topology.size() = 3, expected the world of `home`, 2 ranks"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2, 3}, home, {{node_id{0}, node_id{2}}}, linear_cost{});
        },
        refuses("rebalance: topology.nodes() = 3, expected at most one node for each of 2 ranks"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2, 3}, home, cluster, linear_cost{}, {.tolerance = -1});
        },
        refuses("rebalance: options.tolerance = -1, expected at least 0"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2, 3}, home, cluster, linear_cost{}, {.resolution = 0});
        },
        refuses("rebalance: options.resolution = 0, expected at least 1"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2, 3}, home, cluster, linear_cost{}, {.bytes = sizes{1}});
        },
        refuses("rebalance: options.bytes.size() = 1, expected one for each of 3 samples"));
    EXPECT_THAT(
        [&] {
            (void)rebalance(std::vector{1, -2, 3}, home, cluster, linear_cost{});
        },
        refuses("rebalance: samples[1] = -2, expected a length of at least 0"));
    EXPECT_THAT([&] { (void)rebalance(sizes{}, layout{}, topology{}, linear_cost{}); },
                refuses("rebalance: ranks = 0, expected at least 1"));
    auto lost = home;
    lost.places[1].rank = world_rank{7};
    EXPECT_THAT(
        [&] {
            (void)rebalance(sizes{1, 2, 3}, lost, cluster, linear_cost{});
        },
        refuses("rebalance: home.places[1].rank = 7, expected a world rank below 2"));
    auto const most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THROW((void)rebalance(sizes{1, 2, 3}, home, cluster, linear_cost{}, {.bytes = sizes{most, 1, 0}}),
                 std::overflow_error);
}

/// Up to 7 samples on up to 4 ranks, for the oracle.
drawn small_drawn(std::uint64_t seed) {
    test::seeded random{seed};
    auto batch = test::small_batch(seed);
    batch.lengths.resize(std::min<std::size_t>(batch.lengths.size(), 7));
    drawn result{.lengths = batch.lengths, .home = {}, .cluster = {}, .bytes = batch.lengths};
    result.home = home_layout(test::random_counts(random, batch.lengths.size(), batch.ranks.value));
    result.cluster = test::random_topology(random, {batch.ranks.value});
    return result;
}

TEST(rebalance_law, holds_its_promises_where_everything_can_be_tried) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        auto batch = small_drawn(seed);
        rebalance_options options{.tolerance = seed % 3 == 0 ? 0.0 : 1e-3, .effort = 256};
        if (seed % 2 == 0) {
            test::seeded random{seed};
            batch.bytes = test::random_bytes(random, batch.lengths.size());
            options.bytes = batch.bytes;
        }
        auto const kept = rebalance(batch.lengths, batch.home, batch.cluster, linear_cost{}, options);
        test::expect_sound(kept, batch, linear_cost{}, options.tolerance);
        auto const least = test::fewest_bytes(batch, linear_cost{}, kept.quality.max_load);
        EXPECT_LE(kept.moved_bound, least.moved);
        EXPECT_LE(kept.between_nodes_bound, least.between_nodes);
    }
}

TEST(rebalance_law, holds_its_promises_for_batches_of_all_kinds) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        test::seeded random{seed};
        std::size_t const ranks = random.between(1, 24);
        auto const lengths = seed % 2 == 0 ? test::mixed_batch(seed, ranks, random.between(1, 20)).lengths
                                           : test::sparse_batch(seed, ranks, random.between(1, 6)).lengths;
        drawn batch{.lengths = lengths,
                    .home = test::random_layout(random, lengths.size(), {ranks}),
                    .cluster = test::random_topology(random, {ranks}),
                    .bytes = lengths};
        // Less effort than by default, so that the ways that a search takes when it fails are gone, too.
        rebalance_options options{.tolerance = seed % 5 == 0 ? 0.0 : 1e-3, .effort = 64};
        std::vector<std::uint8_t> classes(lengths.size());
        if (seed % 3 == 0) {
            batch.bytes = test::random_bytes(random, lengths.size());
            options.bytes = batch.bytes;
        }
        if (seed % 4 == 0) {
            std::ranges::generate(classes, [&] { return static_cast<std::uint8_t>(random.up_to(2)); });
            options.classes = classes;
        }
        auto const kept = rebalance(lengths, batch.home, batch.cluster, linear_cost{}, options);
        test::expect_sound(kept, batch, linear_cost{}, options.tolerance);
    }
}

TEST(rebalance_law, mostly_stays_at_home_with_a_handful_of_samples_that_weigh_about_the_same) {
    std::size_t from_scratch = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto lengths = test::mixed_batch(seed, 16, 8).lengths;
        for (auto& length : lengths) {
            length = 1000 + length % 500;
        }
        auto const kept = rebalance(lengths, home_layout(counts(16, 8)), uniform_topology({16}, {4}), linear_cost{},
                                    {.effort = 2048});
        from_scratch += kept.from_scratch ? 1U : 0U;
    }
    EXPECT_LE(from_scratch, 3u);
}

TEST(rebalance_law, moves_little_of_a_few_heavy_samples_of_which_many_nodes_cannot_even_out_their_own) {
    // Videos of a few formats, whose lengths have few divisors in common: sums are far apart.
    constexpr std::uint64_t formats[] = {252, 391, 414, 598};
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> lengths(64 * 4);
        for (auto& length : lengths) {
            length = formats[random.up_to(3)] * random.between(6, 40);
        }
        auto const kept = rebalance(lengths, home_layout(counts(64, 4)), uniform_topology({64}, {8}), linear_cost{});
        EXPECT_FALSE(kept.from_scratch) << seed;
        EXPECT_LT(kept.between_nodes * 10, kept.total) << seed;
    }
}

// A bound on steps is one on time, as all that is done is counted; of what is not, this shows nothing.
TEST(rebalance_law, needs_few_steps_where_one_rank_or_one_node_has_drawn_everything_or_half_of_it) {
    constexpr std::size_t ranks = 64;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        test::seeded random{seed};
        // Nothing at all light as well, so that the rooms are to be filled by what there is.
        std::vector<std::uint64_t> lengths(ranks * 20);
        std::ranges::generate(lengths, [&] { return random.between(1, seed % 2 == 0 ? 100'000 : 1'000); });
        counts drawn_by(ranks, 0);
        for (std::size_t sample = 0; sample < lengths.size(); ++sample) {
            bool const anywhere = seed % 3 == 2 && sample % 2 == 0;
            ++drawn_by[anywhere ? sample % ranks : seed % 3 == 0 ? 17 : sample % 8];
        }
        auto const kept =
            rebalance(lengths, home_layout(drawn_by), uniform_topology({ranks}, {8}), linear_cost{}, {.effort = 1024});
        EXPECT_FALSE(kept.from_scratch);
        EXPECT_LE(kept.quality.gap(), 1e-3);
        EXPECT_LE(static_cast<double>(kept.between_nodes),
                  1.005 * static_cast<double>(kept.between_nodes_bound.value()));
    }
}

TEST(rebalance_law, is_close_to_the_fewest_bytes_with_many_samples_per_rank) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 64, 40);
        auto const kept = rebalance(lengths, home_layout(counts(64, 40)), uniform_topology({64}, {8}), linear_cost{});
        EXPECT_LE(static_cast<double>(kept.between_nodes),
                  1.05 * static_cast<double>(kept.between_nodes_bound.value()));
        EXPECT_LT(kept.between_nodes * 10, kept.total);
    }
}

}  // namespace
}  // namespace evenkeel::rebalance_test
