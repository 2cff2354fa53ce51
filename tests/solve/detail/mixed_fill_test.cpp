// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/cost/padded.hpp>
#include <evenkeel/solve/balance_padded.hpp>
#include <evenkeel/solve/detail/mixed_fill.hpp>
#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/solve/detail/mixed_items.hpp"
#include "tests/support/batches.hpp"

namespace evenkeel::detail::mixed_fill_test {
namespace {

using weights = std::vector<std::uint64_t>;

std::uint64_t homeless(mixed_sizes const& sizes, std::size_t ranks, std::uint64_t bound, mixed_filling filling) {
    mixed_fill fill;
    step_budget steps{std::numeric_limits<std::uint64_t>::max()};
    return fill(sizes, ranks, bound, filling, steps, [](auto...) {}).homeless;
}

TEST(mixed_fill, finds_everything_a_rank_exactly_where_padding_alone_allows_it) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 1 + seed % 20, 1 + seed % 13);
        std::uint64_t const optimum = balance(lengths, ranks, padded_cost{}).quality.max_load;
        auto const sizes = test::mixed_items(lengths, 1, 0);
        if (sizes.size() == 0) {
            continue;
        }
        for (auto const filling : {mixed_filling::largest, mixed_filling::folded}) {
            EXPECT_EQ(homeless(sizes, ranks.value, optimum, filling), 0u) << "seed " << seed;
            if (optimum > sizes.whole(0)) {
                EXPECT_GT(homeless(sizes, ranks.value, optimum - 1, filling), 0u) << "seed " << seed;
            }
        }
    }
}

TEST(mixed_fill, leaves_fewer_items_homeless_when_it_folds) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        test::seeded random{seed};
        weights lengths(512 * 20);
        for (auto& length : lengths) {
            length = random.between(1, 2000);
        }
        auto const sizes = test::mixed_items(lengths, 1, 4);
        std::uint64_t const bound = sizes.total / 512 * 1004 / 1000;
        EXPECT_LT(4 * homeless(sizes, 512, bound, mixed_filling::folded),
                  3 * homeless(sizes, 512, bound, mixed_filling::largest))
            << "seed " << seed;
    }
}

TEST(mixed_fill, says_what_it_places_and_keeps_within_the_bound) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto const [lengths, ranks] = test::mixed_batch(seed, 1 + seed % 20, 1 + seed % 13);
        auto const sizes = test::mixed_items(lengths, 1 + seed % 3, seed % 5);
        if (sizes.size() == 0) {
            continue;
        }
        std::uint64_t const bound = std::max(sizes.whole(0), sizes.total / ranks.value);
        for (auto const filling : {mixed_filling::largest, mixed_filling::folded}) {
            std::vector<std::uint64_t> counts(ranks.value);
            std::vector<std::uint64_t> padded(ranks.value);
            std::vector<std::uint64_t> packed(ranks.value);
            std::vector<std::uint64_t> placed(sizes.size());
            mixed_fill fill;
            step_budget steps{std::numeric_limits<std::uint64_t>::max()};
            auto const outcome = fill(sizes, ranks.value, bound, filling, steps,
                                      [&](std::size_t rank, std::uint32_t size, std::uint64_t count) {
                                          counts[rank] += count;
                                          padded[rank] = std::max(padded[rank], sizes.padded[size]);
                                          packed[rank] += count * sizes.packed[size];
                                          placed[size] += count;
                                      });
            std::uint64_t homeless_weight = sizes.total;
            for (std::size_t size = 0; size < sizes.size(); ++size) {
                EXPECT_LE(placed[size], sizes.count(size));
                homeless_weight -= placed[size] * sizes.whole(size);
            }
            std::uint64_t largest = 0;
            for (std::size_t rank = 0; rank < ranks.value; ++rank) {
                largest = std::max(largest, counts[rank] * padded[rank] + packed[rank]);
            }
            EXPECT_LE(largest, bound);
            EXPECT_EQ(outcome.largest, largest);
            EXPECT_EQ(outcome.homeless, homeless_weight);
        }
    }
}

}  // namespace
}  // namespace evenkeel::detail::mixed_fill_test
