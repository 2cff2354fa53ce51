// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/balance_mixed.hpp>
#include <evenkeel/solve/balance_padded.hpp>
#include <evenkeel/solve/micro_batches.hpp>
#include <evenkeel/solve/rebalance.hpp>
#include <evenkeel/solve/rebalance_padded.hpp>
#include <evenkeel/solve/wishes.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/counted_allocations.hpp"

namespace evenkeel::workspace_test {
namespace {

TEST(workspace, allocates_nothing_from_the_second_batch_of_a_shape_on) {
    // The first batch may be as simple as can be: memory depends on the shape alone.
    workspace space;
    (void)balance(space, std::vector<std::uint64_t>(64 * 40), rank_count{64}, linear_cost{});

    // Dense, ever sparser, in wide numbers: the searches differ.
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        auto batch = test::sparse_batch(seed, 64, 40);
        for (std::size_t item = 0; item < batch.lengths.size(); ++item) {
            batch.lengths[item] = item % seed == 0 ? batch.lengths[item] : 0;
        }
        auto const model = linear_cost{seed % 3 == 0 ? 1ULL << 36 : 1};
        auto const before = test::allocations;
        (void)balance(space, batch.lengths, batch.ranks, model);
        EXPECT_EQ(test::allocations, before) << "seed " << seed;

        for (auto& length : batch.lengths) {
            length = length % 5 * length % 5;
        }
        (void)balance(space, batch.lengths, batch.ranks, attention_cost{.linear = 40 + seed, .quadratic = 7});
        EXPECT_EQ(test::allocations, before) << "tiles of seed " << seed;
    }
}

TEST(workspace, allocates_nothing_for_padded_batches_from_the_second_on) {
    workspace space;
    (void)balance(space, std::vector<std::uint64_t>(64 * 40), rank_count{64}, padded_cost{});

    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 64, 40);
        auto const model = padded_cost{.quadratic = seed % 2};
        auto const before = test::allocations;
        (void)balance(space, lengths, ranks, model);
        EXPECT_EQ(test::allocations, before) << "seed " << seed;
    }
}

TEST(workspace, allocates_nothing_for_mixed_batches_from_the_second_on) {
    workspace space;
    (void)balance(space, std::vector<std::uint64_t>(64 * 40), rank_count{64}, conv_attention_cost{});

    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 64, 40);
        auto const model = conv_attention_cost{.padded = seed % 3, .linear = 5, .quadratic = seed % 2};
        auto const before = test::allocations;
        (void)balance(space, lengths, ranks, model);
        EXPECT_EQ(test::allocations, before) << "seed " << seed;
    }
}

TEST(workspace, allocates_nothing_with_wishes_from_the_second_batch_of_a_shape_on) {
    workspace space;
    std::vector<std::uint64_t> const nothing(64 * 20);
    std::vector<std::uint64_t> speeds(64, 10);
    std::vector<std::uint32_t> groups(nothing.size());
    std::vector<rank_id> pinned(nothing.size(), unpinned);
    auto const wish = [&](std::vector<std::uint64_t> const& lengths, std::uint64_t cap) {
        return wishes{.quantities = lengths,
                      .cap = cap,
                      .count_cap = 400,
                      .no_empty_rank = true,
                      .groups = groups,
                      .pinned = pinned,
                      .speeds = speeds,
                      .step = 5};
    };
    for (std::size_t item = 0; item < groups.size(); ++item) {
        groups[item] = static_cast<std::uint32_t>(item);
    }
    (void)balance(space, nothing, rank_count{64}, linear_cost{}, {.wishes = wish(nothing, 1)});
    (void)balance(space, nothing, rank_count{64}, linear_cost{}, {.wishes = {.equal_counts = true}});

    for (std::uint64_t seed = 1; seed < 16; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 64, 20);
        for (std::size_t item = 0; item < groups.size(); ++item) {
            groups[item] = static_cast<std::uint32_t>(item / (1 + seed % 3));
            pinned[item] = (item + seed) % 50 == 0 ? to_id<rank_id>(item % 64) : unpinned;
        }
        speeds[seed] = 8;
        auto const before = test::allocations;
        (void)balance(space, lengths, ranks, linear_cost{}, {.effort = 32, .wishes = wish(lengths, 30'000)});
        (void)balance(space, lengths, ranks, linear_cost{}, {.effort = 32, .wishes = {.equal_counts = true}});
        (void)balance(space, lengths, ranks, linear_cost{}, {.effort = 32, .wishes = {.count_cap = 40}});
        EXPECT_EQ(test::allocations, before) << "seed " << seed;
    }
}

TEST(micro_batch_workspace, allocates_nothing_from_the_second_batch_of_a_shape_on) {
    micro_batch_workspace space;
    micro_batch_options const options{.cap = 10'000, .count = 4};
    (void)micro_batches(space, std::vector<std::uint64_t>(16 * 20), rank_count{16}, linear_cost{}, options);

    for (std::uint64_t seed = 1; seed < 16; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 16, 20);
        auto const before = test::allocations;
        (void)micro_batches(space, lengths, ranks, linear_cost{}, options);
        EXPECT_EQ(test::allocations, before) << "seed " << seed;
    }
}

TEST(workspace, does_not_colour_the_result) {
    workspace space;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 1 + seed % 7 * 5, 1 + seed % 9);
        EXPECT_EQ(balance(space, lengths, ranks, linear_cost{}), balance(lengths, ranks, linear_cost{}));
        EXPECT_EQ(balance(space, lengths, ranks, padded_cost{}), balance(lengths, ranks, padded_cost{}));
        auto const mixed = conv_attention_cost{.linear = 5};
        EXPECT_EQ(balance(space, lengths, ranks, mixed), balance(lengths, ranks, mixed));
    }
}

