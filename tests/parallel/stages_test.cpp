// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/stages.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::stages_test {
namespace {

using testing::ElementsAre;
using weights = std::vector<std::uint64_t>;

TEST(split_layers, gives_the_heavy_layer_a_stage_of_its_own) {
    EXPECT_THAT(split_layers(weights{9, 1, 1, 1, 1, 1}, 2), ElementsAre(0, 1, 6));
}

TEST(split_layers, leaves_the_first_stages_light) {
    EXPECT_THAT(split_layers(weights(9, 1), 4), ElementsAre(0, 2, 5, 7, 9));
    EXPECT_THAT(split_layers(weights{1, 1, 1, 1, 4}, 3), ElementsAre(0, 2, 4, 5));
}

TEST(split_layers, takes_one_stage_or_as_many_as_layers) {
    EXPECT_THAT(split_layers(weights{3, 1, 2}, 1), ElementsAre(0, 3));
    EXPECT_THAT(split_layers(weights{3, 1, 2}, 3), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(split_layers(weights{0, 0}, 2), ElementsAre(0, 1, 2));
}

TEST(split_layers, refuses_what_cannot_be_cut) {
    EXPECT_THROW(static_cast<void>(split_layers(weights{1, 1}, 3)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(split_layers(weights{1, 1}, 0)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(split_layers(weights{UINT64_MAX, 1}, 2)), std::overflow_error);
    EXPECT_THROW(static_cast<void>(split_layers(weights{UINT64_MAX / 2, 1}, 2)), std::overflow_error);
}

/// The lightest heaviest stage over all ways to cut.
std::uint64_t optimum(std::span<std::uint64_t const> layers, std::size_t stages) {
    if (stages == 1) {
        return std::accumulate(layers.begin(), layers.end(), std::uint64_t{0});
    }
    auto best = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t first = 1; first + stages - 1 <= layers.size(); ++first) {
        auto const own =
            std::accumulate(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(first), std::uint64_t{0});
        best = std::min(best, std::max(own, optimum(layers.subspan(first), stages - 1)));
    }
    return best;
}

TEST(split_layers, is_never_beaten_by_another_cut) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        test::seeded random{seed};
        weights layers(random.between(1, 9));
        for (auto& weight : layers) {
            weight = random.up_to(seed % 2 == 0 ? 3 : 20);
        }
        for (std::size_t stages = 1; stages <= layers.size(); ++stages) {
            auto const starts = split_layers(layers, stages);
            ASSERT_EQ(starts.size(), stages + 1);
            ASSERT_EQ(starts.front(), 0u);
            ASSERT_EQ(starts.back(), layers.size());
            std::uint64_t heaviest = 0;
            for (std::size_t stage = 0; stage < stages; ++stage) {
                ASSERT_LT(starts[stage], starts[stage + 1]);
                heaviest =
                    std::max(heaviest, std::accumulate(layers.begin() + static_cast<std::ptrdiff_t>(starts[stage]),
                                                       layers.begin() + static_cast<std::ptrdiff_t>(starts[stage + 1]),
                                                       std::uint64_t{0}));
            }
            EXPECT_EQ(heaviest, optimum(layers, stages)) << "seed " << seed << ", stages " << stages;
        }
    }
}

TEST(split_stages, cuts_equal_layers_as_the_programme_would) {
    for (std::size_t layers = 1; layers <= 40; ++layers) {
        for (std::size_t stages = 1; stages <= layers; ++stages) {
            auto const split = split_stages({.layers = layers}, stages);
            auto const most = (layers + stages - 1) / stages;
            EXPECT_EQ(split.largest_share(), static_cast<double>(most) / static_cast<double>(layers));
            EXPECT_LE(split.shares.front(), split.shares.back());
        }
    }
}

TEST(split_stages, shares_a_stack_by_its_weights) {
    auto const split = split_stages({.layers = 3, .layer_weights = {6, 1, 3}}, 2);
    EXPECT_THAT(split.starts, ElementsAre(0, 1, 3));
    EXPECT_THAT(split.shares, ElementsAre(0.6, 0.4));
}

}  // namespace
}  // namespace evenkeel::stages_test
