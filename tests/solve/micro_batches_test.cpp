// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/rounded.hpp>
#include <evenkeel/solve/detail/bins_bound.hpp>
#include <evenkeel/solve/micro_batches.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::micro_batches_test {
namespace {

using numbers = std::vector<std::uint64_t>;

/// At `[micro-batch][rank]`, what `values` add up to.
std::vector<numbers> sums(plan const& plan, numbers const& values) {
    std::vector<numbers> result(plan.micro_batches, numbers(plan.ranks().value));
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (std::size_t slot = 0; slot < plan.micro_batches; ++slot) {
            for (auto const item : plan.batch(to_id<rank_id>(rank), to_id<micro_batch_id>(slot))) {
                result[slot][rank] += values[to_index(item)];
            }
        }
    }
    return result;
}

std::uint64_t largest(std::vector<numbers> const& of) {
    std::uint64_t result = 0;
    for (auto const& ranks : of) {
        result = std::max(result, std::ranges::max(ranks));
    }
    return result;
}

std::uint64_t sum_of_slowest(std::vector<numbers> const& of) {
    std::uint64_t result = 0;
    for (auto const& ranks : of) {
        result += std::ranges::max(ranks);
    }
    return result;
}

TEST(micro_batches, put_long_samples_together_as_ranks_wait_for_each_other) {
    auto const lengths = numbers{9, 1, 9, 1};
    auto const step = micro_batches(lengths, rank_count{2}, linear_cost{}, {.count = 2});

    EXPECT_EQ(sums(step.plan, lengths), (std::vector<numbers>{{9, 9}, {1, 1}}));
    EXPECT_EQ(step.quality.sum_of_slowest, 10u);
    EXPECT_EQ(step.quality.lower_bound, 10u);
    EXPECT_EQ(step.plan.batch(rank_id{1}, micro_batch_id{0}).front(), item_id{2});
    EXPECT_EQ(layout_of(step.plan)[item_id{3}].micro_batch, micro_batch_id{1});
}

TEST(micro_batches, never_exceed_the_cap_whatever_their_number_becomes) {
    // Eight samples of 7 tokens and a cap of 8: no two of them together.
    auto const lengths = numbers(8, 7);
    EXPECT_EQ(count_micro_batches(lengths, rank_count{1}, linear_cost{}, {.cap = 8}),
              (micro_batch_number{.count = 8, .lower_bound = 8}));
    auto const step = micro_batches(lengths, rank_count{2}, linear_cost{}, {.cap = 8});
    EXPECT_EQ(sums(step.plan, lengths), (std::vector<numbers>(4, {7, 7})));
    EXPECT_EQ(step.quality.gap(), 0);
}

TEST(micro_batches, name_the_sample_that_is_longer_than_the_cap) {
    try {
        (void)micro_batches(numbers{3, 9, 12}, rank_count{2}, linear_cost{}, {.cap = 8});
        ADD_FAILURE() << "nothing was thrown";
    } catch (infeasible const& error) {
        EXPECT_STREQ(error.what(), "micro_batches: options.cap cannot be met by item 1, 1 is missing");
    }
}

TEST(micro_batches, spread_over_as_many_as_are_asked_for_and_leave_some_empty) {
    auto const step = micro_batches(numbers{1, 1}, rank_count{1}, linear_cost{}, {.cap = 10, .count = 3});

    EXPECT_EQ(step.plan.micro_batches, 3u);
    EXPECT_EQ(sums(step.plan, {1, 1}), (std::vector<numbers>{{1}, {1}, {0}}));
    EXPECT_NO_THROW(require_partition("test", step.plan, 2));
    EXPECT_EQ(layout_of(step.plan).size(), 2u);
}

