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
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/solve/balance_padded.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/padded_oracle.hpp"

namespace evenkeel::balance_padded_test {
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

TEST(balance_padded, leaves_a_long_sample_alone) {
    auto const lengths = std::vector{900, 100, 500, 400};
    auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::padded_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0}, {2, 3, 1}}));
    EXPECT_EQ(even.quality, (quality{.max_load = 1500, .total_load = 2400, .lower_bound = 1500, .ranks = {2}}));
}

TEST(balance_padded, counts_samples_not_tokens) {
    // By tokens 8 would go with 1 1 1; padded, three short samples are better off together.
    auto const even = balance(std::vector{1, 8, 1, 1, 8}, rank_count{2}, padded_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{1, 4}, {0, 2, 3}}));
    EXPECT_EQ(even.quality.max_load, 16u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance_padded, weighs_the_square_and_the_fixed_part_of_the_longest) {
    padded_cost const model{.linear = 0, .quadratic = 1, .fixed = 10};
    auto const even = balance(std::vector{3, 3, 1, 1, 1, 1}, rank_count{2}, model);

    // 2 * (9 + 10) and 4 * (1 + 10).
    EXPECT_EQ(lists(even.plan), (lists_of{{0, 1}, {2, 3, 4, 5}}));
    EXPECT_EQ(even.quality, (quality{.max_load = 44, .total_load = 82, .lower_bound = 44, .ranks = {2}}));
}

TEST(balance_padded, leaves_ranks_idle_when_there_are_more_ranks_than_samples) {
    auto const even = balance(std::vector{5, 3}, rank_count{3}, padded_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0}, {1}, {}}));
    EXPECT_EQ(even.quality, (quality{.max_load = 5, .total_load = 8, .lower_bound = 5, .ranks = {3}}));
}

TEST(balance_padded, neither_pads_nor_counts_samples_without_length_and_keeps_them_where_they_were_drawn) {
    auto const even = balance(std::vector{0, 9, 8, 0, 7, 6, 5, 0}, rank_count{4}, padded_cost{.fixed = 100});

    EXPECT_THAT(even.plan[rank_id{0}], testing::Contains(item_id{0}));
    EXPECT_THAT(even.plan[rank_id{1}], testing::Contains(item_id{3}));
    EXPECT_THAT(even.plan[rank_id{3}], testing::Contains(item_id{7}));
    EXPECT_EQ(even.quality.max_load, 2 * 106u);

    auto const absent = balance(std::vector<int>(8), rank_count{4}, padded_cost{.fixed = 100});
    EXPECT_EQ(lists(absent.plan), (lists_of{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(absent.quality, (quality{.ranks = {4}}));
}

TEST(balance_padded, of_nothing_is_empty_batches) {
    auto const even = balance(std::vector<int>{}, rank_count{3}, padded_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{}, {}, {}}));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance_padded, of_one_rank_pads_everything_to_the_longest) {
    auto const even = balance(std::vector{3, 1, 2}, rank_count{1}, padded_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 2, 1}}));
    EXPECT_EQ(even.quality.max_load, 9u);
}

TEST(balance_padded, runs_the_longest_first_and_absent_samples_last) {
    auto const even = balance(std::vector{0, 1, 3, 2, 0}, rank_count{1}, padded_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{2, 3, 1, 0, 4}}));
}

TEST(balance_padded, breaks_ties_by_position) {
    auto const even = balance(std::vector<int>(6, 4), rank_count{3}, padded_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 1}, {2, 3}, {4, 5}}));
}

TEST(balance_padded, stops_where_it_is_good_enough) {
    auto const [lengths, ranks] = test::mixed_batch(3, 32, 20);
    auto const best = balance(lengths, ranks, padded_cost{});
    EXPECT_EQ(best.quality.gap(), 0);
    auto const near = balance(lengths, ranks, padded_cost{}, {.tolerance = 0.01});
    EXPECT_LE(near.quality.gap(), 0.01);
    EXPECT_LE(near.quality.lower_bound, best.quality.max_load);
    auto const hasty = balance(lengths, ranks, padded_cost{}, {.effort = 0});
    EXPECT_GE(hasty.quality.max_load, best.quality.max_load);
    EXPECT_LE(hasty.quality.lower_bound, best.quality.max_load);
    EXPECT_GT(balance(lengths, ranks, padded_cost{}, {.tolerance = HUGE_VAL}).quality.gap(), 0);
}

TEST(balance_padded, gives_the_same_plan_on_every_compiler_and_machine) {
    // This number changes when the algorithm does, and only then.
    auto const [lengths, ranks] = test::mixed_batch(1, 64, 40);
    EXPECT_EQ(fingerprint{}.add(balance(lengths, ranks, padded_cost{}).plan).value(), 12094080837699002059u);
}

TEST(balance_padded, reads_lengths_through_a_projection) {
    struct example {
        std::string text;
        double seconds;
    };
    auto const batch = std::vector<example>{{"a", 0.9}, {"b", 0.1}, {"c", 0.5}, {"d", 0.4}};

    EXPECT_EQ(balance(batch, rank_count{2}, padded_cost{}, {.resolution = 1000}, &example::seconds),
              balance(std::vector{900, 100, 500, 400}, rank_count{2}, padded_cost{}));
}

