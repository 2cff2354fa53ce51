// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <list>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/istream.hpp>
#include <range/v3/view/transform.hpp>

#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/lower_bound.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/oracle.hpp"

namespace evenkeel::balance_test {
namespace {

/// The items of every rank, for comparison with a literal.
std::vector<std::vector<std::uint32_t>> lists(plan const& plan) {
    std::vector<std::vector<std::uint32_t>> result(plan.ranks().value);
    for (std::size_t rank = 0; rank < result.size(); ++rank) {
        for (auto const item : plan[to_id<rank_id>(rank)]) {
            result[rank].push_back(static_cast<std::uint32_t>(item));
        }
    }
    return result;
}

using lists_of = std::vector<std::vector<std::uint32_t>>;

TEST(balance, gives_the_long_sample_a_short_partner) {
    auto const lengths = std::vector{900, 100, 500, 400};
    auto const even = balance(lengths, rank_count{2}, linear_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 1}, {2, 3}}));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, leaves_ranks_idle_when_there_are_more_ranks_than_samples) {
    auto const even = balance(std::vector{5, 3}, rank_count{3}, linear_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0}, {1}, {}}));
    EXPECT_EQ(even.quality, (quality{.max_load = 5, .total_load = 8, .lower_bound = 5, .ranks = {3}}));
}

TEST(balance, places_every_sample_whatever_the_divisibility) {
    auto const even = balance(std::vector{4, 4, 4, 4, 4}, rank_count{4}, linear_cost{});

    EXPECT_NO_THROW(require_partition("test", even.plan, 5));
    EXPECT_EQ(even.quality.max_load, 8u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, accepts_ranks_that_drew_nothing) {
    // Rank 0 drew no token at all, rank 1 six.
    auto const even = balance(std::vector{0, 0, 6}, rank_count{2}, linear_cost{});

    EXPECT_NO_THROW(require_partition("test", even.plan, 3));
    EXPECT_EQ(even.quality.max_load, 6u);
}

TEST(balance, does_not_wrap_around_on_32_bit_lengths_with_a_quadratic_cost) {
    auto const lengths = std::vector<std::int32_t>{50'000, 46'341};
    auto const even = balance(lengths, rank_count{2}, attention_cost{.linear = 0, .quadratic = 1});

    EXPECT_EQ(even.quality.max_load, 2'500'000'000u);
    EXPECT_EQ(even.quality.total_load, 4'647'488'281u);
}

TEST(balance, keeps_samples_without_length_where_they_were_drawn) {
    // Four ranks drew two samples each; nobody has this modality.
    auto const even = balance(std::vector<int>(8), rank_count{4}, linear_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(even.quality, (quality{.max_load = 0, .total_load = 0, .lower_bound = 0, .ranks = {4}}));
    EXPECT_EQ(even.quality.gap(), 0);

    // Beside samples with a length as well: samples 0, 3 and 7 stay with ranks 0, 1 and 3.
    auto const mixed = balance(std::vector{0, 9, 8, 0, 7, 6, 5, 0}, rank_count{4}, linear_cost{});
    EXPECT_EQ(mixed.plan[rank_id{0}].front(), item_id{0});
    EXPECT_THAT(mixed.plan[rank_id{1}], testing::Contains(item_id{3}));
    EXPECT_THAT(mixed.plan[rank_id{3}], testing::Contains(item_id{7}));
}

TEST(balance, of_nothing_is_empty_batches) {
    auto const even = balance(std::vector<int>{}, rank_count{3}, linear_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{}, {}, {}}));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, of_one_rank_is_the_batch_itself) {
    auto const even = balance(std::vector{3, 1, 2}, rank_count{1}, linear_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 1, 2}}));
    EXPECT_EQ(even.quality.max_load, 6u);
}

TEST(balance, of_equal_samples_gives_equal_counts) {
    auto const even = balance(std::vector<int>(12, 577), rank_count{4}, linear_cost{});

    for (auto const& list : lists(even.plan)) {
        EXPECT_EQ(list.size(), 3u);
    }
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, breaks_ties_by_position) {
    // Equal samples go round the ranks in the order of the batch.
    auto const even = balance(std::vector<int>(6, 4), rank_count{3}, linear_cost{});

    EXPECT_EQ(lists(even.plan), (lists_of{{0, 3}, {1, 4}, {2, 5}}));
}