TEST(micro_batches, are_left_empty_where_more_than_are_needed_would_be_slower) {
    // In two, one has two of the long samples or both have one: 8. In one, the short ones share a rank: 6.
    auto const lengths = numbers{3, 5, 5, 3};
    auto const one = micro_batches(lengths, rank_count{3}, linear_cost{}, {.count = 1});
    EXPECT_EQ(one.quality.sum_of_slowest, 6u);
    auto const two = micro_batches(lengths, rank_count{3}, linear_cost{}, {.count = 2});
    EXPECT_EQ(two.plan.micro_batches, 2u);
    EXPECT_EQ(two.quality.sum_of_slowest, 6u);
    EXPECT_EQ(sum_of_slowest(sums(two.plan, lengths)), 6u);
    // However their number comes about.
    EXPECT_EQ(micro_batches(lengths, rank_count{3}, linear_cost{}, {.at_least = 2}).plan, two.plan);
    EXPECT_EQ(micro_batches(lengths, rank_count{3}, linear_cost{}, {.multiple_of = 2}).plan, two.plan);
    EXPECT_EQ(micro_batches(lengths, rank_count{3}, linear_cost{}, {.count = 2, .multiple_of = 2}).plan, two.plan);
}

TEST(micro_batches, count_the_lengths_that_the_caller_passes_real_or_padded) {
    // Twenty samples of 10 tokens in masks 32768 wide.
    struct sample {
        int real;
        int padded;
    };
    std::vector const samples(20, sample{10, 32768});
    auto const count = [&](auto length) {
        return count_micro_batches(samples, rank_count{1}, linear_cost{}, {.cap = 100}, length).count;
    };
    EXPECT_EQ(count(&sample::real), 2u);
    EXPECT_THROW((void)count(&sample::padded), infeasible);
    // Rounded lengths count as they are run.
    EXPECT_EQ(
        count_micro_batches(samples, rank_count{1}, rounded_cost{linear_cost{}, 16}, {.cap = 96}, &sample::real).count,
        4u);
}

TEST(micro_batches, are_the_same_number_on_every_rank_however_uneven_what_they_drew) {
    // Rank 0 drew 8192 tokens, rank 1 a hundred; both see all lengths and agree.
    numbers lengths(16, 512);
    lengths.push_back(100);
    auto const number = count_micro_batches(lengths, rank_count{2}, linear_cost{}, {.cap = 4096});
    EXPECT_EQ(number.count, 2u);
    auto const step = micro_batches(lengths, rank_count{2}, linear_cost{}, {.cap = 4096, .count = number.count});
    EXPECT_LE(largest(sums(step.plan, lengths)), 4096u);
    // Someone else needs three: the plan is made with the maximum.
    auto const more = micro_batches(lengths, rank_count{2}, linear_cost{}, {.cap = 4096, .count = 3});
    EXPECT_EQ(more.plan.micro_batches, 3u);
}

TEST(micro_batches, come_in_the_multiples_and_the_least_number_that_are_asked_for) {
    auto const lengths = numbers(10, 7);
    auto const count = [&](micro_batch_options const& options) {
        return count_micro_batches(lengths, rank_count{2}, linear_cost{}, options).count;
    };
    EXPECT_EQ(count({.cap = 8}), 5u);
    EXPECT_EQ(count({.cap = 8, .multiple_of = 4}), 8u);
    EXPECT_EQ(count({.cap = 8, .at_least = 6}), 6u);
    EXPECT_EQ(count({.cap = 8, .multiple_of = 4, .at_least = 9}), 12u);
    EXPECT_EQ(count({.at_least = 3}), 3u);
    EXPECT_EQ(count({}), 1u);
}

/// First fit, largest first, puts the long with the next: of nine micro-batches' worth of tokens it makes eleven.
numbers misleading(std::size_t size) {
    numbers lengths;
    for (std::size_t number = 0; number < 6 * size; ++number) {
        lengths.insert(lengths.end(), {51, 27, 26, 23, 23});
    }
    return lengths;
}

