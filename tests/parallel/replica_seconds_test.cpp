// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <gtest/gtest.h>

#include <evenkeel/parallel/replica_seconds.hpp>

#include "builders.hpp"

namespace evenkeel::replica_seconds_test {
namespace {

/// A stack that takes three seconds per micro-batch and stage, whatever its size.
submodule steady(std::size_t layers, std::size_t stages) {
    return {.name = "tower",
            .layers = layers,
            .time = time_table{{{.micro_batch = 1, .seconds = 3.0 * static_cast<double>(stages)}}}};
}

TEST(replica_seconds, follow_the_closed_form_of_distmm_pipe) {
    // Fig. 6: 4 stages, forward 1, backward 2, sync 1, 16 micro-batches in groups of 4.
    auto const of = steady(4, 4);
    modality_role const role{.sample_seconds = 0.25};
    replica_load const load{.per_sync = 4, .share = 4, .micro_batch = 1, .group = 4, .syncs = 4};
    EXPECT_EQ(replica_seconds(of, role, test::roomy(4, 1), {.pp = 4}, split_stages(of, 4), load), 61);
}

TEST(replica_seconds, wait_for_the_heaviest_stage) {
    auto const of = steady(5, 5);
    replica_load const load{.per_sync = 4, .share = 4, .micro_batch = 1, .group = 4};
    // Of five layers, two stages have two and three: the pace is 9.
    EXPECT_DOUBLE_EQ(*replica_seconds(of, {}, test::roomy(4, 1), {.pp = 2}, split_stages(of, 2), load), 5 * 9);
}

TEST(replica_seconds, of_a_rate_have_everything_in_them) {
    auto const of = test::rated("image", 1.5, 4, 4);
    replica_load const load{.replicas = 3, .per_sync = 24, .share = 8, .micro_batch = 2, .group = 4, .syncs = 3};
    EXPECT_EQ(replica_seconds(of, {}, test::roomy(8, 8), {.tp = 4, .pp = 4}, split_stages(of, 4), load), 36);
}

TEST(replica_seconds, are_not_known_for_a_degree_that_was_not_measured) {
    auto const of = steady(4, 1);
    EXPECT_EQ(replica_seconds(of, {}, test::roomy(4, 8), {.tp = 2}, split_stages(of, 1), {}), std::nullopt);
}

TEST(replica_seconds, share_the_interaction_over_tensor_parallel_gpus) {
    auto of = steady(4, 1);
    of.time = time_table{{{.micro_batch = 1, .tp = 2, .seconds = 3}}};
    modality_role const role{.sample_seconds = 4, .pair_seconds = 1};
    replica_load const load{.per_sync = 10, .share = 1, .micro_batch = 1, .group = 1, .syncs = 2};
    EXPECT_EQ(replica_seconds(of, role, test::roomy(1, 2), {.tp = 2}, split_stages(of, 1), load),
              2 * 3 + 2 * (4 + 10) / 2);
}

TEST(compute_seconds, are_flops_over_what_is_achieved) {
    submodule of{.name = "tower", .parameters = 100, .hidden = 8, .tokens = 10};
    of.time = flops_time{.flops_per_second = 1000, .best_efficiency = 0.5};
    EXPECT_DOUBLE_EQ(*compute_seconds(of, 4, 2), 4 * 6 * 100 * 10 / (2 * 1000 * 0.5));
    // Half as efficient at half_efficiency = micro-batch * tokens * hidden / tp.
    of.time = flops_time{.flops_per_second = 1000, .best_efficiency = 0.5, .half_efficiency = 4 * 10 * 8 / 2};
    EXPECT_DOUBLE_EQ(*compute_seconds(of, 4, 2), 2 * 4 * 6 * 100 * 10 / (2 * 1000 * 0.5));
    of.time = flops_time{.flops_per_sample = 50, .flops_per_second = 1000};
    EXPECT_DOUBLE_EQ(*compute_seconds(of, 4, 1), 0.2);
}

TEST(tensor_seconds, are_four_all_reduces_per_layer_of_what_is_not_measured) {
    submodule of{.name = "tower", .layers = 3, .hidden = 8, .tokens = 10, .value_bytes = 2};
    of.time = flops_time{.flops_per_sample = 1, .flops_per_second = 1};
    auto const cluster = test::v100s();
    EXPECT_DOUBLE_EQ(tensor_seconds(of, cluster, 5, packed(4, 8)),
                     12 * all_reduce_seconds(cluster, 5 * 10 * 8 * 2, {.nodes = 1, .on_one_node = 4}));
    EXPECT_EQ(tensor_seconds(of, cluster, 5, packed(1, 8)), 0);
    of.time = time_table{{{.micro_batch = 1, .tp = 4, .seconds = 1}}};
    EXPECT_EQ(tensor_seconds(of, cluster, 5, packed(4, 8)), 0);
}

}  // namespace
}  // namespace evenkeel::replica_seconds_test