TEST(balance, reaches_the_bound_of_tiles) {
    // 256 tokens a tile: the mean, 256 * 9 / 2, is no multiple of 256.
    auto const even = balance(std::vector{512, 256, 1024, 512}, rank_count{2}, linear_cost{});

    EXPECT_EQ(even.quality.lower_bound, 1280u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, reaches_the_bound_of_many_tiles) {
    // Too many to try every plan: 301 tiles of 576 tokens on 8 ranks are 38 tiles on some rank.
    auto lengths = std::vector<int>(100, 576);
    lengths.insert(lengths.end(), 67, 3 * 576);
    auto const even = balance(lengths, rank_count{8}, linear_cost{});

    EXPECT_EQ(even.quality.lower_bound, 38u * 576u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, works_at_the_end_of_the_number_range) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    auto const lengths = std::vector{most / 4, most / 4, most / 4, most / 4, std::uint64_t{1}};
    auto const even = balance(lengths, rank_count{4}, linear_cost{});

    EXPECT_EQ(even.quality.max_load, most / 4 + 1);
    EXPECT_EQ(even.quality.total_load, most / 4 * 4 + 1);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, counts_fractions_of_a_unit_when_asked) {
    auto const seconds = std::vector{2.54, 1.27, 1.26};
    auto const coarse = balance(seconds, rank_count{2}, linear_cost{});
    auto const fine = balance(seconds, rank_count{2}, linear_cost{}, {.resolution = 100});

    EXPECT_EQ(coarse.quality.total_load, 5u);
    EXPECT_EQ(fine.quality, (quality{.max_load = 254, .total_load = 507, .lower_bound = 254, .ranks = {2}}));
}

TEST(balance, stops_where_it_is_good_enough) {
    // Longest first makes 10 of 5 4 3 3 3; the optimum is 9.
    auto const lengths = std::vector{5, 4, 3, 3, 3};
    EXPECT_EQ(balance(lengths, rank_count{2}, linear_cost{}).quality.max_load, 9u);
    EXPECT_EQ(balance(lengths, rank_count{2}, linear_cost{}, {.tolerance = 0.11}).quality.max_load, 9u);
    EXPECT_EQ(balance(lengths, rank_count{2}, linear_cost{}, {.tolerance = 0.12}).quality.max_load, 10u);
    EXPECT_EQ(balance(lengths, rank_count{2}, linear_cost{}, {.tolerance = HUGE_VAL}).quality.max_load, 10u);
    EXPECT_EQ(balance(std::vector{0}, rank_count{2}, linear_cost{}, {.tolerance = HUGE_VAL}).quality.max_load, 0u);
}

TEST(balance, meets_the_bound_with_many_samples_per_rank) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 64, 40);
        EXPECT_EQ(balance(lengths, ranks, linear_cost{}).quality.gap(), 0) << "seed " << seed;
    }
}

TEST(balance, comes_within_a_thousandth_of_the_bound_with_few_samples_per_rank) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        auto const [lengths, ranks] = test::sparse_batch(seed, 64, 4);
        EXPECT_LE(balance(lengths, ranks, linear_cost{}, {.effort = 1000}).quality.gap(), 1e-3) << "seed " << seed;
    }
}

TEST(balance, does_not_go_on_once_the_search_of_every_plan_has_met_the_bound) {
    // Longest first makes 667, the search of every plan stops at 662, the mean; nothing may be repaired after that.
    auto const lengths = std::vector<std::uint64_t>{104, 206, 174, 194, 15, 205, 172, 111, 10, 132};
    auto const even = balance(lengths, rank_count{2}, linear_cost{});

    EXPECT_EQ(even.quality.max_load, 662u);
    EXPECT_EQ(test::busiest_load(even.plan, lengths), 662u);
}

TEST(balance, comes_within_a_thousandth_of_the_bound_of_tiles_with_a_quadratic_cost) {
    // Five sizes only, and as many costs: a fine difference takes several tiles against several.
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        auto const [lengths, ranks] = test::tiled_batch(seed, 16, 40);
        auto const model = attention_cost{.linear = 24'576, .quadratic = 1};
        EXPECT_LE(balance(lengths, ranks, model).quality.gap(), 1e-3) << "seed " << seed;
    }
}

TEST(balance, proves_which_sums_tiles_with_a_quadratic_cost_can_make) {
    std::size_t raised = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        auto const [lengths, ranks] = test::tiled_batch(seed, 256, 16);
        auto const model = attention_cost{.linear = 24'576, .quadratic = 1};
        std::vector<std::uint64_t> costs;
        for (auto const length : lengths) {
            costs.push_back(model.weight(length));
        }
        auto const even = balance(lengths, ranks, model);
        EXPECT_EQ(even.quality.gap(), 0) << "seed " << seed;
        EXPECT_EQ(even.quality.max_load, test::busiest_load(even.plan, costs));
        raised += even.quality.lower_bound > lower_bound(costs, ranks) ? 1U : 0U;
    }
    EXPECT_GE(raised, 3u);
}