TEST(rebalance_workspace, allocates_nothing_from_the_second_batch_of_a_shape_on) {
    auto const home = home_layout(std::vector<std::size_t>(32, 20));
    auto const cluster = uniform_topology({32}, {8});
    rebalance_workspace space;
    (void)rebalance(space, std::vector<std::uint64_t>(32 * 20), home, cluster, linear_cost{});

    // Dense and ever sparser, with bytes of their own, up to batches that have to be planned from scratch.
    for (std::uint64_t seed = 1; seed < 16; ++seed) {
        auto batch = test::sparse_batch(seed, 32, 20);
        std::vector<std::uint64_t> bytes(batch.lengths.size());
        for (std::size_t item = 0; item < batch.lengths.size(); ++item) {
            batch.lengths[item] = item % seed == 0 ? batch.lengths[item] : 0;
            bytes[item] = item % 7;
        }
        rebalance_options options{.tolerance = seed % 3 == 0 ? 0 : 1e-3, .effort = 64, .bounds = seed % 5 != 0};
        if (seed % 2 == 0) {
            options.bytes = bytes;
        }
        auto const before = test::allocations;
        (void)rebalance(space, batch.lengths, home, cluster, linear_cost{}, options);
        EXPECT_EQ(test::allocations, before) << "seed " << seed;
    }
}

TEST(padded_rebalance_workspace, allocates_nothing_from_the_second_batch_of_a_shape_on) {
    auto const home = home_layout(std::vector<std::size_t>(32, 20));
    auto const cluster = uniform_topology({32}, {4});
    padded_rebalance_workspace space;
    (void)rebalance(space, std::vector<std::uint64_t>(32 * 20), home, cluster, padded_cost{});

    for (std::uint64_t seed = 1; seed < 16; ++seed) {
        auto const lengths =
            seed % 2 == 0 ? test::mixed_batch(seed, 32, 20).lengths : test::sparse_batch(seed, 32, 20).lengths;
        std::vector<std::uint64_t> bytes(lengths.size());
        for (std::size_t item = 0; item < bytes.size(); ++item) {
            bytes[item] = seed % 4 < 2 ? lengths[item] : item % 7;
        }
        auto const before = test::allocations;
        (void)rebalance(space, lengths, home, cluster, padded_cost{},
                        {.tolerance = seed % 3 == 0 ? 0 : 0.1, .bytes = bytes});
        EXPECT_EQ(test::allocations, before) << "seed " << seed;
    }
}

TEST(rebalance_workspace, allocates_nothing_from_the_second_batch_of_a_shape_on_with_wishes) {
    auto const home = home_layout(std::vector<std::size_t>(16, 12));
    auto const cluster = uniform_topology({16}, {4});
    rebalance_workspace space;
    std::vector<std::uint64_t> const speeds{9, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
    std::vector<std::uint64_t> quantities(16 * 12);
    std::vector<std::uint32_t> groups(16 * 12);
    for (std::size_t item = 0; item < groups.size(); ++item) {
        quantities[item] = item % 7;
        groups[item] = static_cast<std::uint32_t>(item / 2);
    }
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 16, 12);
        wishes asked{.no_empty_rank = true};
        if (seed % 2 == 0) {
            asked.quantities = quantities;
            asked.cap = 50;
        }
        if (seed % 3 == 0) {
            asked.groups = groups;
        }
        if (seed % 4 == 0) {
            asked.speeds = speeds;
        }
        auto const before = test::allocations;
        (void)rebalance(space, lengths, home, cluster, linear_cost{}, {.effort = 64, .wishes = asked});
        if (seed > 0) {
            EXPECT_EQ(test::allocations, before) << "seed " << seed;
        }
    }
}

TEST(rebalance_workspace, does_not_colour_the_result) {
    rebalance_workspace space;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 2 * (1 + seed % 7), 1 + seed % 9);
        auto const home = home_layout(std::vector<std::size_t>(ranks.value, 1 + seed % 9));
        auto const cluster = uniform_topology({ranks.value}, {2});
        rebalance_options const options{.effort = 64};
        EXPECT_EQ(rebalance(space, lengths, home, cluster, linear_cost{}, options),
                  rebalance(lengths, home, cluster, linear_cost{}, options));
    }
}

TEST(rebalance_workspace, does_not_colour_the_result_of_smaller_batches) {
    auto const small_home = home_layout(std::vector<std::size_t>(16, 2));
    auto const large_home = home_layout(std::vector<std::size_t>(256, 4));
    std::vector<std::uint64_t> speeds(16, 10);
    speeds.front() = 5;
    // Hard to even out, so that much is tried: the queues of these grow until they are built anew.
    for (std::uint64_t const seed : {std::uint64_t{9}, std::uint64_t{15}}) {
        auto const large = test::sparse_batch(2 * seed, 256, 4).lengths;
        auto const small = test::sparse_batch(2 * seed + 1, 16, 2).lengths;
        rebalance_workspace space;
        (void)rebalance(space, large, large_home, uniform_topology({256}, {8}), linear_cost{}, {.effort = 64});
        for (auto const& options : {rebalance_options{}, rebalance_options{.wishes = {.speeds = speeds}}}) {
            EXPECT_EQ(rebalance(space, small, small_home, uniform_topology({16}, {2}), linear_cost{}, options),
                      rebalance(small, small_home, uniform_topology({16}, {2}), linear_cost{}, options))
                << seed;
        }
    }
}

}  // namespace
}  // namespace evenkeel::workspace_test