TEST(micro_batches, are_as_few_as_a_search_finds_where_first_fit_misleads) {
    auto const model = attention_cost{24576, 1};
    for (std::size_t const ranks : {1U, 4U, 16U}) {
        auto const lengths = misleading(ranks);
        auto const number = count_micro_batches(lengths, rank_count{ranks}, model, {.cap = 100});
        EXPECT_EQ(number, (micro_batch_number{.count = 9, .lower_bound = 9})) << ranks << " ranks";
        // Whoever passes that number, or a larger one, has a plan, too.
        for (std::size_t count = 9; count <= 12; ++count) {
            auto const step = micro_batches(lengths, rank_count{ranks}, model, {.cap = 100, .count = count});
            EXPECT_EQ(step.plan.micro_batches, count);
            EXPECT_NO_THROW(require_partition("test", step.plan, lengths.size()));
            EXPECT_LE(largest(sums(step.plan, lengths)), 100u);
            if (count == number.count) {
                EXPECT_EQ(micro_batches(lengths, rank_count{ranks}, model, {.cap = 100}), step);
            }
        }
        EXPECT_EQ(count_micro_batches(lengths, rank_count{ranks}, model, {.cap = 100, .multiple_of = 5}).count, 10u);
    }
}

TEST(micro_batches, fewer_than_the_bound_are_refused_by_both_calls) {
    micro_batch_options const options{.cap = 149, .count = 3};
    auto const refused = [](auto const& call) {
        try {
            call();
            ADD_FAILURE() << "nothing was thrown";
        } catch (infeasible const& error) {
            EXPECT_EQ(error.constraint(), "micro_batches: options.cap with options.count");
            EXPECT_EQ(error.amount(), 1u);
        }
    };
    refused([&] { (void)count_micro_batches(numbers(8, 50), rank_count{1}, linear_cost{}, options); });
    refused([&] { (void)micro_batches(numbers(8, 50), rank_count{1}, linear_cost{}, options); });
}

