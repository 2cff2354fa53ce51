// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/solve/detail/cheap_relief.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::cheap_relief_test {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// Items at home, on ranks of which each node has as many.
struct drawn_state {
    std::vector<std::uint64_t> weights;  ///< in falling order, with no divisor, so that items are these in this order
    std::vector<std::uint32_t> homes;    ///< ranks
    std::size_t ranks = 0;
    std::size_t ranks_per_node = 0;
    std::vector<std::uint32_t> nodes_of_ranks{};
    stay_items items{};
    node_ranks by_node{};
    stay_state state{};

    void start() {
        nodes_of_ranks.resize(ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            nodes_of_ranks[rank] = static_cast<std::uint32_t>(rank / ranks_per_node);
        }
        std::size_t const nodes = ranks / ranks_per_node;
        items.assign("test", {.weights = weights,
                              .bytes = weights,
                              .home_ranks = homes,
                              .home_nodes = {},
                              .classes = {},
                              .nodes_of_ranks = nodes_of_ranks,
                              .nodes = nodes});
        by_node.assign(nodes_of_ranks, nodes);
        state.go_home(items, by_node);
    }

    [[nodiscard]] std::vector<std::uint64_t> loads() const {
        std::vector<std::uint64_t> result(ranks);
        for (std::uint32_t item = 0; item < items.size(); ++item) {
            result[state.rank_of(item)] += items.weight(item);
        }
        return result;
    }

    [[nodiscard]] std::uint64_t away() const {
        std::uint64_t result = 0;
        for (std::uint32_t item = 0; item < items.size(); ++item) {
            result += nodes_of_ranks[state.rank_of(item)] == items.home_node(item) ? 0 : items.weight(item);
        }
        return result;
    }
};