TEST(balance, proves_which_sums_a_few_tiles_on_a_node_can_make) {
    std::size_t exact = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        auto const [lengths, ranks] = test::tiled_batch(seed, 8, 8);
        auto const model = attention_cost{.linear = 24'576, .quadratic = 1};
        auto const gap = balance(lengths, ranks, model).quality.gap();
        EXPECT_LE(gap, 3e-3) << "seed " << seed;
        exact += gap == 0 ? 1U : 0U;
    }
    EXPECT_GE(exact, 4u);
}

TEST(balance, shares_out_which_ranks_have_one_more_of_a_few_heavy_images) {
    // Four ranks have six heavy images; with three of the lighter ones each, no more than that is possible.
    std::vector<std::uint64_t> lengths(2560, 1000);
    std::fill_n(lengths.begin(), 324, 16'264);
    std::fill_n(lengths.begin(), 12, 16'200);
    auto const even = balance(lengths, rank_count{64}, attention_cost{.linear = 0, .quadratic = 1});
    EXPECT_EQ(even.quality.max_load, 3u * (16'264u * 16'264u + 16'200u * 16'200u));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(balance, evens_out_squares_of_lengths_where_a_token_is_too_coarse_a_step) {
    // Longest first makes all ranks alike in their squares, so that all loads are as far from the mean in their last
    // token; ranks with one token more have to be of more equal lengths.
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> lengths(64 * 40);
        for (auto& length : lengths) {
            length = (random.between(40, 180) + random.between(40, 180)) / 2;
        }
        auto const even = balance(lengths, rank_count{64}, attention_cost{.linear = 24'576, .quadratic = 1});
        EXPECT_LE(even.quality.gap(), 1e-4) << "seed " << seed;
    }
}

TEST(balance, tells_documents_of_equal_length_but_different_cost_apart) {
    // 1024 tokens in one document or in two: the same number, but attention looks at each document alone.
    auto const model = attention_cost{.linear = 1, .quadratic = 1};
    auto const even = balance(std::vector{1024, 512, 512}, rank_count{2}, model);

    EXPECT_EQ(lists(even.plan), (lists_of{{0}, {1, 2}}));
    EXPECT_EQ(even.quality.max_load, 1024u + 1024u * 1024u);
    EXPECT_EQ(even.quality.total_load - even.quality.max_load, 2 * (512u + 512u * 512u));
}

TEST(balance, gives_the_same_plan_on_every_compiler_and_machine) {
    // These numbers change when the algorithm does, and only then.
    auto const [dense, ranks] = test::mixed_batch(1, 64, 40);
    auto const sparse = test::sparse_batch(1, 64, 4);
    auto const attention = attention_cost{.linear = 4096, .quadratic = 1};
    EXPECT_EQ(fingerprint{}.add(balance(dense, ranks, linear_cost{}).plan).value(), 6528063667639944366u);
    EXPECT_EQ(fingerprint{}.add(balance(dense, ranks, attention).plan).value(), 17502931213881459852u);
    EXPECT_EQ(fingerprint{}.add(balance(sparse.lengths, sparse.ranks, linear_cost{}).plan).value(),
              5279500291714092441u);
}

TEST(balance, refuses_values_that_make_no_sense) {
    using testing::ThrowsMessage;
    auto const one = std::vector{1};
    auto const one_rank = rank_count{1};
    EXPECT_THAT([&] { (void)balance(one, rank_count{0}, linear_cost{}); },
                ThrowsMessage<std::invalid_argument>("balance: ranks = 0, expected at least 1"));
    EXPECT_THAT(
        [&] {
            (void)balance(std::vector{4, -2}, one_rank, linear_cost{});
        },
        ThrowsMessage<std::invalid_argument>("balance: samples[1] = -2, expected a length of at least 0"));
    EXPECT_THROW((void)balance(std::vector{std::nan("")}, one_rank, linear_cost{}), std::invalid_argument);
    EXPECT_THROW((void)balance(one, one_rank, linear_cost{}, {.tolerance = -0.1}), std::invalid_argument);
    EXPECT_THROW((void)balance(one, one_rank, linear_cost{}, {.tolerance = std::nan("")}), std::invalid_argument);
    EXPECT_THROW((void)balance(one, one_rank, linear_cost{}, {.resolution = 0}), std::invalid_argument);
}

TEST(balance, reports_loads_beyond_64_bits) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_THAT(
        [] {
            (void)balance(std::vector{most, most}, rank_count{2}, linear_cost{});
        },
        testing::ThrowsMessage<std::overflow_error>("balance: the total load exceeds 64 bits"));
    EXPECT_THROW((void)balance(std::vector{most}, rank_count{2}, linear_cost{2}), std::overflow_error);
}

// The same weights give the same plan, whatever they come in.

struct example {
    std::string text;
    int tokens;
    [[nodiscard]] double seconds() const { return tokens; }
};

TEST(balance, reads_lengths_from_whatever_a_trainer_has) {
    auto const ints = std::vector{9, 1, 5, 4, 4, 0, 7};
    auto const expected = balance(ints, rank_count{3}, linear_cost{});

    auto const shorts = std::vector<std::uint16_t>(ints.begin(), ints.end());
    auto const doubles = std::vector<double>(ints.begin(), ints.end());
    auto const floats = std::list<float>(ints.begin(), ints.end());
    std::vector<example> examples;
    for (auto const tokens : ints) {
        examples.push_back({.text = std::to_string(tokens), .tokens = tokens});
    }
    EXPECT_EQ(balance(std::span<std::uint16_t const>{shorts}, rank_count{3}, linear_cost{}), expected);
    EXPECT_EQ(balance(doubles, rank_count{3}, linear_cost{}), expected);
    EXPECT_EQ(balance(floats, rank_count{3}, linear_cost{}), expected);
    EXPECT_EQ(balance(examples, rank_count{3}, linear_cost{}, {}, &example::tokens), expected);
    EXPECT_EQ(balance(examples, rank_count{3}, linear_cost{}, {}, &example::seconds), expected);
    EXPECT_EQ(balance(examples, rank_count{3}, linear_cost{}, {}, [](auto const& e) { return e.tokens; }), expected);
    EXPECT_EQ(balance(examples | ranges::views::transform(&example::tokens), rank_count{3}, linear_cost{}), expected);
    EXPECT_EQ(balance(ints | ranges::views::filter([](int) { return true; }), rank_count{3}, linear_cost{}), expected);
}

TEST(balance, searches_on_where_patterns_of_few_items_end_far_from_the_goal) {
    // Sixty items, three of which fill a rank: with fractions rounded to whole ranks, patterns may be 4 % off.
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> lengths;
        for (int rank = 0; rank < 20; ++rank) {
            auto const first = random.between(26, 46);
            auto const second = random.between(26, 74 - first);
            lengths.insert(lengths.end(), {first, second, 100 - first - second});
        }
        auto const even = balance(lengths, rank_count{20}, attention_cost{.linear = 100, .quadratic = 1});
        EXPECT_LE(even.quality.gap(), 0.025) << seed;
    }
}

TEST(balance, reads_a_range_once) {
    std::istringstream text{"9 1 5 4 4 0 7"};
    auto const streamed = balance(ranges::istream_view<int>(text), rank_count{3}, linear_cost{});

    EXPECT_EQ(streamed, balance(std::vector{9, 1, 5, 4, 4, 0, 7}, rank_count{3}, linear_cost{}));
}

// What does not fit stops at the constraint.

struct not_a_model {};

template <class Samples, class Model = linear_cost, class Length = std::identity>
concept balances = requires(Samples samples, Model model, Length length) {
    balance(samples, rank_count{1}, model, balance_options{}, length);
};
static_assert(balances<std::vector<int>>);
static_assert(balances<std::span<std::uint16_t const>>);
static_assert(balances<std::vector<example>, linear_cost, int example::*>);
static_assert(!balances<std::vector<int>, not_a_model>, "a wrong model is a constraint failure, not a template trace");
static_assert(!balances<std::vector<example>>, "a struct needs a projection");
static_assert(!balances<std::vector<example>, linear_cost, std::string example::*>, "a text is not a length");
static_assert(!balances<std::vector<bool>>, "a flag is not a length");
static_assert(!balances<int>);

// Laws, over many small batches; the seed is the test's parameter, so a failure names it.

class balance_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(balance_law, every_sample_lands_on_exactly_one_rank) {
    auto const [lengths, ranks] = test::small_batch(GetParam());
    auto const even = balance(lengths, ranks, linear_cost{});
    EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
    EXPECT_EQ(even.plan.ranks(), ranks);
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        EXPECT_TRUE(std::ranges::is_sorted(even.plan[to_id<rank_id>(rank)]));
    }
}

TEST_P(balance_law, quality_is_that_of_the_plan) {
    auto const [lengths, ranks] = test::small_batch(GetParam());
    auto const even = balance(lengths, ranks, linear_cost{});
    EXPECT_EQ(even.quality.max_load, test::busiest_load(even.plan, lengths));
    EXPECT_EQ(even.quality.total_load, std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    EXPECT_EQ(even.quality.ranks, ranks);
}

TEST_P(balance_law, finds_and_proves_the_optimum_of_a_small_batch) {
    auto const [lengths, ranks] = test::small_batch(GetParam());
    auto const even = balance(lengths, ranks, linear_cost{});
    EXPECT_EQ(even.quality.max_load, test::optimum(lengths, ranks));
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST_P(balance_law, the_optimum_lies_between_bound_and_result_whatever_the_effort) {
    auto const [lengths, ranks] = test::small_batch(GetParam());
    auto const optimum = test::optimum(lengths, ranks);
    for (auto const effort : {0u, 1u, 128u}) {
        auto const even = balance(lengths, ranks, linear_cost{}, {.effort = effort});
        EXPECT_LE(even.quality.lower_bound, optimum);
        EXPECT_GE(even.quality.max_load, optimum);
        EXPECT_EQ(even.quality.max_load, test::busiest_load(even.plan, lengths));
    }
}

TEST_P(balance_law, is_never_worse_than_longest_first) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 17, 1 + GetParam() % 12);
    for (auto const effort : {0u, 1u, 100u, 10'000u}) {
        auto const even = balance(lengths, ranks, linear_cost{}, {.effort = effort});
        EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
        EXPECT_EQ(even.quality.max_load, test::busiest_load(even.plan, lengths));
        EXPECT_LE(even.quality.max_load, test::longest_first_load(lengths, ranks));
        EXPECT_GE(even.quality.max_load, even.quality.lower_bound);
    }
}

TEST_P(balance_law, is_never_worse_than_largest_differencing_on_one_node) {
    // Costs that are all different: where no two differences are equal, there is one largest differencing.
    test::seeded random{GetParam()};
    std::vector<std::uint64_t> costs(random.between(1, 40));
    for (auto& cost : costs) {
        cost = random.between(std::uint64_t{1} << 20, std::uint64_t{1} << (30 + GetParam() % 20));
    }
    rank_count const ranks{random.between(1, 16)};
    auto const even = balance(costs, ranks, linear_cost{});
    EXPECT_LE(even.quality.max_load, test::largest_differencing_load(costs, ranks));
    EXPECT_EQ(even.quality.max_load, test::busiest_load(even.plan, costs));
}

TEST_P(balance_law, holds_for_quadratic_costs) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 29, 1 + GetParam() % 23);
    auto const model = attention_cost{.linear = 100, .quadratic = 1, .fixed = 7};
    std::vector<std::uint64_t> weights;
    for (auto const length : lengths) {
        weights.push_back(model.weight(length));
    }
    auto const even = balance(lengths, ranks, model);
    EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
    EXPECT_EQ(even.quality.max_load, test::busiest_load(even.plan, weights));
    EXPECT_LE(even.quality.max_load, test::longest_first_load(weights, ranks));
    EXPECT_GE(even.quality.max_load, lower_bound(weights, ranks));
}

