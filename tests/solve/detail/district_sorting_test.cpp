// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/solve/detail/district_bound.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/lower_bound.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::district_sorting_test {
namespace {

using testing::ElementsAre;

/// Nodes of two ranks, and what these have drawn.
struct drawing {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint32_t> homes;
    std::vector<std::uint32_t> nodes_of_ranks;
    stay_items items{};

    explicit drawing(std::size_t nodes) {
        for (std::uint32_t node = 0; node < nodes; ++node) {
            nodes_of_ranks.insert(nodes_of_ranks.end(), 2, node);
        }
    }

    void sort(std::size_t most_per_district) {
        items.assign("test",
                     {.weights = weights,
                      .bytes = weights,
                      .home_ranks = homes,
                      .home_nodes = {},
                      .classes = {},
                      .nodes_of_ranks = nodes_of_ranks,
                      .nodes = nodes_of_ranks.size() / 2},
                     most_per_district);
    }
};

TEST(district_sorting, puts_the_heaviest_of_each_district_first) {
    drawing drawn{4};
    drawn.weights = {4, 8, 0, 12, 2, 6, 6, 10};
    drawn.homes = {0, 1, 2, 3, 4, 5, 6, 7};
    drawn.sort(1);
    EXPECT_THAT(drawn.items.order(), ElementsAre(1, 0, 3, 5, 4, 7, 6));
    EXPECT_THAT(drawn.items.sorted.weights, ElementsAre(4, 2, 6, 3, 1, 5, 3)) << "in units of 2, that of all";
    EXPECT_THAT(drawn.items.district_ends(), ElementsAre(2, 3, 5, 7));
    EXPECT_FALSE(drawn.items.is_falling());
    EXPECT_EQ(drawn.items.heaviest(), 6u);
    EXPECT_EQ(drawn.items.lightest(), 1u);

    // One that is not worth dividing.
    drawn.sort(2);
    EXPECT_THAT(drawn.items.order(), ElementsAre(3, 7, 1, 5, 6, 0, 4));
    EXPECT_TRUE(drawn.items.is_falling());
}

TEST(district_sorting, refuses_a_total_that_exceeds_64_bits_although_no_district_does) {
    drawing drawn{4};
    drawn.homes = {0, 1, 2, 3, 4, 5, 6, 7};
    drawn.weights.assign(8, std::uint64_t{1} << 61);
    EXPECT_THAT([&] { drawn.sort(1); },
                testing::ThrowsMessage<std::overflow_error>("test: the total load exceeds 64 bits"));
    drawn.weights.back() -= 1;
    EXPECT_NO_THROW(drawn.sort(1));
}

class district_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(district_law, every_district_is_sorted_and_the_bound_is_that_of_all_items) {
    test::seeded random{GetParam()};
    std::size_t const nodes = random.between(1, 9);
    drawing drawn{nodes};
    std::uint64_t const unit = random.between(1, 3);
    std::uint64_t const heaviest = random.between(1, 3) == 1 ? 4 : 3000;
    drawn.weights.resize(random.up_to(120));
    for (auto& weight : drawn.weights) {
        weight = random.up_to(3) == 0 ? 0 : unit * random.between(1, heaviest);
        drawn.homes.push_back(static_cast<std::uint32_t>(random.up_to(2 * nodes - 1)));
    }
    if (random.up_to(1) == 0) {
        std::ranges::sort(drawn.homes);
    }
    std::size_t const most = random.between(1, 12);
    drawn.sort(most);
    auto const& items = drawn.items;

    std::vector<std::uint32_t> all(items.order().begin(), items.order().end());
    std::size_t first = 0;
    std::uint32_t node_before = 0;
    for (auto const end : items.district_ends()) {
        std::uint32_t last_node = node_before;
        for (std::size_t place = first; place < end; ++place) {
            EXPECT_TRUE(place == first || items.precedes(all[place - 1], all[place]));
            EXPECT_EQ(items.sorted.weights[place], items.weight(all[place]));
            EXPECT_GE(items.home_node(all[place]), node_before);
            last_node = std::max(last_node, items.home_node(all[place]));
        }
        node_before = last_node;
        first = end;
    }
    EXPECT_EQ(first, items.size());

    std::ranges::sort(all);
    std::vector<std::uint32_t> expected;
    std::uint64_t divisor = 0;
    for (std::uint32_t item = 0; item < drawn.weights.size(); ++item) {
        divisor = std::gcd(divisor, drawn.weights[item]);
        if (drawn.weights[item] > 0) {
            expected.push_back(item);
        }
    }
    EXPECT_EQ(all, expected);
    EXPECT_EQ(items.sorted.unit, std::max<std::uint64_t>(divisor, 1));
    if (items.size() > 0) {
        std::size_t const ranks = random.between(1, 40);
        sorted_items spare;
        EXPECT_EQ(lower_bound(items, ranks, spare) * items.sorted.unit,
                  evenkeel::lower_bound(drawn.weights, rank_count{ranks}));
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, district_law, testing::Range(std::uint64_t{0}, std::uint64_t{200}));

}  // namespace
}  // namespace evenkeel::detail::district_sorting_test
