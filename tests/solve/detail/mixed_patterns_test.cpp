// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/mixed_bound.hpp>
#include <evenkeel/solve/detail/mixed_patterns.hpp>
#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::mixed_patterns_test {
namespace {

using weights = std::vector<std::uint64_t>;

/// Items in falling order: what each weighs padded and packed.
struct two_weights {
    weights padded;
    weights packed;

    void add(std::size_t count, std::uint64_t padded_weight, std::uint64_t packed_weight) {
        padded.insert(padded.end(), count, padded_weight);
        packed.insert(packed.end(), count, packed_weight);
    }
};

/// The bound before the sizes are looked at, and after.
struct bounds {
    std::uint64_t by_weight = 0;
    std::uint64_t by_patterns = 0;
};

bounds bounds_of(two_weights const& items, std::size_t ranks, std::uint64_t busiest, std::uint64_t effort = 100'000) {
    weights whole;
    for (std::size_t item = 0; item < items.padded.size(); ++item) {
        whole.push_back(items.padded[item] + items.packed[item]);
    }
    sorted_items sorted;
    sort_items("test", whole, sorted);
    mixed_sizes sizes;
    sizes.assign(sorted, items.padded);
    step_budget steps{effort};
    mixed_patterns patterns;
    std::uint64_t const bound = mixed_bound(sizes, ranks);
    return {bound, patterns(sizes, ranks, bound, busiest, steps)};
}

/// The least load of the busiest rank, over all partitions.
std::uint64_t optimum(two_weights const& items, std::size_t ranks) {
    struct rank_load {
        std::uint64_t count = 0;
        std::uint64_t longest = 0;
        std::uint64_t packed = 0;
    };
    std::vector<rank_load> loads(ranks);
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    auto const place = [&](auto const& self, std::size_t item) -> void {
        if (item == items.padded.size()) {
            std::uint64_t busiest = 0;
            for (auto const& [count, longest, packed] : loads) {
                busiest = std::max(busiest, count * longest + packed);
            }
            best = std::min(best, busiest);
            return;
        }
        for (auto& own : loads) {
            auto const before = own;
            own = {own.count + 1, std::max(own.longest, items.padded[item]), own.packed + items.packed[item]};
            self(self, item + 1);
            own = before;
        }
    };
    place(place, 0);
    return best;
}

/// 78 unpadded on four ranks are 20 each, which 5 5 5 5 makes; but the 8s make 16, or 18 with a 5. So it is 21.
two_weights eights_and_fives() {
    two_weights items;
    items.add(6, 0, 8);
    items.add(6, 0, 5);
    return items;
}

TEST(mixed_patterns, see_which_sums_the_sizes_can_make) {
    EXPECT_EQ(bounds_of(eights_and_fives(), 4, 100).by_weight, 20u);
    EXPECT_EQ(bounds_of(eights_and_fives(), 4, 100).by_patterns, 21u);
}

TEST(mixed_patterns, see_what_items_pad_each_other) {
    // Below 20 no two of the long ones are together, and beside one there is one short one at most, 2 * 4 + 6 + 2, as
    // with two it is 22. So one of the five short ones is left.
    two_weights items;
    items.add(4, 4, 6);
    items.add(5, 1, 2);
    EXPECT_EQ(bounds_of(items, 4, 100).by_weight, 16u);
    EXPECT_EQ(bounds_of(items, 4, 100).by_patterns, 20u);
    EXPECT_EQ(optimum(items, 4), 20u);
}

TEST(mixed_patterns, prove_no_more_than_they_were_asked_for) {
    EXPECT_EQ(bounds_of(eights_and_fives(), 4, 20).by_patterns, 20u);
    EXPECT_EQ(bounds_of(eights_and_fives(), 4, 21).by_patterns, 21u);
}

TEST(mixed_patterns, prove_nothing_without_effort) {
    EXPECT_EQ(bounds_of(eights_and_fives(), 4, 100, 1).by_patterns, 20u);
}

TEST(mixed_patterns, are_never_above_the_optimum) {
    std::size_t raised = 0;
    std::size_t tight = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        test::seeded random{seed};
        two_weights items;
        std::uint64_t padded = random.between(0, 40);
        std::uint64_t packed = random.between(20, 60);
        while (items.padded.size() < 8 && padded + packed > 0) {
            items.add(std::min<std::size_t>(random.between(1, 4), 8 - items.padded.size()), padded, packed);
            padded -= random.between(0, padded);
            packed -= random.between(0, packed);
        }
        std::size_t const ranks = random.between(1, 3);
        std::uint64_t const best = optimum(items, ranks);
        auto const [by_weight, by_patterns] = bounds_of(items, ranks, best + 5);
        ASSERT_LE(by_patterns, best) << "seed " << seed;
        ASSERT_GE(by_patterns, by_weight);
        raised += by_patterns > by_weight ? 1 : 0;
        tight += by_patterns == best && by_weight < best ? 1 : 0;
    }
    EXPECT_GT(raised, 100u);
    EXPECT_GT(tight, 10u);
}

TEST(mixed_patterns, hold_at_the_end_of_the_number_range) {
    constexpr std::uint64_t large = std::uint64_t{1} << 58;
    two_weights items;
    items.add(3, large, large);
    items.add(3, 1, 1);
    EXPECT_LE(bounds_of(items, 2, std::numeric_limits<std::uint64_t>::max()).by_patterns, 6 * large);
}

TEST(mixed_patterns, weigh_more_than_the_number_range_where_items_are_worth_little) {
    // The least that some of these weigh which are worth a rank's share does not fit, beside what a rank already holds.
    two_weights items;
    items.add(1, 597694614528359460, 1736503458388762080);
    items.add(1, 564827535633930632, 1641013563081023936);
    items.add(1, 484051308957341748, 1406331513803774304);
    items.add(1, 140939508384395980, 409476575134011040);
    items.add(1, 95293906947835568, 276860783008513664);
    items.add(1, 29346412653071668, 85261178241626464);
    std::uint64_t const best = optimum(items, 2);
    EXPECT_LE(bounds_of(items, 2, best).by_patterns, best);
    EXPECT_LE(bounds_of(items, 2, std::uint64_t{1} << 62).by_patterns, best);
}

}  // namespace
}  // namespace evenkeel::detail::mixed_patterns_test
