// SPDX-License-Identifier: Apache-2.0
#include "examples/support/summary.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::examples::summary_test {
namespace {

/// A step of 2 ranks with a total load of 20: `before` and `after` are the largest loads, `bound` the lower bound.
phase_outcome step(std::uint64_t before, std::uint64_t after, std::uint64_t bound, double plan_ms) {
    phase_outcome result;
    result.before = {before, 20, bound, {2}};
    result.after = {after, 20, bound, {2}};
    result.moves = {.total = 20, .moved = 8, .between_nodes = 2, .nodes = 1, .node_to_node = {8}};
    result.plan_ms = plan_ms;
    result.loads_before = {before, 20 - before};
    result.loads_after = {after, 20 - after};
    return result;
}

TEST(summary, takes_imbalance_and_gap_of_the_worst_step_and_the_median_time) {
    auto collected = summary{{"llm"}};
    for (auto const& one : {step(15, 12, 12, 1), step(18, 11, 10, 9), step(12, 10, 10, 2)}) {
        collected.add({.phases = {one}, .bytes = {{.name = "llm", .text = {9, 4}}}, .composed_saving = 5});
    }
    EXPECT_EQ(collected.composed_saving(), 15U);
    EXPECT_EQ(collected.by_phase(), (std::vector<phase_bytes>{{.name = "llm", .text = {27, 12}}}));

    auto const llm = collected.report().front();
    EXPECT_EQ(llm.name, "llm");
    EXPECT_DOUBLE_EQ(llm.imbalance_before, 1.8);
    EXPECT_DOUBLE_EQ(llm.imbalance_after, 1.2);
    EXPECT_DOUBLE_EQ(llm.lower_bound_over_mean, 1.2);
    EXPECT_DOUBLE_EQ(llm.gap, 0.1);
    EXPECT_DOUBLE_EQ(llm.plan_ms, 2);
    EXPECT_DOUBLE_EQ(llm.moved_share, 0.4);
    EXPECT_DOUBLE_EQ(llm.inter_node_share, 0.1);
    EXPECT_EQ(llm.max_tokens_before, 18U);
    EXPECT_EQ(llm.max_tokens_after, 12U);
}

TEST(summary, weighs_shares_by_the_length_of_each_step) {
    auto collected = summary{{"llm"}};
    auto small = step(10, 10, 10, 1);
    small.moves = {.total = 10, .moved = 10, .between_nodes = 10, .nodes = 1, .node_to_node = {10}};
    auto large = step(10, 10, 10, 1);
    large.moves = {.total = 30, .moved = 0, .between_nodes = 0, .nodes = 1, .node_to_node = {0}};
    collected.add({.phases = {small}});
    collected.add({.phases = {large}});

    EXPECT_DOUBLE_EQ(collected.report().front().moved_share, 0.25);
    EXPECT_DOUBLE_EQ(collected.report().front().inter_node_share, 0.25);
}

TEST(summary, says_imbalance_1_gap_0_and_no_share_for_a_phase_without_load) {
    auto collected = summary{{"image"}};
    phase_outcome nothing;
    nothing.before = nothing.after = {0, 0, 0, {2}};
    nothing.loads_before = nothing.loads_after = {0, 0};
    collected.add({.phases = {nothing}});

    auto const image = collected.report().front();
    EXPECT_EQ(image.imbalance_before, 1);
    EXPECT_EQ(image.imbalance_after, 1);
    EXPECT_EQ(image.lower_bound_over_mean, 1);
    EXPECT_EQ(image.gap, 0);
    EXPECT_EQ(image.moved_share, 0);
    EXPECT_EQ(image.inter_node_share, 0);
}

TEST(summary, keeps_the_loads_of_the_first_step_to_be_drawn) {
    auto collected = summary{{"llm"}};
    for (auto const& one : {step(15, 12, 12, 1), step(18, 11, 10, 9)}) {
        collected.add({.phases = {one}});
    }

    auto const drawn = collected.first_loads().front();
    EXPECT_EQ(drawn.before, (std::vector<std::uint64_t>{15, 5}));
    EXPECT_EQ(drawn.after, (std::vector<std::uint64_t>{12, 8}));
    EXPECT_EQ(drawn.lower_bound, 12U);
}

}  // namespace
}  // namespace evenkeel::examples::summary_test
