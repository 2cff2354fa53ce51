// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <gtest/gtest.h>

#include <evenkeel/parallel/colocate.hpp>

#include "builders.hpp"

namespace evenkeel::colocate_test {
namespace {

std::optional<colocated_plan> colocated(multimodal_model const& model, cluster const& cluster, std::uint64_t per_sync,
                                        std::uint64_t syncs = 1, recomputation again = recomputation::none) {
    return colocate(model, roles_of(model), cluster, per_sync, syncs, again);
}

TEST(colocate, takes_the_5_units_of_figure_4) {
    auto const plan = colocated(test::figure_4(), test::roomy(1, 4), 12);
    EXPECT_DOUBLE_EQ(plan->seconds, 5);
    EXPECT_EQ(plan->tp, 1u);
    EXPECT_EQ(plan->load.share, 3u);
}

TEST(colocate, takes_the_5_units_of_figure_3) {
    // Tensor parallel over four GPUs: 2 units at 10 % of a GPU, then 3 at 30 %.
    multimodal_model const model{
        .submodules = {test::rated("blue", 4, 1, 1, 8), test::rated("orange", 3.6 / (3 * 0.35), 3, 1, 4)}};
    EXPECT_DOUBLE_EQ(colocated(model, test::roomy(1, 4), 1)->seconds, 5);
}

TEST(colocate, keeps_the_work_of_a_rate) {
    // 72 * (2 * 4 + 1.5 * 16) GPU-seconds over 64 GPUs.
    EXPECT_DOUBLE_EQ(colocated(test::figure_2(), test::roomy(8, 8), 72)->seconds, 36);
}

/// Two towers of 4 GB with 1 GB per sample, 10 TFLOP/s.
multimodal_model towers() {
    submodule one{.name = "one",
                  .layers = 4,
                  .parameters = 1e9,
                  .tokens = 100,
                  .weight_bytes = 2,
                  .gradient_bytes = 2,
                  .optimizer_bytes = 0,
                  .activation_bytes = 1e9,
                  .time = flops_time{.flops_per_second = 1e13}};
    auto other = one;
    other.name = "other";
    return {.submodules = {one, other}};
}

TEST(colocate, adds_up_computing_and_one_all_reduce_of_all_gradients) {
    auto cluster = test::roomy(2, 4);
    cluster.inter_bandwidth = 1e10;
    auto model = towers();
    model.submodules[0].heads = 1;
    auto const plan = colocated(model, cluster, 16);
    // Two samples of each tower per GPU, 2 GB of gradients of each.
    EXPECT_DOUBLE_EQ(plan->spent.computing, 2 * 2 * 6e11 / 1e13);
    EXPECT_DOUBLE_EQ(plan->spent.gradients, 2 * 3.0 / 4 * 4e9 / 1e12 + 4e9 / 1e10);
    EXPECT_DOUBLE_EQ(plan->bytes, 2 * 4e9 + 2 * 2 * 1e9);
}

TEST(colocate, cuts_tensors_as_far_as_memory_asks) {
    auto cluster = test::roomy(2, 4);
    cluster.memory_bytes = 8e9;
    cluster.inter_bandwidth = 1e10;
    auto model = towers();
    model.submodules[1].heads = 2;
    auto const plan = colocated(model, cluster, 16);
    // 4 GB and 4 samples of 1 GB at tp 2; the whole 8 GB at tp 1.
    EXPECT_EQ(plan->tp, 2u);
    EXPECT_EQ(plan->bytes, 8e9);
    // Two GPUs of a node hold different gradients, 2 GB each, and share its way out.
    EXPECT_DOUBLE_EQ(plan->spent.gradients, 2e9 / 1e12 + 2 * 2e9 / 1e10);
    cluster.memory_bytes = 6e9;
    EXPECT_FALSE(colocated(model, cluster, 16));
    EXPECT_TRUE(colocated(model, cluster, 8, 2));
}

TEST(colocate, may_run_forward_twice_instead_of_keeping_activations) {
    auto cluster = test::roomy(1, 1);
    cluster.memory_bytes = 10e9;
    EXPECT_FALSE(colocated(towers(), cluster, 16));
    auto const again = colocated(towers(), cluster, 16, 1, recomputation::features);
    ASSERT_TRUE(again);
    EXPECT_DOUBLE_EQ(again->bytes, 10e9);
    EXPECT_EQ(again->load.micro_batch, 1u);
    EXPECT_NEAR(again->seconds, 16 * 2 * 6e11 / 1e13 * 4 / 3, 1e-9);
}

TEST(colocate, accumulates_micro_batches_before_an_llm) {
    auto model = towers();
    model.interaction.kind = interaction_kind::join;
    model.submodules[1].inputs = {"one"};
    auto cluster = test::roomy(1, 1);
    cluster.memory_bytes = 10e9;
    auto const plan = colocated(model, cluster, 16);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->load.micro_batch, 1u);
    EXPECT_NEAR(plan->seconds, 16 * 2 * 6e11 / 1e13, 1e-9);
}

TEST(colocate, has_no_time_for_a_degree_that_was_not_measured) {
    auto model = towers();
    for (auto& one : model.submodules) {
        one.time = time_table{{{.micro_batch = 1, .tp = 4, .seconds = 1}}};
    }
    EXPECT_EQ(colocated(model, test::roomy(1, 4), 2)->tp, 4u);
    EXPECT_FALSE(colocated(model, test::roomy(1, 2), 2));
    EXPECT_FALSE(colocated(model, test::roomy(3, 3), 2));
}

TEST(colocate, spans_whole_nodes_where_a_node_is_too_small) {
    auto cluster = test::v100s(2);
    auto model = towers();
    for (auto& one : model.submodules) {
        one.parameters = 25e9;
        one.activation_bytes = 1e6;
        one.hidden = 1000;
    }
    auto const plan = colocated(model, cluster, 2);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->tp, 16u);
    EXPECT_GT(plan->spent.tensor, 0);
    EXPECT_EQ(plan->spent.gradients, 0);
}

}  // namespace
}  // namespace evenkeel::colocate_test
