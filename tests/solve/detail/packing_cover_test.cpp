// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/packing_cover.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::packing_cover_test {
namespace {

std::uint64_t cover(std::vector<export_item> const& items, std::size_t ranks, std::uint64_t capacity) {
    packing_cover packing;
    step_budget steps{1'000'000};
    return packing(items, ranks, capacity, steps);
}

/// Each with its weight for its cost.
std::vector<export_item> of_weights(std::vector<std::uint64_t> const& weights) {
    std::vector<export_item> items;
    for (auto const weight : weights) {
        items.push_back({weight, weight, static_cast<std::uint32_t>(items.size())});
    }
    return items;
}

/// The least cost of what leaves so that the rest fits, by trying every placement.
std::uint64_t cheapest(std::vector<export_item> const& items, std::size_t ranks, std::uint64_t capacity) {
    std::vector<std::uint64_t> loads(ranks);
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    auto const place = [&](auto const& self, std::size_t item, std::uint64_t cost) -> void {
        if (item == items.size()) {
            best = std::min(best, cost);
            return;
        }
        self(self, item + 1, cost + items[item].cost);
        for (auto& load : loads) {
            if (load + items[item].weight <= capacity) {
                load += items[item].weight;
                self(self, item + 1, cost);
                load -= items[item].weight;
            }
        }
    };
    place(place, 0, 0);
    return best;
}

TEST(packing_cover, sees_what_does_not_fit_although_the_sum_does) {
    EXPECT_EQ(cover(of_weights({5, 5, 5}), 2, 8), 5u);
    EXPECT_EQ(cover(of_weights({4, 4, 4, 4}), 2, 8), 0u);
    EXPECT_EQ(cover(of_weights({9, 1}), 2, 8), 9u) << "what fits nowhere leaves";
}

TEST(packing_cover, counts_half_of_what_fits_for_an_item_of_half_the_capacity) {
    // Of 3, three fit into 10, and one beside a 5: five of them and the 5 do not fit into 2 * 10, their sum.
    EXPECT_GT(cover(of_weights({5, 3, 3, 3, 3, 3}), 2, 10), 0u);
    EXPECT_EQ(cheapest(of_weights({5, 3, 3, 3, 3, 3}), 2, 10), 3u);
    EXPECT_EQ(cover(of_weights({5, 5, 3, 3, 3}), 2, 10), 0u);
}

TEST(packing_cover, takes_the_cheapest) { EXPECT_EQ(cover({{5, 70, 0}, {5, 3, 1}, {5, 40, 2}}, 2, 8), 3u); }

TEST(packing_cover, of_nothing_is_nothing) {
    EXPECT_EQ(cover({}, 2, 8), 0u);
    EXPECT_EQ(cover({}, 0, 0), 0u);
}

TEST(packing_cover_law, is_never_more_than_the_least_that_has_to_leave) {
    std::size_t proofs = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> weights(random.between(1, 7));
        std::ranges::generate(weights, [&] { return random.between(1, 12); });
        std::ranges::sort(weights, std::greater{});
        auto items = of_weights(weights);
        for (auto& item : items) {
            item.cost = seed % 2 == 0 ? item.cost : random.up_to(9);
        }
        std::size_t const ranks = random.between(1, 3);
        std::uint64_t const capacity = random.between(4, 16);
        auto const least = cheapest(items, ranks, capacity);
        auto const proven = cover(items, ranks, capacity);
        EXPECT_LE(proven, least) << "seed " << seed;
        proofs += proven > 0 && proven == least ? 1U : 0U;
    }
    EXPECT_GT(proofs, 100u);
}

}  // namespace
}  // namespace evenkeel::detail::packing_cover_test
