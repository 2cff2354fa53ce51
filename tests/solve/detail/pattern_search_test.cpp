// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/pattern_search.hpp>
#include <evenkeel/solve/detail/wide_mixture.hpp>
#include <evenkeel/solve/detail/wide_pattern.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::pattern_search_test {
namespace {

/// Sizes of different weights, heaviest first, and a mixture in which an item of each is worth one over some number.
struct priced {
    explicit priced(std::uint64_t seed) {
        test::seeded random{seed};
        std::uint64_t weight = random.between(1, 5);
        for (std::uint64_t size = random.between(1, 6); size > 0; --size) {
            sizes.insert(sizes.begin(), {weight, random.between(1, 3)});
            weight += random.between(1, 30);
        }
        mixture.reset(sizes.size());
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            wide_pattern pattern;
            pattern.add(size, random.between(1, 9));
            mixture.begin_with(pattern, wide_mixture::whole, size);
        }
    }

    std::vector<size_count> sizes;
    wide_mixture mixture;
};

/// The most that items of the sizes from `first` on are worth, every number of each tried.
std::int64_t most_worth(priced const& of, std::size_t first, std::uint64_t room) {
    if (first == of.sizes.size()) {
        return 0;
    }
    std::int64_t most = 0;
    auto const [weight, count] = of.sizes[first];
    for (std::uint64_t number = 0; number <= count && number * weight <= room; ++number) {
        most = std::max(most, static_cast<std::int64_t>(number) * of.mixture.price(first) +
                                  most_worth(of, first + 1, room - number * weight));
    }
    return most;
}

TEST(pattern_search, finds_what_is_worth_most) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        priced const of{seed};
        pattern_search search;
        search.reset(of.sizes);
        search.set_prices(of.mixture);
        std::uint64_t const room = test::seeded{seed}.up_to(150);
        std::int64_t const most = most_worth(of, 0, room);

        EXPECT_EQ(search(room, 0, 100'000), most > 0) << seed;
        EXPECT_TRUE(search.complete()) << seed;
        EXPECT_EQ(search.worth(), most) << seed;
        std::int64_t worth = 0;
        std::uint64_t weight = 0;
        for_each_size(most > 0 ? search.best() : wide_pattern{}, [&](std::size_t size, std::int64_t number) {
            worth += number * of.mixture.price(size);
            weight += static_cast<std::uint64_t>(number) * of.sizes[size].weight;
        });
        EXPECT_EQ(worth, most) << seed;
        EXPECT_LE(weight, room) << seed;
        EXPECT_FALSE(search(room, most, 100'000)) << seed;
        EXPECT_TRUE(search.complete()) << seed;
    }
}

TEST(pattern_search, tells_that_it_ran_out_of_steps) {
    priced const of{7};
    pattern_search search;
    search.reset(of.sizes);
    search.set_prices(of.mixture);
    EXPECT_FALSE(search(150, 0, 1));
    EXPECT_FALSE(search.complete());
}

TEST(pattern_search, tells_that_patterns_hold_more_than_it_takes) {
    std::vector<size_count> const sizes{{1, 1000}};
    wide_mixture mixture;
    mixture.reset(1);
    wide_pattern pattern;
    pattern.add(0, 1);
    mixture.begin_with(pattern, wide_mixture::whole, 0);
    pattern_search search;
    search.reset(sizes);
    search.set_prices(mixture);
    EXPECT_TRUE(search(1000, 0, 100'000));
    EXPECT_FALSE(search.complete());
}

}  // namespace
}  // namespace evenkeel::detail::pattern_search_test
