// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/communication.hpp>

#include "builders.hpp"

namespace evenkeel::communication_test {
namespace {

using testing::ElementsAre;

submodule tower() {
    return {.name = "tower",
            .layers = 8,
            .parameters = 1000,
            .hidden = 16,
            .tokens = 10,
            .time = flops_time{.flops_per_second = 1e12}};
}

TEST(communication_of, counts_every_pattern_of_a_step) {
    auto const of = tower();
    parallelism const cut{.tp = 4, .pp = 2};
    replica_load const load{.replicas = 3, .per_sync = 24, .share = 8, .micro_batch = 2, .group = 4, .syncs = 3};
    auto const tells = communication_of(of, cut, split_stages(of, 2), load);
    // Activations of a micro-batch: 2 samples * 10 tokens * 16 numbers * 2 bytes.
    EXPECT_EQ(tells.tensor_bytes, 640);
    EXPECT_THAT(tells.tensor_reduces, ElementsAre(4 * 4 * 12, 4 * 4 * 12));
    EXPECT_FALSE(tells.tensor_is_measured);
    EXPECT_EQ(tells.boundary_bytes, 2 * 24 * 10 * 16 * 2);
    EXPECT_EQ(tells.boundary_messages, 2 * 12);
    EXPECT_THAT(tells.gradient_bytes, ElementsAre(2 * 1000 / 8, 2 * 1000 / 8));
}

TEST(communication_of, has_no_gradients_to_add_up_for_a_single_replica) {
    auto const of = tower();
    replica_load const load{.replicas = 1, .per_sync = 8, .share = 8, .micro_batch = 2, .group = 4};
    EXPECT_THAT(communication_of(of, {.tp = 4, .pp = 2}, split_stages(of, 2), load).gradient_bytes, ElementsAre(0, 0));
}

TEST(communication_of, leaves_out_what_a_time_has_in_it) {
    auto measured = tower();
    measured.time = time_table{{{.micro_batch = 1, .tp = 4, .seconds = 1}}};
    replica_load const load{.replicas = 2, .per_sync = 2, .share = 1, .micro_batch = 1, .group = 1};
    auto const stages = split_stages(measured, 2);
    auto const of_table = communication_of(measured, {.tp = 4, .pp = 2}, stages, load);
    EXPECT_TRUE(of_table.tensor_is_measured);
    EXPECT_GT(of_table.boundary_bytes, 0);

    measured.time = seconds_per_sample{1};
    auto const of_rate = communication_of(measured, {.tp = 4, .pp = 2}, stages, load);
    EXPECT_EQ(of_rate.boundary_bytes, 0);
    EXPECT_GT(of_rate.gradient_bytes[0], 0);
}

TEST(communication_of, is_nothing_for_a_submodule_without_shapes) {
    auto const of = test::rated("text", 1, 2, 2);
    auto const tells = communication_of(of, {.tp = 2, .pp = 2}, split_stages(of, 2), {.replicas = 4});
    EXPECT_EQ(tells.tensor_bytes, 0);
    EXPECT_EQ(tells.boundary_bytes, 0);
    EXPECT_THAT(tells.gradient_bytes, ElementsAre(0, 0));
}

TEST(patterns_of, put_frequency_times_volume_first) {
    modality_communication tells{.tensor_bytes = 10,
                                 .tensor_reduces = {100, 120},
                                 .boundary_bytes = 400,
                                 .boundary_messages = 8,
                                 .gradient_bytes = {300, 250}};
    auto const first = patterns_of(tells, {.tp = 2, .pp = 2});
    EXPECT_THAT(first, ElementsAre(pattern{pattern_kind::tensor, 120, 10}, pattern{pattern_kind::gradients, 1, 300},
                                   pattern{pattern_kind::pipeline, 8, 25}));
    tells.boundary_bytes = 4000;
    EXPECT_EQ(patterns_of(tells, {.tp = 2, .pp = 2})[0].kind, pattern_kind::pipeline);
}

TEST(patterns_of, keep_their_order_where_they_weigh_as_much) {
    modality_communication const tells{.tensor_bytes = 10,
                                       .tensor_reduces = {30},
                                       .boundary_bytes = 300,
                                       .boundary_messages = 3,
                                       .gradient_bytes = {300}};
    EXPECT_THAT(patterns_of(tells, {.tp = 1, .pp = 1}),
                ElementsAre(pattern{pattern_kind::tensor, 30, 10}, pattern{pattern_kind::pipeline, 3, 100},
                            pattern{pattern_kind::gradients, 1, 300}));
}

TEST(least_communication, is_what_cannot_be_avoided) {
    cluster const nodes{.nodes = 4,
                        .gpus_per_node = 4,
                        .memory_bytes = 1,
                        .intra_bandwidth = 100,
                        .inter_bandwidth = 10,
                        .intra_latency = 0,
                        .inter_latency = 0};
    // Eight replicas fill two nodes.
    modality_communication const gradients{.tensor_reduces = {0}, .gradient_bytes = {40}};
    EXPECT_DOUBLE_EQ(least_communication_seconds(gradients, nodes, {}, 8), 2 * 3.0 / 4 * 40 / 100 + 40.0 / 10);
    EXPECT_EQ(least_communication_seconds(gradients, nodes, {}, 1), 0);
    // Whole nodes as stages: every boundary crosses.
    modality_communication const boundaries{
        .tensor_reduces = {0, 0, 0}, .boundary_bytes = 40, .boundary_messages = 1, .gradient_bytes = {0, 0, 0}};
    EXPECT_DOUBLE_EQ(least_communication_seconds(boundaries, nodes, {.tp = 4, .pp = 3}, 1), 2 * 40.0 / 10);
    EXPECT_DOUBLE_EQ(least_communication_seconds(boundaries, nodes, {.tp = 1, .pp = 3}, 1), 2 * 40.0 / 100);
}

}  // namespace
}  // namespace evenkeel::communication_test
