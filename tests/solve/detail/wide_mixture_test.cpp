// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/first_patterns.hpp>
#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/pattern_search.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wide_mixture.hpp>
#include <evenkeel/solve/detail/wide_pattern.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::wide_mixture_test {
namespace {

constexpr std::size_t ranks = 50;

/// So many items per rank of forty sizes from 5 to 122, and what a mixture of them begins with.
struct begun {
    begun(std::uint64_t seed, std::size_t per_rank) {
        test::seeded random{seed};
        items.weights.resize(per_rank * ranks);
        for (auto& weight : items.weights) {
            weight = 5 + 3 * random.up_to(39);
        }
        std::ranges::sort(items.weights, std::greater{});
        items.total = std::accumulate(items.weights.begin(), items.weights.end(), std::uint64_t{0});
        for (auto const weight : items.weights) {
            if (sizes.empty() || sizes.back().weight != weight) {
                sizes.push_back({weight, 0});
            }
            ++sizes.back().count;
        }
        capacity = std::max(items.total / ranks + 5, items.weights.front());
        step_budget steps{1'000'000};
        first_patterns first;
        first(sizes, items, ranks, capacity, mixture, steps);
    }

    /// How far any pattern is from what a rank is worth, and any size from all its items placed.
    [[nodiscard]] std::int64_t largest_error() const {
        std::int64_t error = 0;
        std::vector<std::int64_t> placed(sizes.size());
        for (std::size_t row = 0; row < sizes.size(); ++row) {
            std::int64_t worth = 0;
            auto const use =
                static_cast<std::int64_t>(mixture.whole_uses(row)) * wide_mixture::whole + mixture.part_of_use(row);
            for_each_size(mixture.pattern(row), [&](std::size_t size, std::int64_t number) {
                worth += number * mixture.price(size);
                placed[size] += number * use;
            });
            error = std::max(error, wide_mixture::whole - worth);
        }
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            auto const all = static_cast<std::int64_t>(sizes[size].count) * wide_mixture::whole;
            error = std::max(error, std::abs(placed[size] - all));
        }
        return error;
    }

    sorted_items items;
    std::vector<size_count> sizes;
    std::uint64_t capacity = 0;
    wide_mixture mixture;
};

// Those of seed 17 leave their range.
constexpr std::uint64_t in_range_for_certain = 16;

TEST(first_patterns, place_all_items_within_the_capacity) {
    for (std::uint64_t seed = 1; seed <= in_range_for_certain; ++seed) {
        begun const of{seed, seed % 2 == 0 ? 3U : 6U};
        ASSERT_TRUE(of.mixture.in_range()) << seed;
        for (std::size_t row = 0; row < of.sizes.size(); ++row) {
            std::uint64_t load = 0;
            for_each_size(of.mixture.pattern(row), [&](std::size_t size, std::int64_t number) {
                load += static_cast<std::uint64_t>(number) * of.sizes[size].weight;
            });
            EXPECT_LE(load, of.capacity) << seed;
        }
        EXPECT_LT(of.largest_error(), wide_mixture::whole / 100'000) << seed;
    }
}

TEST(wide_mixture, takes_fewer_ranks_with_every_better_pattern_and_still_places_all_items) {
    for (std::uint64_t seed = 1; seed <= in_range_for_certain; ++seed) {
        begun of{seed, seed % 2 == 0 ? 3U : 6U};
        pattern_search best;
        best.reset(of.sizes);
        std::int64_t const at_first = of.mixture.ranks();
        std::int64_t before = at_first;
        for (std::size_t round = 0; round < 200; ++round) {
            best.set_prices(of.mixture);
            if (!best(of.capacity, wide_mixture::whole + wide_mixture::whole / 1000, 2000)) {
                break;
            }
            EXPECT_GT(of.mixture.enter(best.best()), 0U);
            ASSERT_TRUE(of.mixture.in_range()) << seed;
            EXPECT_LE(of.mixture.ranks(), before + wide_mixture::whole / 1000) << seed;
            before = of.mixture.ranks();
        }
        EXPECT_LT(before, at_first) << seed;
        EXPECT_LT(of.largest_error(), wide_mixture::whole / 10) << seed;
        // No mixture needs less room than there are items.
        auto const room = static_cast<double>(before) / static_cast<double>(wide_mixture::whole);
        EXPECT_GT(room * static_cast<double>(of.capacity), 0.9999 * static_cast<double>(of.items.total)) << seed;
    }
}

TEST(wide_mixture, tells_when_numbers_leave_their_range) {
    begun of{in_range_for_certain + 1, 6};
    EXPECT_FALSE(of.mixture.in_range());
    wide_pattern pattern;
    pattern.add(0, 1);
    of.mixture.enter(pattern);
    EXPECT_FALSE(of.mixture.in_range());
}

}  // namespace
}  // namespace evenkeel::detail::wide_mixture_test
