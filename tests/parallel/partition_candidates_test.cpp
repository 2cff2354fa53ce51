// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/partition_candidates.hpp>

#include "builders.hpp"

namespace evenkeel::partition_candidates_test {
namespace {

using testing::Each;
using testing::ElementsAre;

/// As large as `bytes`, without activations.
submodule sized(double bytes) {
    return {.name = "tower",
            .layers = 32,
            .parameters = bytes,
            .tokens = 1,
            .weight_bytes = 1,
            .gradient_bytes = 0,
            .optimizer_bytes = 0,
            .time = flops_time{.flops_per_second = 1}};
}

parallelism paper_cut(double bytes) {
    auto const cluster = test::v100s();
    auto const first = paper_partition(partition_candidates(sized(bytes), {}, cluster));
    return first ? first->cut : parallelism{.tp = 0, .pp = 0};
}

TEST(paper_partition, is_data_parallelism_then_tensor_then_pipeline) {
    double const gpu = test::v100s().memory_bytes;
    EXPECT_EQ(paper_cut(gpu), (parallelism{.tp = 1, .pp = 1}));
    EXPECT_EQ(paper_cut(gpu * 1.5), (parallelism{.tp = 2, .pp = 1}));
    EXPECT_EQ(paper_cut(gpu * 3), (parallelism{.tp = 4, .pp = 1}));
    EXPECT_EQ(paper_cut(gpu * 8), (parallelism{.tp = 8, .pp = 1}));
    // More than a node.
    EXPECT_EQ(paper_cut(gpu * 9), (parallelism{.tp = 8, .pp = 2}));
    EXPECT_EQ(paper_cut(gpu * 33), (parallelism{.tp = 8, .pp = 8}));
    EXPECT_EQ(paper_cut(gpu * 65), (parallelism{.tp = 0, .pp = 0}));
}

TEST(partition_candidates, are_what_the_cluster_has_room_for) {
    auto of = sized(1);
    of.layers = 3;
    of.heads = 12;
    auto cluster = test::v100s(2);
    std::vector<parallelism> cuts;
    for (auto const& one : partition_candidates(of, {}, cluster)) {
        cuts.push_back(one.cut);
        EXPECT_TRUE(one.fits);
    }
    // 8 does not cut 12 heads, and there are but 3 layers.
    EXPECT_THAT(cuts, ElementsAre(parallelism{1, 1}, parallelism{2, 1}, parallelism{4, 1}, parallelism{1, 2},
                                  parallelism{2, 2}, parallelism{4, 2}));

    of.tp = {16, 4, 3};
    of.pp = {3};
    cuts.clear();
    for (auto const& one : partition_candidates(of, {}, cluster)) {
        cuts.push_back(one.cut);
    }
    EXPECT_THAT(cuts, ElementsAre(parallelism{3, 3}, parallelism{4, 3}));
}

TEST(partition_candidates, use_the_degrees_that_were_measured) {
    auto of = sized(1);
    of.time = time_table{{{.micro_batch = 1, .tp = 2, .seconds = 1}, {.micro_batch = 1, .tp = 4, .seconds = 1}}};
    of.pp = {1};
    std::vector<std::size_t> degrees;
    for (auto const& one : partition_candidates(of, {}, test::v100s())) {
        degrees.push_back(one.cut.tp);
    }
    EXPECT_THAT(degrees, ElementsAre(2, 4));
}

TEST(partition_candidates, need_the_memory_of_their_fullest_stage) {
    submodule const of{.name = "tower",
                       .layers = 3,
                       .parameters = 100,
                       .tokens = 1,
                       .optimizer_bytes = 12,
                       .shard_optimizer = true,
                       .activation_bytes = 50,
                       .time = flops_time{.flops_per_second = 1},
                       .layer_weights = {6, 1, 3},
                       .tp = {1},
                       .pp = {2}};
    auto const cluster = test::roomy(2, 4);
    auto const candidates = partition_candidates(of, {}, cluster);
    ASSERT_EQ(candidates.size(), 1u);
    // Four replicas; the first stage has 0.6 of it, and one sample in flight.
    EXPECT_DOUBLE_EQ(candidates[0].least_bytes, 0.6 * 100 * (4 + 12.0 / 4) + 0.6 * 50);
    EXPECT_THAT(candidates[0].stages.starts, ElementsAre(0, 1, 3));
}

TEST(partition_candidates, mark_those_that_no_other_beats) {
    auto of = sized(1e9);
    of.hidden = 1;
    of.activation_bytes = 1e8;
    of.time = flops_time{.flops_per_sample = 1, .flops_per_second = 1, .half_efficiency = 4};
    auto const candidates = partition_candidates(of, {}, test::v100s());
    ASSERT_TRUE(candidates.front().unbeaten);
    for (auto const& one : candidates) {
        bool const is_beaten = std::ranges::any_of(candidates, [&](partition_candidate const& other) {
            return other.fits && other.cut.gpus() <= one.cut.gpus() && other.least_bytes <= one.least_bytes &&
                   other.gpu_seconds_per_sample <= one.gpu_seconds_per_sample &&
                   (other.cut.gpus() < one.cut.gpus() || other.least_bytes < one.least_bytes ||
                    other.gpu_seconds_per_sample < one.gpu_seconds_per_sample);
        });
        EXPECT_EQ(one.unbeaten, one.fits && !is_beaten);
    }
}

TEST(partition_candidates, cost_gpu_seconds_of_a_full_pipeline) {
    auto of = test::rated("text", 2, 2, 2);
    auto const candidates = partition_candidates(of, {}, test::v100s());
    ASSERT_EQ(candidates.size(), 1u);
    EXPECT_EQ(candidates[0].gpu_seconds_per_sample, 8);

    of.time =
        time_table{{{.micro_batch = 1, .tp = 2, .seconds = 2}, {.micro_batch = 65'536, .tp = 2, .seconds = 65'536}}};
    EXPECT_DOUBLE_EQ(partition_candidates(of, {}, test::v100s())[0].gpu_seconds_per_sample, 2);
}

}  // namespace
}  // namespace evenkeel::partition_candidates_test
