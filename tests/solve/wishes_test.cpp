// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/core/not_found.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/wish_oracle.hpp"

namespace evenkeel::wishes_test {
namespace {

using numbers = std::vector<std::uint64_t>;

balanced wish(numbers const& lengths, std::size_t ranks, wishes asked) {
    return balance(lengths, rank_count{ranks}, linear_cost{}, {.wishes = asked});
}

/// Of each rank, what `numbers` add up to.
numbers sums(plan const& plan, numbers const& values) {
    numbers result(plan.ranks().value);
    for (std::size_t rank = 0; rank < result.size(); ++rank) {
        for (auto const item : plan[to_id<rank_id>(rank)]) {
            result[rank] += values[to_index(item)];
        }
    }
    return result;
}

numbers counts(plan const& plan) { return sums(plan, numbers(plan.items.size(), 1)); }

infeasible refused(numbers const& lengths, std::size_t ranks, wishes asked) {
    try {
        (void)wish(lengths, ranks, asked);
    } catch (infeasible const& error) {
        return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {"nothing", {}, 0};
}

TEST(wishes, of_equal_counts_differ_by_one_where_206_samples_meet_4_ranks) {
    test::seeded random{1};
    numbers lengths(206);
    std::ranges::generate(lengths, [&] { return random.between(1, 3000); });
    auto const even = wish(lengths, 4, {.equal_counts = true});

    auto of = counts(even.plan);
    std::ranges::sort(of);
    EXPECT_EQ(of, (numbers{51, 51, 52, 52}));
    EXPECT_LE(even.quality.gap(), 1e-3);
}

TEST(wishes, of_equal_counts_have_a_bound_that_explains_the_load) {
    // The heaviest has to take two of the lightest along.
    auto const even = wish({100, 1, 2, 3, 4, 5}, 2, {.equal_counts = true});

    EXPECT_EQ(counts(even.plan), (numbers{3, 3}));
    EXPECT_EQ(even.quality.max_load, 103u);
    EXPECT_EQ(even.quality.lower_bound, 103u);
}

TEST(wishes, keep_a_cap_on_a_second_quantity_while_the_largest_cost_is_made_small) {
    // Quadratic costs, with a cap on tokens just above the longest sample.
    auto const lengths = numbers{1000, 500, 500, 400, 300, 200, 100};
    auto const even = balance(lengths, rank_count{4}, attention_cost{.linear = 0, .quadratic = 1},
                              {.wishes = {.quantities = lengths, .cap = 1010}});

    EXPECT_LE(std::ranges::max(sums(even.plan, lengths)), 1010u);
    EXPECT_EQ(even.quality.max_load, 1'000'000u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(wishes, keep_a_cap_that_the_plan_without_it_breaks) {
    // Images weigh, and text fills the memory.
    auto const images = numbers{9, 8, 7, 6, 5, 4};
    auto const text = numbers{100, 90, 10, 10, 10, 80};
    auto const even = wish(images, 3, {.quantities = text, .cap = 110});

    EXPECT_LE(std::ranges::max(sums(even.plan, text)), 110u);
    EXPECT_EQ(even.quality.max_load, 14u);
    EXPECT_EQ(even.quality.lower_bound, 14u);
}

TEST(wishes, give_every_rank_a_sample_if_there_are_enough_and_as_many_as_can_be_if_not) {
    // Three images on rank 0 and one on rank 2, of four ranks; the others have text alone.
    auto const images = numbers{7, 7, 7, 0, 0, 9, 0};
    auto const even = wish(images, 4, {.no_empty_rank = true, .speeds = numbers{100, 1, 1, 1}});
    EXPECT_EQ(std::ranges::count(sums(even.plan, images), 0u), 0);

    auto const few = wish({5, 3, 0}, 4, {.no_empty_rank = true});
    EXPECT_EQ(std::ranges::count(sums(few.plan, {5, 3, 0}), 0u), 2);
}

TEST(wishes, keep_groups_together_whatever_their_number_per_rank) {
    auto const even = wish({5, 5, 4, 4, 1, 1}, 2, {.groups = std::vector<std::uint32_t>{7, 7, 3, 3, 9, 9}});

    EXPECT_EQ(test::ranks_of_items(even.plan), (std::vector<std::size_t>{0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(even.quality.gap(), 0);

    // Samples without a group go alone.
    auto const mixed = wish({5, 5, 4, 4}, 2, {.groups = std::vector<std::uint32_t>{1, ungrouped, 1, ungrouped}});
    EXPECT_EQ(sums(mixed.plan, {5, 5, 4, 4}), (numbers{9, 9}));
}

TEST(wishes, leave_pinned_samples_at_their_rank) {
    auto const pinned = std::vector{rank_id{1}, rank_id{1}, unpinned, unpinned};
    auto const even = wish({5, 5, 6, 3}, 2, {.pinned = pinned});

    EXPECT_EQ(test::ranks_of_items(even.plan), (std::vector<std::size_t>{1, 1, 0, 0}));
    EXPECT_EQ(even.quality.max_load, 10u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(wishes, know_of_speeds_only_their_ratios) {
    numbers const lengths{1ULL << 40, 900, 500, 400, 100};
    for (numbers const& speeds : {numbers{1, 1}, numbers{1, 3}, numbers{2, 3}}) {
        numbers large;
        for (auto const speed : speeds) {
            large.push_back(speed << 60);
        }
        auto const even = wish(lengths, 2, {.speeds = speeds});
        auto const same = wish(lengths, 2, {.speeds = large});
        EXPECT_EQ(same.plan, even.plan);
        EXPECT_EQ(same.quality, even.quality);
    }
}

TEST(wishes, refuse_speeds_at_which_the_slowest_rank_might_take_more_than_64_bits_and_no_others) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    static std::vector const slow{rank_id{0}};
    static numbers const unlike{1, 7};
    EXPECT_THROW((void)wish({most}, 2, {.pinned = slow, .speeds = unlike}), std::overflow_error);

    static numbers const equal{5, 5};
    EXPECT_EQ(wish({most}, 2, {.speeds = equal}).quality.max_load, most);
    static numbers const nearly{(1ULL << 63) - 1, 1ULL << 63};
    EXPECT_EQ(wish({3ULL << 62}, 2, {.speeds = nearly}).quality.max_load, 3ULL << 62);
}

TEST(wishes, give_a_rank_of_twice_the_speed_twice_the_load) {
    auto const even = wish(numbers(9, 10), 2, {.speeds = numbers{1, 2}});

    EXPECT_EQ(sums(even.plan, numbers(9, 10)), (numbers{30, 60}));
    // Times of the fastest rank: rank 0 takes as long for 30 as rank 1 for 60.
    EXPECT_EQ(even.quality.max_load, 60u);
    EXPECT_EQ(even.quality.imbalance(), 1);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(wishes, count_what_is_cut_in_tiles_when_ranks_differ_in_speed) {
    // 12 tiles of 576: at speeds 10, 8 and 5 nobody can have a part of a tile.
    auto const even = wish(numbers(12, 576), 3, {.speeds = numbers{10, 8, 5}});

    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(wishes, know_that_the_slowest_rank_takes_as_many_samples_as_the_others) {
    // Ten of ten each, at a tenth of the speed.
    auto const even = wish(numbers(30, 10), 3, {.equal_counts = true, .speeds = numbers{10, 10, 1}});

    EXPECT_EQ(even.quality.max_load, 1000u);
    EXPECT_EQ(even.quality.gap(), 0);
}

TEST(wishes, turn_the_same_plan_over_the_ranks_step_by_step) {
    auto const lengths = numbers{9, 7, 4, 0, 3, 2};
    auto const first = wish(lengths, 3, {});
    for (std::uint64_t step = 0; step < 7; ++step) {
        auto const turned = wish(lengths, 3, {.step = step});
        EXPECT_EQ(turned.quality, first.quality);
        for (std::size_t const item : {0U, 1U, 2U, 4U, 5U}) {
            EXPECT_EQ(test::ranks_of_items(turned.plan)[item], (test::ranks_of_items(first.plan)[item] + step) % 3);
        }
        // What has no length stays at home.
        EXPECT_EQ(test::ranks_of_items(turned.plan)[3], 1u);
    }
}

TEST(wishes, turn_what_has_no_length_along_where_it_counts) {
    for (std::uint64_t step = 0; step < 6; ++step) {
        auto const counted = wish({1, 1, 1, 1, 1, 0}, 3, {.count_cap = 2, .step = step});
        EXPECT_EQ(counts(counted.plan), (numbers{2, 2, 2}));
        auto const text = numbers{1, 1, 1, 1, 1, 4};
        auto const capped = wish({1, 1, 1, 1, 1, 0}, 3, {.quantities = text, .cap = 5, .step = step});
        EXPECT_LE(std::ranges::max(sums(capped.plan, text)), 5u);
    }
}

TEST(wishes, turn_only_ranks_that_are_alike) {
    auto const speeds = numbers{2, 1, 2, 1};
    auto const lengths = numbers{90, 80, 70, 60, 50, 40};
    auto const first = wish(lengths, 4, {.speeds = speeds});
    auto const turned = wish(lengths, 4, {.speeds = speeds, .step = 1});

    auto const before = sums(first.plan, lengths);
    EXPECT_EQ(sums(turned.plan, lengths), (numbers{before[2], before[3], before[0], before[1]}));
    EXPECT_EQ(turned.quality, first.quality);
}

TEST(wishes, leave_what_has_no_length_at_home_as_far_as_counts_allow) {
    auto const even = wish({9, 0, 0, 0, 9, 0, 0, 0}, 2, {.equal_counts = true});

    EXPECT_EQ(counts(even.plan), (numbers{4, 4}));
    EXPECT_EQ(test::ranks_of_items(even.plan), (std::vector<std::size_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(wishes, of_equal_counts_cost_nothing_where_enough_samples_have_no_length) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        test::seeded random{seed};
        std::size_t const ranks = random.between(2, 9);
        numbers lengths(ranks * 40 + random.up_to(ranks));
        std::ranges::generate(lengths, [&] { return random.up_to(9) < 6 ? 0 : random.between(100, 3000); });
        auto const free = wish(lengths, ranks, {});
        auto const even = wish(lengths, ranks, {.equal_counts = true});

        auto const of = counts(even.plan);
        EXPECT_LE(std::ranges::max(of) - std::ranges::min(of), 1u) << "seed " << seed;
        EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
        EXPECT_EQ(even.quality, free.quality) << "seed " << seed;
        EXPECT_EQ(std::ranges::max(sums(even.plan, lengths)), even.quality.max_load);
        // The step turns them as well, and a cap on counts is met beside them.
        auto const turned = wish(lengths, ranks, {.count_cap = 41, .equal_counts = true, .step = 1});
        EXPECT_EQ(std::ranges::max(counts(turned.plan)), std::ranges::max(of));
        EXPECT_EQ(turned.quality, free.quality);
    }
}

TEST(wishes, move_what_has_no_length_from_its_home_only_where_counts_demand_it) {
    // Rank 1 drew what weighs nothing; three samples are the most.
    auto const even = wish({6, 6, 0, 0, 0, 0}, 2, {.count_cap = 3});

    EXPECT_EQ(counts(even.plan), (numbers{3, 3}));
    auto const rank_of = test::ranks_of_items(even.plan);
    EXPECT_EQ(rank_of[2], 0u);
    EXPECT_EQ(std::ranges::count(rank_of, 1u), 3);
}

TEST(wishes, are_legal_of_nothing_of_one_rank_and_of_more_ranks_than_samples) {
    wishes const all{.count_cap = 5, .equal_counts = true, .no_empty_rank = true, .step = 3};
    EXPECT_EQ(wish({}, 3, all).plan.ranks().value, 3u);
    EXPECT_EQ(wish({}, 3, {.cap = 0}).quality.max_load, 0u);
    EXPECT_EQ(wish({4, 5}, 1, all).quality.max_load, 9u);
    EXPECT_EQ(std::ranges::max(counts(wish({4, 5}, 3, all).plan)), 1u);
    EXPECT_EQ(std::ranges::max(counts(wish(numbers(4), 4, all).plan)), 1u);
    EXPECT_EQ(sums(wish(numbers(12, 6), 3, all).plan, numbers(12, 6)), (numbers{24, 24, 24}));
}

TEST(wishes, that_cannot_be_met_are_named_with_the_item_and_the_amount) {
    auto const too_long = refused({1, 2, 3}, 2, {.quantities = numbers{5, 9, 5}, .cap = 7});
    EXPECT_STREQ(too_long.what(), "balance: options.wishes.cap cannot be met by item 1, 2 are missing");

    auto const too_much = refused({1, 2, 3}, 2, {.quantities = numbers{7, 5, 5}, .cap = 8});
    EXPECT_STREQ(too_much.what(), "balance: options.wishes.cap cannot be met, 1 is missing");

    auto const three_large = refused({1, 2, 3}, 2, {.quantities = numbers{5, 5, 5}, .cap = 9});
    EXPECT_STREQ(three_large.what(), "balance: options.wishes.cap cannot be met, 1 is missing");

    auto const too_many = refused({1, 2, 3, 4, 5}, 2, {.count_cap = 2});
    EXPECT_STREQ(too_many.what(), "balance: options.wishes.count_cap cannot be met, 1 is missing");

    // Of equal counts, too, and where hardly anything weighs something.
    auto const mostly_idle = refused({5, 0, 0, 0}, 2, {.count_cap = 1, .equal_counts = true});
    EXPECT_STREQ(mostly_idle.what(), "balance: options.wishes.count_cap cannot be met, 2 are missing");
    EXPECT_EQ(refused(numbers(4), 2, {.count_cap = 1, .equal_counts = true}).amount(), 2u);
    EXPECT_EQ(refused({5, 0, 0, 0, 0}, 2, {.count_cap = 1, .equal_counts = true}).amount(), 3u);
    auto const nothing = refused(numbers(2), 2, {.count_cap = 0, .equal_counts = true});
    EXPECT_EQ(nothing.constraint(), "balance: options.wishes.count_cap");

    auto const large_group = refused({1, 2, 3}, 2, {.count_cap = 2, .groups = std::vector<std::uint32_t>{1, 1, 1}});
    EXPECT_STREQ(large_group.what(), "balance: options.wishes.count_cap cannot be met by item 0, 1 is missing");

    auto const crowded = refused({1, 2, 3}, 3, {.equal_counts = true, .pinned = std::vector(3, rank_id{1})});
    EXPECT_STREQ(crowded.what(), "balance: options.wishes.equal_counts cannot be met by item 0, 2 are missing");

    auto const torn =
        refused({1, 2}, 2, {.groups = std::vector<std::uint32_t>{4, 4}, .pinned = std::vector{rank_id{0}, rank_id{1}}});
    EXPECT_EQ(torn.constraint(), "balance: options.wishes.groups with options.wishes.pinned");
    EXPECT_EQ(torn.item(), 1u);
}

TEST(wishes, that_cannot_be_met_are_named_by_what_is_broken_in_its_own_unit) {
    // All ranks are idle for want of weight, which is allowed: 10, 12 and 9 + 6 are one above the cap.
    auto const idle = refused(
        numbers(6), 3, {.quantities = numbers{10, 9, 0, 12, 6, 0}, .cap = 14, .count_cap = 4, .no_empty_rank = true});
    EXPECT_STREQ(idle.what(), "balance: options.wishes.cap cannot be met, 1 is missing");
    auto const grouped = refused(numbers(3), 2,
                                 {.quantities = numbers{30, 30, 10},
                                  .cap = 35,
                                  .no_empty_rank = true,
                                  .groups = std::vector<std::uint32_t>{2, ungrouped, 0}});
    EXPECT_STREQ(grouped.what(), "balance: options.wishes.cap cannot be met, 5 are missing");
}

TEST(wishes, that_a_search_does_not_meet_come_with_the_nearest_attempt) {
    // Ninety items of more than a third of the cap on thirty ranks: only pairs fit, but no count of one or two proves
    // it.
    numbers quantities(90, 40);
    try {
        (void)wish(numbers(90, 1), 31, {.quantities = quantities, .cap = 118});
        ADD_FAILURE() << "nothing was thrown";
    } catch (not_found const& error) {
        EXPECT_EQ(error.constraint(), "balance: options.wishes.cap");
        EXPECT_NO_THROW(require_partition("test", error.nearest(), 90));
        auto const held = sums(error.nearest(), quantities);
        std::uint64_t missed = 0;
        for (auto const quantity : held) {
            missed += quantity - std::min<std::uint64_t>(quantity, 118);
        }
        EXPECT_EQ(error.violation(), missed);
    } catch (infeasible const& error) {
        EXPECT_EQ(error.constraint(), "balance: options.wishes.cap");
    }
}

TEST(wishes, that_say_nothing_clear_are_refused_at_the_door) {
    auto const wishing = [](wishes asked) { return [=] { (void)wish({1, 2, 3}, 2, asked); }; };
    auto const says = [](char const* text) {
        return testing::ThrowsMessage<std::invalid_argument>(testing::StartsWith(text));
    };
    static numbers const two{1, 2};
    static numbers const three{1, 2, 3};
    EXPECT_THAT(wishing({.quantities = two, .cap = 5}),
                says("balance: options.wishes.quantities.size() = 2, expected one for each of the 3 samples"));
    EXPECT_THAT(wishing({.speeds = three}),
                says("balance: options.wishes.speeds.size() = 3, expected one for each of the 2 ranks"));
    EXPECT_THAT(wishing({.quantities = three}),
                says("balance: options.wishes.cap = none, expected a cap, as options.wishes.quantities are given"));
    EXPECT_THAT(wishing({.cap = 5}), says("balance: options.wishes.quantities.size() = 0, expected one for each "
                                          "sample, as options.wishes.cap is given"));
    static std::vector const nowhere{rank_id{0}, rank_id{2}, unpinned};
    EXPECT_THAT(wishing({.pinned = nowhere}), says("balance: options.wishes.pinned[1] = 2, expected a rank below 2"));
    static numbers const idle{1, 0};
    EXPECT_THAT(wishing({.speeds = idle}), says("balance: options.wishes.speeds[1] = 0, expected at least 1"));
    static numbers const huge{1, 1ULL << 63};
    EXPECT_THROW((void)wish({1ULL << 40, 1}, 2, {.speeds = huge}), std::overflow_error);
}

/// Whether the wishes of a few samples can be met: if so, the plan has to be the best, by trying all.
bool best_or_refused(test::wished_batch const& batch, std::uint64_t seed) {
    auto const best = test::optimum_of(batch);
    try {
        auto const even = balance(batch.weights, batch.ranks, linear_cost{}, {.wishes = batch.asked()});
        EXPECT_NO_THROW(require_partition("test", even.plan, batch.weights.size()));
        test::wish_check const check{batch};
        auto const rank_of = test::ranks_of_items(even.plan);
        EXPECT_TRUE(best.time) << "seed " << seed;
        EXPECT_TRUE(check.stays_together(rank_of)) << "seed " << seed;
        EXPECT_EQ(check.time(rank_of, best.fewest_empty), even.quality.max_load) << "seed " << seed;
        EXPECT_EQ(even.quality.max_load, best.time) << "seed " << seed;
        EXPECT_LE(even.quality.lower_bound, even.quality.max_load) << "seed " << seed;
    } catch (infeasible const&) {
        EXPECT_FALSE(best.time) << "seed " << seed;
    }
    return best.time.has_value();
}

TEST(wishes_law, are_met_by_the_best_plan_of_a_few_samples_in_every_combination) {
    std::size_t feasible = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        auto const batch = test::small_wished_batch(seed);
        if (batch.weights.size() > 8) {
            continue;  // trying every plan would take too long
        }
        feasible += best_or_refused(batch, seed) ? 1U : 0U;
    }
    EXPECT_GT(feasible, 100u);
}

TEST(wishes_law, about_counts_are_met_or_refused_where_little_weighs_something) {
    std::size_t feasible = 0;
    constexpr std::uint64_t seeds = 400;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        test::seeded random{seed};
        test::wished_batch batch{.weights = numbers(random.up_to(7)), .ranks = rank_count{random.between(1, 3)}};
        std::ranges::generate(batch.weights, [&] { return random.up_to(3) == 0 ? random.between(1, 9) : 0; });
        // One too few, just enough, or one more than needed.
        std::size_t const needed = (batch.weights.size() + batch.ranks.value - 1) / batch.ranks.value;
        batch.count_cap = needed + random.up_to(2) - (needed > 0 ? 1U : 0U);
        batch.equal_counts = random.up_to(3) > 0;
        batch.no_empty_rank = random.up_to(3) == 0;
        batch.step = random.up_to(3);
        feasible += best_or_refused(batch, seed) ? 1U : 0U;
    }
    EXPECT_GT(feasible, seeds / 2);
    EXPECT_LT(feasible, seeds * 9 / 10);
}

TEST(wishes_law, are_met_with_many_samples) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 4 + seed % 13, 8 + seed % 30);
        test::wished_batch batch{.weights = lengths, .ranks = ranks};
        test::seeded random{seed};
        std::uint64_t total = 0;
        for (auto const length : lengths) {
            batch.quantities.push_back(seed % 2 == 0 ? length : random.up_to(1000));
            total += batch.quantities.back();
        }
        std::uint64_t const largest = std::ranges::max(batch.quantities);
        batch.cap = std::max(largest, total / ranks.value) * 21 / 20;
        batch.equal_counts = seed % 3 == 0;
        batch.no_empty_rank = seed % 3 == 1;
        if (seed % 5 == 2) {
            batch.speeds.assign(ranks.value, 10);
            batch.speeds.front() = 8;
            batch.cap = *batch.cap * 3 / 2;
        }
        auto const even = balance(batch.weights, batch.ranks, linear_cost{}, {.wishes = batch.asked()});
        EXPECT_NO_THROW(require_partition("test", even.plan, lengths.size()));
        auto const rank_of = test::ranks_of_items(even.plan);
        EXPECT_EQ(test::wish_check{batch}.time(rank_of, 0), even.quality.max_load) << "seed " << seed;
        EXPECT_LE(even.quality.lower_bound, even.quality.max_load);
        EXPECT_LE(even.quality.gap(), 0.01) << "seed " << seed;
    }
}

}  // namespace
}  // namespace evenkeel::wishes_test