TEST(cheap_relief, exchanges_what_costs_least_with_whichever_rank_has_room) {
    // Rank 0 has 2 too much, and the other rank of its node no room: 4 for 2 of rank 2, not 9 for 7 of rank 3.
    drawn_state drawn{
        .weights = {12, 9, 8, 7, 5, 4, 2, 1}, .homes = {1, 0, 2, 3, 3, 0, 2, 0}, .ranks = 4, .ranks_per_node = 2};
    drawn.start();
    ASSERT_EQ(drawn.loads(), (std::vector<std::uint64_t>{14, 12, 10, 12}));
    cheap_relief relieve;
    step_budget steps{100'000};
    EXPECT_TRUE(relieve(drawn.state, 12, no_limit, steps));
    EXPECT_EQ(drawn.loads(), (std::vector<std::uint64_t>{12, 12, 12, 12}));
    EXPECT_EQ(drawn.state.cost_between_nodes(), 6u);
    EXPECT_EQ(drawn.state.rank_of(5), 2u);
    EXPECT_EQ(drawn.state.rank_of(6), 0u);
}

TEST(cheap_relief, takes_several_exchanges_where_no_rank_has_room_for_all) {
    drawn_state drawn{.weights = {11, 9, 9, 3, 2}, .homes = {0, 1, 2, 0, 0}, .ranks = 3, .ranks_per_node = 1};
    drawn.start();
    cheap_relief relieve;
    step_budget steps{100'000};
    EXPECT_TRUE(relieve(drawn.state, 12, no_limit, steps));
    auto const loads = drawn.loads();
    EXPECT_LE(*std::ranges::max_element(loads), 12u);
    EXPECT_EQ(drawn.state.cost_between_nodes(), 5u);
}

TEST(cheap_relief, gives_up_where_there_is_no_room_or_the_bytes_cost_too_much) {
    for (std::uint64_t const below : {std::uint64_t{0}, no_limit}) {
        drawn_state drawn{.weights = {11, 10, 1}, .homes = {0, 1, 0}, .ranks = 2, .ranks_per_node = 1};
        drawn.start();
        cheap_relief relieve;
        step_budget steps{100'000};
        EXPECT_EQ(relieve(drawn.state, 11, below, steps), below == no_limit);
        EXPECT_FALSE(relieve(drawn.state, 10, no_limit, steps));
    }
}

/// What the cheapest single exchange between rank 0 and any other costs, by trying all.
std::optional<std::int64_t> cheapest_exchange(drawn_state const& drawn, std::uint64_t target) {
    auto const loads = drawn.loads();
    std::vector<std::vector<std::uint32_t>> held(drawn.ranks);
    for (std::uint32_t item = 0; item < drawn.items.size(); ++item) {
        held[drawn.state.rank_of(item)].push_back(item);
    }
    std::optional<std::int64_t> best;
    for (std::uint32_t other = 1; other < drawn.ranks; ++other) {
        std::size_t const own = held[0].size();
        for (std::size_t set = 0; set < std::size_t{1} << (own + held[other].size()); ++set) {
            std::uint64_t given = 0;
            std::uint64_t taken = 0;
            std::int64_t cost = 0;
            for (std::size_t bit = 0; bit < own + held[other].size(); ++bit) {
                if ((set >> bit & 1) == 0) {
                    continue;
                }
                bool const gives = bit < own;
                std::uint32_t const item = gives ? held[0][bit] : held[other][bit - own];
                std::uint32_t const from = drawn.nodes_of_ranks[gives ? 0 : other];
                std::uint32_t const to = drawn.nodes_of_ranks[gives ? other : 0];
                auto const weight = static_cast<std::int64_t>(drawn.items.weight(item));
                (gives ? given : taken) += drawn.items.weight(item);
                cost += (to == drawn.items.home_node(item) ? 0 : weight) -
                        (from == drawn.items.home_node(item) ? 0 : weight);
            }
            if (loads[0] + taken - given <= target && loads[other] + given - taken <= target &&
                (!best || cost < *best)) {
                best = cost;
            }
        }
    }
    return best;
}

TEST(cheap_relief, finds_the_cheapest_exchange_of_all_in_random_states) {
    std::size_t relieved = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        test::seeded random{seed};
        std::size_t const ranks = 2 * random.between(1, 3);
        drawn_state drawn{.weights = {}, .homes = {}, .ranks = ranks, .ranks_per_node = 2};
        // All different, up to four on each rank, one of them of weight 1.
        for (std::uint64_t weight = 1; drawn.weights.size() < 4 * ranks; weight += random.between(1, 8)) {
            drawn.weights.insert(drawn.weights.begin(), weight);
            drawn.homes.push_back(static_cast<std::uint32_t>(drawn.homes.size() % ranks));
        }
        for (std::size_t item = drawn.homes.size(); item-- > 1;) {
            std::swap(drawn.homes[item], drawn.homes[random.up_to(item)]);
        }
        drawn.start();
        // Some are away from home already.
        for (std::size_t pair = 0; pair < ranks; ++pair) {
            std::uint32_t const item = static_cast<std::uint32_t>(random.up_to(drawn.items.size() - 1));
            std::uint32_t const to = static_cast<std::uint32_t>(random.up_to(ranks - 1));
            std::uint32_t const from = drawn.state.rank_of(item);
            if (drawn.nodes_of_ranks[from] == drawn.nodes_of_ranks[to]) {
                drawn.state.seat(item, to);
            } else {
                drawn.state.move(item, drawn.nodes_of_ranks[from], drawn.nodes_of_ranks[to], to);
            }
        }
        std::vector<std::size_t> held(ranks);
        for (std::uint32_t item = 0; item < drawn.items.size(); ++item) {
            ++held[drawn.state.rank_of(item)];
        }
        // Rank 0 alone is above the target, and all take part with all they have.
        auto const before = drawn.loads();
        std::uint64_t const others = *std::max_element(before.begin() + 1, before.end());
        if (*std::ranges::max_element(held) > 6 || others + 2 > before[0]) {
            continue;
        }
        std::uint64_t const target = random.between(others, before[0] - 1);
        auto const least = cheapest_exchange(drawn, target);
        std::uint64_t const away = drawn.state.cost_between_nodes();
        cheap_relief relieve;
        step_budget steps{1'000'000};
        bool const reached = relieve(drawn.state, target, no_limit, steps);
        auto const after = drawn.loads();
        EXPECT_EQ(drawn.state.cost_between_nodes(), drawn.away());
        EXPECT_EQ(std::accumulate(after.begin(), after.end(), std::uint64_t{0}),
                  std::accumulate(before.begin(), before.end(), std::uint64_t{0}));
        EXPECT_LE(*std::max_element(after.begin() + 1, after.end()), target);
        EXPECT_LE(after[0], before[0]);
        EXPECT_EQ(after[0] <= target, reached);
        if (least) {
            EXPECT_TRUE(reached);
            EXPECT_EQ(static_cast<std::int64_t>(drawn.state.cost_between_nodes()),
                      static_cast<std::int64_t>(away) + *least);
            ++relieved;
        }
    }
    EXPECT_GT(relieved, 50u);
}

}  // namespace
}  // namespace evenkeel::detail::cheap_relief_test
