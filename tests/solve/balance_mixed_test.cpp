// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/balance_mixed.hpp>
#include <evenkeel/solve/balance_padded.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/padded_oracle.hpp"

namespace evenkeel::balance_mixed_test {
namespace {

using lists_of = std::vector<std::vector<std::uint32_t>>;

/// The items of every rank, for comparison with a literal.
lists_of lists(plan const& plan) {
    lists_of result(plan.ranks().value);
    for (std::size_t rank = 0; rank < result.size(); ++rank) {
        for (auto const item : plan[to_id<rank_id>(rank)]) {
            result[rank].push_back(static_cast<std::uint32_t>(item));
        }
    }
    return result;
}

constexpr conv_attention_cost fifth{.padded = 4915, .linear = 24'576, .quadratic = 1};

TEST(balance_mixed, mixes_sizes_where_sorting_into_runs_costs_more) {
    auto const lengths = std::vector{6, 6, 5, 5};
    auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::conv_attention_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 2}, {1, 3}}));
    EXPECT_EQ(even.quality, (quality{.max_load = 23, .total_load = 46, .lower_bound = 23, .ranks = {2}}));
}

TEST(balance_mixed, balances_sums_where_nothing_is_padded) {
    // In runs 4 3 | 3 2, so 7.
    auto const even = balance(std::vector{4, 3, 3, 2}, rank_count{2}, conv_attention_cost{.padded = 0});

    EXPECT_EQ(even.quality, (quality{.max_load = 6, .total_load = 12, .lower_bound = 6, .ranks = {2}}));
}

TEST(balance_mixed, cuts_runs_where_everything_is_padded) {
    auto const even = balance(std::vector{900, 100, 500, 400}, rank_count{2}, conv_attention_cost{.linear = 0});

    EXPECT_EQ(even.quality.max_load, 1500u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance_mixed, leaves_ranks_idle_when_there_are_more_ranks_than_samples) {
    auto const even = balance(std::vector{5, 3}, rank_count{3}, conv_attention_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0}, {1}, {}}));
    EXPECT_EQ(even.quality, (quality{.max_load = 10, .total_load = 16, .lower_bound = 10, .ranks = {3}}));
}

TEST(balance_mixed, neither_pads_nor_counts_samples_without_length_and_keeps_them_where_they_were_drawn) {
    auto const even = balance(std::vector{0, 9, 8, 0, 7, 6, 5, 0}, rank_count{4}, conv_attention_cost{});

    EXPECT_THAT(even.plan[rank_id{0}], testing::Contains(item_id{0}));
    EXPECT_THAT(even.plan[rank_id{1}], testing::Contains(item_id{3}));
    EXPECT_THAT(even.plan[rank_id{3}], testing::Contains(item_id{7}));
    EXPECT_EQ(even.quality.max_load, 2 * 6 + 6 + 5u);

    auto const absent = balance(std::vector<int>(8), rank_count{4}, conv_attention_cost{});
    EXPECT_EQ(lists(absent.plan), (lists_of{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(absent.quality, (quality{.ranks = {4}}));
}

TEST(balance_mixed, of_nothing_is_empty_batches) {
    auto const even = balance(std::vector<int>{}, rank_count{3}, conv_attention_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{}, {}, {}}));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance_mixed, of_one_rank_is_the_batch_itself) {
    auto const even = balance(std::vector{3, 1, 2}, rank_count{1}, conv_attention_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 1, 2}}));
    EXPECT_EQ(even.quality.max_load, 9 + 6u);
}

TEST(balance_mixed, of_equal_samples_gives_equal_counts) {
    auto const even = balance(std::vector<int>(120, 577), rank_count{4}, conv_attention_cost{});

    for (auto const& list : lists(even.plan)) {
        EXPECT_EQ(list.size(), 30u);
    }
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance_mixed, counts_in_its_bound_what_padding_is_certain) {
    // Two of 9 9 1 or a 9 and the 1 meet: 9 + 9 + 9 + 1. Unpadded, the mean would be 19.
    auto const even = balance(std::vector{9, 9, 1}, rank_count{2}, conv_attention_cost{});
    EXPECT_EQ(even.quality.max_load, 28u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance_mixed, comes_within_a_hundredth_of_the_mean_with_many_samples_per_rank) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> lengths(1024 * 40);
        for (auto& length : lengths) {
            length = random.between(1, 2000);
        }
        auto const even = balance(lengths, rank_count{1024}, fifth);
        std::uint64_t unpadded = 0;
        for (auto const length : lengths) {
            unpadded += fifth.padded_weight(length) + fifth.packed_weight(length);
        }
        EXPECT_LE(even.quality.max_load, unpadded / 1024 * 101 / 100);
    }
}

TEST(balance_mixed, stops_where_it_is_good_enough) {
    auto const [lengths, ranks] = test::mixed_batch(3, 64, 20);
    auto const best = balance(lengths, ranks, fifth);
    auto const near = balance(lengths, ranks, fifth, {.tolerance = 0.2});
    EXPECT_LE(near.quality.gap(), 0.2);
    EXPECT_GT(near.quality.max_load, best.quality.max_load);
    auto const hasty = balance(lengths, ranks, fifth, {.effort = 0});
    EXPECT_GE(hasty.quality.max_load, best.quality.max_load);
    EXPECT_LE(hasty.quality.gap(), 0.2);
}

