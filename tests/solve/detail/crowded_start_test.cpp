// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/detail/crowded_ranks.hpp>
#include <evenkeel/solve/detail/crowded_start.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::crowded_start_test {
namespace {

std::vector<std::uint64_t> loads_of_start(std::vector<std::uint64_t> const& falling, std::size_t ranks,
                                          std::size_t& crowded) {
    crowded_ranks crowd;
    auto const target = crowd(falling, ranks, 0, std::accumulate(falling.begin(), falling.end(), std::uint64_t{0}));
    crowded = crowd.number();
    crowded_start start;
    placement loads;
    repair even;
    loads.reserve(falling.size(), ranks);
    even.reserve(falling.size(), ranks);
    step_budget steps{10'000};
    std::vector<std::uint32_t> rank_of(falling.size());
    start(falling, std::accumulate(falling.begin(), falling.end(), std::uint64_t{0}), ranks, crowd, target, loads, even,
          rank_of, steps);
    std::vector<std::uint64_t> result(ranks);
    for (std::size_t item = 0; item < falling.size(); ++item) {
        result[rank_of[item]] += falling[item];
    }
    return result;
}

TEST(crowded_start, gives_what_is_one_too_many_for_each_rank_to_ranks_of_their_own) {
    std::size_t crowded = 0;
    auto const loads = loads_of_start({9, 9, 9, 5, 5, 5}, 4, crowded);
    EXPECT_EQ(crowded, 2u);
    EXPECT_EQ(loads, (std::vector<std::uint64_t>{14, 10, 9, 9}));
}

TEST(crowded_start, places_every_item_once) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::seeded random{seed};
        std::size_t const ranks = random.between(3, 12);
        std::vector<std::uint64_t> items(ranks * random.between(2, 4) + random.between(1, ranks - 1));
        for (auto& item : items) {
            item = random.between(900, 1000);
        }
        std::ranges::sort(items, std::greater{});
        std::size_t crowded = 0;
        auto const loads = loads_of_start(items, ranks, crowded);
        ASSERT_GT(crowded, 0u);
        EXPECT_EQ(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}),
                  std::accumulate(items.begin(), items.end(), std::uint64_t{0}));
    }
}

TEST(balance, evens_out_the_ranks_that_have_one_more_of_many_heavy_images) {
    // 325 images of about the same size on 64 ranks, so five ranks have six, and texts that weigh next to nothing.
    test::seeded random{7};
    std::vector<std::uint64_t> lengths(2560);
    for (std::size_t sample = 0; sample < lengths.size(); ++sample) {
        lengths[sample] =
            sample % 8 == 0 || sample % 512 == 1 ? random.between(16'420, 16'890) : random.between(1, 2900);
    }
    auto const even = balance(lengths, rank_count{64}, attention_cost{.linear = 0, .quadratic = 1});
    EXPECT_GT(even.quality.tail_floor(), 1.01);
    EXPECT_LE(even.quality.gap(), 1e-4);
}

}  // namespace
}  // namespace evenkeel::detail::crowded_start_test