TEST(micro_batches, minimise_a_cost_that_is_not_what_the_cap_counts) {
    // One long sample, attention that grows with the square, and a cap just above it.
    auto const lengths = numbers{100, 30, 30, 30, 30, 30, 30};
    auto const model = attention_cost{.linear = 0, .quadratic = 1};
    auto const step = micro_batches(lengths, rank_count{2}, model, {.cap = 110});

    EXPECT_LE(largest(sums(step.plan, lengths)), 110u);
    numbers weights;
    for (auto const length : lengths) {
        weights.push_back(model.weight(length));
    }
    EXPECT_EQ(sum_of_slowest(sums(step.plan, weights)), step.quality.sum_of_slowest);
    EXPECT_EQ(step.quality.sum_of_slowest, 10'000u + 1800u);
}

TEST(micro_batches, turn_the_same_plan_over_the_ranks_step_by_step) {
    auto const lengths = numbers{9, 7, 0, 3, 2, 8, 1, 5, 4};
    auto const places = [&](std::uint64_t step) {
        auto const plan = micro_batches(lengths, rank_count{3}, linear_cost{}, {.count = 2, .step = step}).plan;
        EXPECT_NO_THROW(require_partition("test", plan, lengths.size()));
        return layout_of(plan);
    };
    auto const first = places(0);
    for (std::uint64_t step = 0; step < 7; ++step) {
        auto const turned = places(step);
        for (std::size_t item = 0; item < lengths.size(); ++item) {
            auto const id = to_id<item_id>(item);
            // What has no length stays at home.
            std::size_t const turns = lengths[item] > 0 ? step : 0;
            EXPECT_EQ(to_index(turned[id].rank), (to_index(first[id].rank) + turns) % 3);
            EXPECT_EQ(turned[id].micro_batch, first[id].micro_batch);
        }
    }
    // The number of the step may be any.
    EXPECT_EQ(places(std::numeric_limits<std::uint64_t>::max()), first);
}

TEST(micro_batches, are_legal_of_nothing_of_absent_samples_and_of_more_ranks_than_samples) {
    EXPECT_EQ(micro_batches(numbers{}, rank_count{3}, linear_cost{}, {.cap = 5}).plan.ranks().value, 3u);
    auto const absent = micro_batches(numbers(6), rank_count{3}, linear_cost{}, {.cap = 0, .count = 2});
    EXPECT_NO_THROW(require_partition("test", absent.plan, 6));
    EXPECT_EQ(absent.plan[rank_id{1}].size(), 2u);
    EXPECT_EQ(absent.quality.imbalance(), 1);
    auto const few = micro_batches(numbers{4, 5}, rank_count{5}, linear_cost{}, {.cap = 5});
    EXPECT_EQ(few.quality.number.count, 1u);
    EXPECT_EQ(few.quality.sum_of_slowest, 5u);
}

TEST(micro_batches, refuse_options_that_contradict_each_other) {
    auto const planning = [](micro_batch_options options) {
        return [=] { (void)micro_batches(numbers{1, 2, 3}, rank_count{2}, linear_cost{}, options); };
    };
    auto const says = [](char const* text) {
        return testing::ThrowsMessage<std::invalid_argument>(testing::StartsWith(text));
    };
    EXPECT_THAT(planning({.count = 3, .multiple_of = 2}),
                says("micro_batches: options.count = 3, expected a multiple of options.multiple_of = 2"));
    EXPECT_THAT(planning({.count = 3, .at_least = 4}),
                says("micro_batches: options.count = 3, expected no fewer than options.at_least = 4"));
    for (std::size_t const count : {std::size_t{1} << 31U, std::size_t{1} << 32U, std::size_t{1} << 63U}) {
        auto const refusal = "micro_batches: options.count = " + std::to_string(count) +
                             ", expected at most 2147483647, as ranks * micro-batches are fewer than 2^32";
        EXPECT_THAT(planning({.count = count}), says(refusal.c_str()));
        EXPECT_THAT([&] { (void)count_micro_batches(numbers{1}, rank_count{2}, linear_cost{}, {.count = count}); },
                    says(refusal.c_str()));
    }
    EXPECT_THAT(planning({.multiple_of = 0}), says("micro_batches: options.multiple_of = 0, expected at least 1"));
    EXPECT_THAT(planning({.resolution = 0}), says("micro_batches: options.resolution = 0, expected at least 1"));
    EXPECT_THAT(planning({.tolerance = -1}), says("micro_batches: options.tolerance = -1, expected at least 0"));
    EXPECT_THROW((void)micro_batches(numbers{1}, rank_count{0}, linear_cost{}), std::invalid_argument);
    try {
        planning({.cap = 3, .count = 1})();
    } catch (infeasible const&) {
        ADD_FAILURE() << "3 and 1 + 2 fit";
    }
    EXPECT_THROW((void)micro_batches(numbers{3, 3, 3}, rank_count{2}, linear_cost{}, {.cap = 5, .count = 1}),
                 infeasible);
}

TEST(bins_bound, counts_the_sum_and_items_that_do_not_go_in_pairs) {
    EXPECT_EQ(detail::bins_bound(numbers{6, 6, 6, 4}, 10), 3u);
    EXPECT_EQ(detail::bins_bound(numbers{5, 5, 5, 5}, 10), 2u);
    EXPECT_EQ(detail::bins_bound(numbers{8, 8, 3, 3}, 10), 3u);
    EXPECT_EQ(detail::bins_bound(numbers{}, 10), 0u);
}

TEST(pieces_bound, counts_how_many_items_go_into_a_bin_at_most) {
    EXPECT_EQ(detail::pieces_bound(numbers(8, 50), 149), 4u);
    EXPECT_EQ(detail::pieces_bound(numbers(8, 50), 150), 3u);
    EXPECT_EQ(detail::pieces_bound(numbers(12, 26), 100), 4u);
    EXPECT_EQ(detail::pieces_bound(numbers{}, 10), 0u);
    // Of forty tokens, two samples fill a micro-batch: three are a token too many.
    EXPECT_EQ(count_micro_batches(numbers(90, 40), rank_count{3}, linear_cost{}, {.cap = 119}),
              (micro_batch_number{.count = 15, .lower_bound = 15}));
}

/// The least sum of the slowest, of a few samples, by trying everything; nothing if they do not fit.
std::optional<std::uint64_t> least_sum(numbers const& weights, numbers const& tokens, std::size_t ranks,
                                       std::size_t slots, std::uint64_t cap) {
    std::vector<numbers> loads(slots, numbers(ranks));
    std::vector<numbers> held(slots, numbers(ranks));
    std::optional<std::uint64_t> best;
    auto const place = [&](auto const& self, std::size_t item) -> void {
        if (item == weights.size()) {
            auto const sum = sum_of_slowest(loads);
            best = std::min(best.value_or(sum), sum);
            return;
        }
        for (std::size_t slot = 0; slot < slots; ++slot) {
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                if (held[slot][rank] + tokens[item] <= cap) {
                    loads[slot][rank] += weights[item];
                    held[slot][rank] += tokens[item];
                    self(self, item + 1);
                    loads[slot][rank] -= weights[item];
                    held[slot][rank] -= tokens[item];
                }
            }
        }
    };
    place(place, 0);
    return best;
}