TEST(balance_mixed, gives_the_same_plan_on_every_compiler_and_machine) {
    // This number changes when the algorithm does, and only then.
    auto const [lengths, ranks] = test::mixed_batch(1, 64, 40);
    EXPECT_EQ(fingerprint{}.add(balance(lengths, ranks, fifth).plan).value(), 7796020220687194847u);
}

TEST(balance_mixed, reads_lengths_through_a_projection) {
    struct example {
        std::string text;
        double seconds;
    };
    auto const batch = std::vector<example>{{"a", 0.9}, {"b", 0.1}, {"c", 0.5}, {"d", 0.4}};

    EXPECT_EQ(balance(batch, rank_count{2}, fifth, {.resolution = 1000}, &example::seconds),
              balance(std::vector{900, 100, 500, 400}, rank_count{2}, fifth));
}

TEST(balance_mixed, reports_loads_beyond_64_bits) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    using longs = std::vector<std::uint64_t>;
    EXPECT_THAT(
        [] {
            (void)balance(longs{most / 4, 1, 1, 1}, rank_count{1}, conv_attention_cost{});
        },
        testing::ThrowsMessage<std::overflow_error>("balance: the padded load of a rank exceeds 64 bits"));
    EXPECT_EQ(balance(longs{most / 4, most / 4 - 1}, rank_count{2}, conv_attention_cost{}).quality.max_load,
              most / 4 * 2);
    EXPECT_THROW((void)balance(longs{most / 2, most / 2}, rank_count{2}, conv_attention_cost{}), std::overflow_error);
    EXPECT_THROW((void)balance(longs{most}, rank_count{2}, conv_attention_cost{}), std::overflow_error);
    EXPECT_THROW((void)balance(longs{most}, rank_count{2}, conv_attention_cost{.padded = 2}), std::overflow_error);
}

TEST(balance_mixed, refuses_values_that_make_no_sense) {
    EXPECT_THAT([] { (void)balance(std::vector{1}, rank_count{0}, fifth); },
                testing::ThrowsMessage<std::invalid_argument>("balance: ranks = 0, expected at least 1"));
    EXPECT_THROW((void)balance(std::vector{-1}, rank_count{1}, fifth), std::invalid_argument);
    EXPECT_THROW((void)balance(std::vector{1}, rank_count{1}, fifth, {.tolerance = std::nan("")}),
                 std::invalid_argument);
    EXPECT_THAT([] { (void)balance(std::vector{1}, rank_count{1}, fifth, {.wishes = {.step = 1}}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "balance: options.wishes.step = given, expected no wishes together with a mixed_model"));
}

// Laws, over many small batches; the seed is the test's parameter, so a failure names it.

class balance_mixed_law : public testing::TestWithParam<std::uint64_t> {};

test::batch modest_batch(std::uint64_t seed) {
    auto result = test::small_batch(seed);
    for (auto& length : result.lengths) {
        length %= 1'000'000;
    }
    if (result.lengths.size() == 10) {
        result.lengths.pop_back();
    }
    return result;
}

conv_attention_cost model_of(std::uint64_t seed) {
    constexpr conv_attention_cost models[] = {
        {}, {.linear = 5}, {.padded = 0}, {.linear = 0}, {.padded = 3, .linear = 0, .quadratic = 1}, fifth};
    return models[seed % 6];
}

TEST_P(balance_mixed_law, finds_and_proves_the_optimum_of_a_small_batch) {
    auto const [lengths, ranks] = modest_batch(GetParam());
    auto const model = model_of(GetParam());
    auto const even = balance(lengths, ranks, model);
    EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
    EXPECT_EQ(even.quality.max_load, test::least_busiest(lengths, ranks, model));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST_P(balance_mixed_law, the_optimum_lies_between_bound_and_result_whatever_the_effort) {
    auto const [lengths, ranks] = modest_batch(GetParam());
    auto const model = model_of(GetParam());
    auto const optimum = test::least_busiest(lengths, ranks, model);
    for (auto const effort : {0U, 1U, 2U}) {
        auto const even = balance(lengths, ranks, model, {.effort = effort});
        EXPECT_LE(even.quality.lower_bound, optimum);
        EXPECT_GE(even.quality.max_load, optimum);
    }
}

TEST_P(balance_mixed_law, quality_is_that_of_the_plan) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 40, 1 + GetParam() % 23);
    auto const model = model_of(GetParam());
    for (auto const effort : {0U, 8U, 128U}) {
        auto const even = balance(lengths, ranks, model, {.effort = effort});
        auto const loads = test::loads_of(even.plan, lengths, model);
        EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
        EXPECT_EQ(even.quality.max_load, std::ranges::max(loads));
        EXPECT_EQ(even.quality.total_load, std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}));
        EXPECT_GE(even.quality.max_load, even.quality.lower_bound);
    }
}

TEST_P(balance_mixed_law, without_a_packed_part_is_the_optimum_of_padding) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 40, 1 + GetParam() % 23);
    auto const optimum = balance(lengths, ranks, padded_cost{}).quality.max_load;
    auto const even = balance(lengths, ranks, conv_attention_cost{.linear = 0}).quality;
    EXPECT_LE(even.lower_bound, optimum);
    EXPECT_GE(even.max_load, optimum);
    EXPECT_LE(even.max_load, optimum + optimum / 1024);
}

INSTANTIATE_TEST_SUITE_P(seeds, balance_mixed_law, testing::Range(std::uint64_t{0}, std::uint64_t{240}));

}  // namespace
}  // namespace evenkeel::balance_mixed_test
