// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/least_cover.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::least_cover_test {
namespace {

using sizes = std::vector<std::uint64_t>;

std::uint64_t cover(sizes const& weights, std::uint64_t needed, std::uint64_t steps = 1'000'000) {
    least_cover least;
    step_budget budget{steps};
    return least(weights, needed, budget);
}

TEST(least_cover, is_the_least_sum_that_is_enough) {
    EXPECT_EQ(cover({7, 5, 5}, 8), 10u);
    EXPECT_EQ(cover({7, 5, 5}, 7), 7u);
    EXPECT_EQ(cover({7, 5, 5}, 13), 17u);
    EXPECT_EQ(cover({900, 64, 64}, 128), 128u) << "sums at the edge of a word";
    EXPECT_EQ(cover({900, 64, 63}, 128), 900u);
}

TEST(least_cover, gives_up_what_takes_too_many_steps) {
    EXPECT_EQ(cover({7, 5, 5}, 8, 2), 8u);
    EXPECT_EQ(cover({least_cover::most_needed * 4}, least_cover::most_needed + 1), least_cover::most_needed + 1);
}

TEST(least_cover_law, is_what_trying_all_subsets_gives) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        test::seeded random{seed};
        sizes weights(random.between(1, 9));
        std::ranges::generate(weights, [&] { return random.between(1, seed % 2 == 0 ? 30 : 300); });
        std::ranges::sort(weights, std::greater{});
        std::uint64_t const needed = random.between(1, std::accumulate(weights.begin(), weights.end(), 0U));
        std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
        for (std::size_t subset = 0; subset < std::size_t{1} << weights.size(); ++subset) {
            std::uint64_t sum = 0;
            for (std::size_t item = 0; item < weights.size(); ++item) {
                sum += (subset >> item & 1) != 0 ? weights[item] : 0;
            }
            best = sum >= needed ? std::min(best, sum) : best;
        }
        EXPECT_EQ(cover(weights, needed), best) << "seed " << seed;
    }
}

}  // namespace
}  // namespace evenkeel::detail::least_cover_test