TEST(micro_batches_law, keep_every_promise_for_a_few_samples) {
    std::uint64_t found = 0;
    std::uint64_t least = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::seeded random{seed};
        std::size_t const ranks = random.between(1, 3);
        numbers tokens(random.up_to(6));
        std::ranges::generate(tokens, [&] { return random.up_to(3) == 0 ? random.up_to(3) : random.between(5, 60); });
        std::uint64_t const cap = random.between(60, 130);
        auto const model = attention_cost{.linear = random.up_to(50), .quadratic = 1};
        numbers weights;
        for (auto const length : tokens) {
            weights.push_back(model.weight(length));
        }
        micro_batch_options const options{.cap = cap, .tolerance = 0};
        auto const number = count_micro_batches(tokens, rank_count{ranks}, model, options);
        auto const step = micro_batches(tokens, rank_count{ranks}, model, options);
        std::size_t const slots = step.plan.micro_batches;
        EXPECT_EQ(step.quality.number, number);
        EXPECT_EQ(slots, number.count);
        EXPECT_NO_THROW(require_partition("test", step.plan, tokens.size()));
        EXPECT_LE(largest(sums(step.plan, tokens)), cap) << "seed " << seed;
        EXPECT_EQ(sum_of_slowest(sums(step.plan, weights)), step.quality.sum_of_slowest);
        if (ranks * slots <= 6) {
            auto const best = least_sum(weights, tokens, ranks, slots, cap);
            ASSERT_TRUE(best) << "seed " << seed;
            EXPECT_LE(step.quality.lower_bound, *best) << "seed " << seed;
            EXPECT_LE(*best, step.quality.sum_of_slowest) << "seed " << seed;
            found += step.quality.sum_of_slowest;
            least += *best;
        }
        if (number.lower_bound > 1 && ranks * (number.lower_bound - 1) <= 6) {
            EXPECT_FALSE(least_sum(weights, tokens, ranks, number.lower_bound - 1, cap)) << "seed " << seed;
        }
    }
    EXPECT_LE(static_cast<double>(found), 1.02 * static_cast<double>(least));
}

TEST(micro_batches_law, are_close_to_both_bounds_with_many_samples) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 4 + seed, 40);
        auto const cap = std::ranges::max(lengths) * (seed % 3 + 2) / 2;
        auto const model = attention_cost{.linear = 24576, .quadratic = seed % 2};
        auto const step = micro_batches(lengths, ranks, model, {.cap = cap});

        EXPECT_LE(step.quality.number.count, step.quality.number.lower_bound + 1);
        EXPECT_LE(largest(sums(step.plan, lengths)), cap);
        EXPECT_LE(step.quality.gap(), 0.05) << "seed " << seed;

        // The same in kept memory, and whatever it was used for before.
        micro_batch_workspace space;
        (void)micro_batches(space, numbers{3, 4}, rank_count{1}, linear_cost{});
        EXPECT_EQ(micro_batches(space, lengths, ranks, model, {.cap = cap}), step);
    }
}

}  // namespace
}  // namespace evenkeel::micro_batches_test
