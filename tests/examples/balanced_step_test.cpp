// SPDX-License-Identifier: Apache-2.0
#include "examples/support/balanced_step.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::examples {
namespace {

struct ran {
    std::vector<std::vector<phase_outcome>> outcomes;  ///< per rank
    exchange_report sum;
};

/// One step of one phase on threads, `drawn[r]` the lengths of rank r, two ranks to a node.
ran run(std::vector<std::vector<std::uint64_t>> const& drawn, std::uint64_t bytes_per_token,
        method how = method::stay) {
    ran result;
    result.outcomes.resize(drawn.size());
    std::vector<exchange_report> checked(drawn.size());
    comm::run_threads(uniform_topology({drawn.size()}, {2}), [&](comm::communicator& world) {
        auto const rank = to_index(world.rank());
        result.outcomes[rank] =
            balance_step(world, {.first_sample = 100, .lengths = {drawn[rank]}}, how, bytes_per_token, checked[rank]);
    });
    for (auto const& one : checked) {
        result.sum.bytes += one.bytes;
        result.sum.inter_node_bytes += one.inter_node_bytes;
        result.sum.wrong += one.wrong;
    }
    return result;
}

TEST(balance_step, moves_what_the_plan_says_and_finds_every_byte_right) {
    auto const done = run({{9, 1}, {5, 4}, {}, {30}}, 3);

    auto const& outcome = done.outcomes[0].front();
    EXPECT_EQ(outcome.loads_before, (std::vector<std::uint64_t>{10, 9, 0, 30}));
    EXPECT_EQ(outcome.before.max_load, 30U);
    EXPECT_EQ(outcome.after.max_load, 30U);
    EXPECT_EQ(outcome.after.gap(), 0);
    EXPECT_EQ(done.sum.wrong, 0U);
    EXPECT_EQ(done.sum.bytes, 3 * outcome.moves.moved);
    EXPECT_EQ(done.sum.inter_node_bytes, 3 * outcome.moves.between_nodes);
}

TEST(balance_step, moves_less_between_nodes_by_each_method_than_by_the_one_before) {
    std::vector<std::vector<std::uint64_t>> const drawn{{7, 7, 7}, {1, 2, 3}, {40, 1, 1}, {5, 6, 8}};
    auto const scratch = run(drawn, 2, method::scratch);
    auto const relabel = run(drawn, 2, method::relabel);
    auto const stay = run(drawn, 2, method::stay);
    EXPECT_EQ(scratch.outcomes[0].front().after, relabel.outcomes[0].front().after);
    EXPECT_LE(relabel.sum.inter_node_bytes, scratch.sum.inter_node_bytes);
    EXPECT_LE(stay.sum.inter_node_bytes, relabel.sum.inter_node_bytes);
    for (auto const* const one : {&scratch, &relabel, &stay}) {
        EXPECT_EQ(one->sum.wrong, 0U);
        EXPECT_EQ(one->sum.inter_node_bytes, 2 * one->outcomes[0].front().moves.between_nodes);
    }
}

TEST(balance_step, gives_every_rank_the_same_figures) {
    auto const done = run({{7, 7, 7}, {1, 2, 3}, {40, 0, 0}, {5, 5, 5}}, 1);
    for (auto const& rank : done.outcomes) {
        EXPECT_EQ(rank.front().after, done.outcomes[0].front().after);
        EXPECT_EQ(rank.front().moves, done.outcomes[0].front().moves);
        EXPECT_EQ(rank.front().loads_after, done.outcomes[0].front().loads_after);
    }
}

TEST(balance_step, moves_nothing_where_nobody_has_anything) {
    auto const done = run({{0, 0}, {0}, {}, {0}}, 8);
    EXPECT_EQ(done.sum.bytes, 0U);
    EXPECT_EQ(done.outcomes[0].front().before.imbalance(), 1);
    EXPECT_EQ(done.outcomes[0].front().after.gap(), 0);
}

}  // namespace
}  // namespace evenkeel::examples
