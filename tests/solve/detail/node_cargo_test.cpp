// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/rebalance.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::node_cargo_test {
namespace {

std::uint32_t rank_of(rebalanced const& kept, std::uint32_t item) {
    for (std::uint32_t rank = 0; rank < kept.plan.ranks().value; ++rank) {
        for (auto const one : kept.plan[rank_id{rank}]) {
            if (one == item_id{item}) {
                return rank;
            }
        }
    }
    return ~std::uint32_t{0};
}

TEST(node_cargo, levels_ranks_of_a_node_with_many_light_items_before_one_of_another_class) {
    // Rank 0 has 10 too much: the item of 10, or the four of class 0.
    std::vector<std::uint64_t> const lengths{23, 10, 4, 3, 2, 1, 23};
    std::vector<std::uint8_t> const classes{1, 1, 0, 0, 0, 0, 1};
    auto const home = home_layout(std::vector<std::size_t>{6, 1});
    auto const kept =
        rebalance(lengths, home, uniform_topology({2}, {2}), linear_cost{}, {.tolerance = 0, .classes = classes});
    EXPECT_EQ(kept.quality.max_load, 33u);
    for (std::uint32_t item = 0; item < lengths.size(); ++item) {
        EXPECT_EQ(rank_of(kept, item), classes[item] == 1 ? (item == 6 ? 1u : 0u) : 1u) << item;
    }
}

TEST(node_cargo, leaves_it_to_all_items_where_those_of_class_0_do_not_do) {
    std::vector<std::uint64_t> const lengths{23, 10, 4, 3, 26};
    std::vector<std::uint8_t> const classes{1, 1, 0, 0, 1};
    auto const home = home_layout(std::vector<std::size_t>{4, 1});
    auto const kept =
        rebalance(lengths, home, uniform_topology({2}, {2}), linear_cost{}, {.tolerance = 0, .classes = classes});
    EXPECT_EQ(kept.quality.max_load, 33u);
    EXPECT_EQ(kept.quality.lower_bound, 33u);
}

TEST(node_cargo, keeps_most_of_the_other_classes_where_they_are_in_random_nodes) {
    std::uint64_t others = 0;
    std::uint64_t moved = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        test::seeded random{seed};
        std::vector<std::uint64_t> lengths;
        std::vector<std::uint8_t> classes;
        for (std::size_t item = 0; item < 8 * 30; ++item) {
            lengths.push_back(random.between(1, 200));
            classes.push_back(random.up_to(1) == 0 ? 0 : 1);
        }
        auto const home = home_layout(std::vector<std::size_t>(8, 30));
        auto const kept = rebalance(lengths, home, uniform_topology({8}, {8}), linear_cost{}, {.classes = classes});
        EXPECT_LE(kept.quality.gap(), 1e-3) << seed;
        for (std::uint32_t item = 0; item < lengths.size(); ++item) {
            others += classes[item];
            moved += classes[item] != 0 && rank_of(kept, item) != item / 30 ? 1U : 0U;
        }
    }
    EXPECT_LE(20 * moved, others);
}

}  // namespace
}  // namespace evenkeel::detail::node_cargo_test