TEST(balance, exchanges_go_on_where_patterns_of_few_items_end_far_above_the_bound) {
    double gaps = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> lengths(53 + seed);
        for (auto& length : lengths) {
            length = random.between(1, 1'000'000'000);
        }
        gaps += balance(lengths, rank_count{25}, linear_cost{}).quality.gap();
    }
    EXPECT_LE(gaps / 20, 8e-3);
}

TEST_P(balance_law, lengths_in_another_order_give_the_same_loads) {
    auto const [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 17, 1 + GetParam() % 12);
    auto const backwards = std::vector(lengths.rbegin(), lengths.rend());
    EXPECT_EQ(balance(backwards, ranks, linear_cost{}).quality, balance(lengths, ranks, linear_cost{}).quality);
}

TEST_P(balance_law, the_unit_of_length_does_not_matter) {
    auto [lengths, ranks] = test::mixed_batch(GetParam(), 1 + GetParam() % 17, 1 + GetParam() % 12);
    auto const expected = balance(lengths, ranks, linear_cost{}).plan;
    EXPECT_EQ(balance(lengths, ranks, linear_cost{576}).plan, expected);
    EXPECT_EQ(balance(lengths, ranks, linear_cost{}, {.resolution = 1000}).plan, expected);
}

INSTANTIATE_TEST_SUITE_P(seeds, balance_law, testing::Range(std::uint64_t{0}, std::uint64_t{300}));

}  // namespace
}  // namespace evenkeel::balance_test