TEST(balance_padded, works_at_the_end_of_the_number_range) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    auto const even = balance(std::vector{most / 4, most / 4, std::uint64_t{1}}, rank_count{2}, padded_cost{});

    EXPECT_EQ(even.quality.max_load, most / 4 * 2);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance_padded, reports_loads_beyond_64_bits) {
    using testing::ThrowsMessage;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    // The sums fit, what is padded does not.
    EXPECT_THAT(
        [] {
            (void)balance(std::vector<std::uint64_t>{most / 2 + 1, 1}, rank_count{1}, padded_cost{});
        },
        ThrowsMessage<std::overflow_error>("balance: the padded load of a rank exceeds 64 bits"));
    EXPECT_THAT(
        [] {
            (void)balance(std::vector<std::uint64_t>{most / 5 * 2, 1, most / 5 * 2, 1}, rank_count{2}, padded_cost{});
        },
        testing::Not(testing::Throws<std::overflow_error>()));
    EXPECT_THROW((void)balance(std::vector{most, most}, rank_count{2}, padded_cost{}), std::overflow_error);
    EXPECT_THROW((void)balance(std::vector{most}, rank_count{2}, padded_cost{2}), std::overflow_error);
}

TEST(balance_padded, refuses_values_that_make_no_sense) {
    using testing::ThrowsMessage;
    EXPECT_THAT([] { (void)balance(std::vector{1}, rank_count{0}, padded_cost{}); },
                ThrowsMessage<std::invalid_argument>("balance: ranks = 0, expected at least 1"));
    EXPECT_THAT(
        [] {
            (void)balance(std::vector{4, -2}, rank_count{1}, padded_cost{});
        },
        ThrowsMessage<std::invalid_argument>("balance: samples[1] = -2, expected a length of at least 0"));
    EXPECT_THROW((void)balance(std::vector{1}, rank_count{1}, padded_cost{}, {.tolerance = -0.1}),
                 std::invalid_argument);
    EXPECT_THAT([] { (void)balance(std::vector{1}, rank_count{1}, padded_cost{}, {.wishes = {.equal_counts = true}}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "balance: options.wishes.equal_counts = given, expected no wishes together with a padded_model"));
}

template <class Samples>
concept pads = requires(Samples samples) {
    balance(samples, rank_count{1}, padded_cost{});
};
static_assert(pads<std::vector<int>>);
static_assert(!pads<std::vector<bool>>, "a flag is not a length");

// Laws, over many small batches; the seed is the test's parameter, so a failure names it.

class balance_padded_law : public testing::TestWithParam<std::uint64_t> {};

/// Lengths whose padded loads fit, whatever the plan, for a quadratic model too.
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

padded_cost model_of(std::uint64_t seed) {
    constexpr padded_cost models[] = {{}, {.linear = 3, .quadratic = 1}, {.linear = 0, .quadratic = 2, .fixed = 40}};
    return models[seed % 3];
}

TEST_P(balance_padded_law, always_finds_and_proves_the_optimum) {
    auto const [lengths, ranks] = modest_batch(GetParam());
    auto const model = model_of(GetParam() / 2);
    auto const even = balance(lengths, ranks, model);
    auto const loads = test::loads_of(even.plan, lengths, model);
    EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
    EXPECT_EQ(even.quality.max_load, *std::ranges::max_element(loads));
    EXPECT_EQ(even.quality.total_load, std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}));
    EXPECT_EQ(even.quality.max_load, test::least_busiest(lengths, ranks, model));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST_P(balance_padded_law, the_optimum_lies_between_bound_and_result_whatever_the_effort) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 40, 1 + GetParam() % 23);
    auto const model = model_of(GetParam());
    auto const best = balance(lengths, ranks, model).quality;
    EXPECT_EQ(best.gap(), 0);
    for (balance_options const& options : {balance_options{.effort = 0}, balance_options{.tolerance = 1e-3}}) {
        auto const even = balance(lengths, ranks, model, options);
        EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
        EXPECT_LE(even.quality.lower_bound, best.max_load);
        EXPECT_GE(even.quality.max_load, best.max_load);
        EXPECT_EQ(even.quality.max_load, std::ranges::max(test::loads_of(even.plan, lengths, model)));
    }
}

TEST_P(balance_padded_law, agrees_with_a_plain_search_in_rising_order) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 40, 1 + GetParam() % 23);
    auto rising = lengths;
    std::ranges::sort(rising);
    auto const ranks_needed = [&](std::uint64_t bound) {
        std::size_t needed = 0;
        std::uint64_t count = 0;
        for (auto const length : rising) {
            count = count > 0 && (count + 1) * length <= bound ? count + 1 : length > 0 ? 1 : 0;
            needed += count == 1 ? 1 : 0;
        }
        return needed;
    };
    std::uint64_t low = rising.back();
    std::uint64_t high = rising.back() * rising.size();
    while (low < high) {
        std::uint64_t const middle = low + (high - low) / 2;
        if (ranks_needed(middle) <= ranks.value) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    EXPECT_EQ(balance(lengths, ranks, padded_cost{}).quality.max_load, low);
}

TEST_P(balance_padded_law, the_unit_of_length_does_not_matter) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 17, 1 + GetParam() % 12);
    auto const expected = balance(lengths, ranks, padded_cost{}).plan;
    EXPECT_EQ(balance(lengths, ranks, padded_cost{576}).plan, expected);
}

INSTANTIATE_TEST_SUITE_P(seeds, balance_padded_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

}  // namespace
}  // namespace evenkeel::balance_padded_test
