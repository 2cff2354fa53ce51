// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <evenkeel/parallel/memory.hpp>
#include <evenkeel/parallel/memory_bounds.hpp>

#include "builders.hpp"

namespace evenkeel::memory_test {
namespace {

constexpr memory_figures tower{.gpu = 16e9, .fixed = 12e9, .activation = 1e9};

TEST(memory_bounds, are_those_of_the_paper) {
    EXPECT_DOUBLE_EQ(largest_batch_data_parallel(tower, 8), 8 * (16e9 - 12e9) / 1e9);
    EXPECT_DOUBLE_EQ(largest_batch_tensor_parallel(tower, 8), (16e9 * 8 - 12e9) / 1e9);
    EXPECT_DOUBLE_EQ(largest_batch_one_f_one_b(tower, 4), (16e9 - 12e9 / 4) / 1e9);
    EXPECT_DOUBLE_EQ(largest_batch_distmm_pipe(tower, 4), (16e9 * 4 - 12e9) / (2 * 1e9));
    EXPECT_DOUBLE_EQ(largest_batch_distmm_pipe(tower, 4), 26);
    EXPECT_DOUBLE_EQ(largest_batch_one_f_one_b(tower, 4), 13);
}

TEST(memory_bounds, agree_where_the_design_says_so) {
    EXPECT_DOUBLE_EQ(largest_batch_gpipe(tower, 4), (16e9 * 4 - 12e9) / 1e9);
    EXPECT_DOUBLE_EQ(largest_batch_distmm_pipe(tower, 4, 4), largest_batch_gpipe(tower, 4) * 4 / 7);
    // The paper's bound is safe from group = stages - 1 on; finer micro-batches come to twice as much.
    EXPECT_DOUBLE_EQ(largest_batch_distmm_pipe(tower, 4, 3), largest_batch_distmm_pipe(tower, 4));
    EXPECT_LT(largest_batch_distmm_pipe(tower, 4, 2), largest_batch_distmm_pipe(tower, 4));
    EXPECT_NEAR(largest_batch_distmm_pipe(tower, 4, 100'000), 2 * largest_batch_distmm_pipe(tower, 4), 0.01);
    EXPECT_DOUBLE_EQ(largest_batch_distmm_pipe(tower, 1, 1), largest_batch_data_parallel(tower, 1));
}

/// The most samples per sync of one replica with `group` micro-batches that `stage_bytes` lets through. Micro-batches
/// of any size, real numbers of samples: the closed forms do not round.
double most_samples(pipeline_order order, parallelism cut, std::uint64_t group, std::uint64_t micro_batches) {
    submodule const of{
        .name = "tower", .layers = 16, .parameters = 12e9 / 4, .optimizer_bytes = 0, .activation_bytes = 1};
    modality_role const role{.order = order};
    auto const stages = split_stages(of, cut.pp);
    // A sample's activations are one byte here, so bytes over 1e9 are samples of the tower above.
    std::uint64_t low = 0;
    std::uint64_t high = std::uint64_t{1} << 40U;
    while (low + 1 < high) {
        std::uint64_t const size = (low + high) / 2;
        replica_load const load{
            .share = size * group, .micro_batch = size, .group = group, .syncs = micro_batches / group};
        (replica_bytes(of, role, cut, stages, load) <= 16e9 ? low : high) = size;
    }
    return static_cast<double>(low * group) / 1e9;
}

TEST(stage_bytes, let_through_what_the_bounds_say) {
    using enum pipeline_order;
    double const near = 1e-6;
    EXPECT_NEAR(most_samples(batch_sync, {.tp = 1, .pp = 1}, 1, 1), largest_batch_data_parallel(tower, 1), near);
    EXPECT_NEAR(most_samples(batch_sync, {.tp = 8, .pp = 1}, 1, 1), largest_batch_tensor_parallel(tower, 8), near);
    for (std::size_t const stages : {2U, 4U, 8U}) {
        // 1F1B sees one micro-batch at a time: its contrastive batch is one.
        EXPECT_NEAR(most_samples(one_f_one_b, {.tp = 1, .pp = stages}, 1, 64), largest_batch_one_f_one_b(tower, stages),
                    near);
        // A flush after every group: nothing of the next one is in flight.
        EXPECT_NEAR(most_samples(batch_sync, {.tp = 1, .pp = stages}, 4, 4), largest_batch_gpipe(tower, stages), near);
        for (std::uint64_t const group : {1U, 2U, 4U, 8U, 16U}) {
            EXPECT_NEAR(most_samples(batch_sync, {.tp = 1, .pp = stages}, group, 64 * group),
                        largest_batch_distmm_pipe(tower, stages, group), near * static_cast<double>(group));
        }
        EXPECT_GE(most_samples(batch_sync, {.tp = 1, .pp = stages}, stages, 64 * stages) + 1e-5,
                  largest_batch_distmm_pipe(tower, stages));
    }
}

TEST(stage_bytes, are_weights_activations_and_what_the_interaction_keeps) {
    submodule const of{.name = "tower",
                       .layers = 4,
                       .parameters = 1000,
                       .weight_bytes = 2,
                       .gradient_bytes = 4,
                       .optimizer_bytes = 12,
                       .activation_bytes = 80};
    modality_role const role{.input_bytes = 5, .output_bytes = 7, .gathered_bytes = 11, .pair_bytes = 2};
    parallelism const cut{.tp = 2, .pp = 2};
    auto const stages = split_stages(of, 2);
    replica_load const load{.replicas = 3, .per_sync = 18, .share = 6, .micro_batch = 2, .group = 3, .syncs = 4};
    // A quarter of 18 bytes per parameter; 4 and 3 micro-batches of 2 samples in flight, a quarter of 80 bytes each.
    EXPECT_EQ(stage_bytes(of, role, cut, stages, 0, load), 4500 + 8 * 20 + 8 * 5);
    EXPECT_EQ(stage_bytes(of, role, cut, stages, 1, load), 4500 + 6 * 20 + 6 * 7 + 18 * 11 + 6 * 18 * 2 / 2);
    EXPECT_EQ(replica_bytes(of, role, cut, stages, load), stage_bytes(of, role, cut, stages, 1, load));
}

TEST(stage_bytes, are_fewer_with_an_optimiser_cut_over_replicas) {
    submodule of{.name = "tower", .parameters = 100, .optimizer_bytes = 12};
    EXPECT_EQ(fixed_bytes(of, 4), 1600);
    of.shard_optimizer = true;
    EXPECT_EQ(fixed_bytes(of, 4), 700);
}

TEST(stage_bytes, count_no_more_samples_than_there_are) {
    submodule const of{.name = "tower", .activation_bytes = 1};
    replica_load const ragged{.per_sync = 7, .share = 7, .micro_batch = 4, .group = 2};
    EXPECT_EQ(stage_bytes(of, {}, {}, split_stages(of, 1), 0, ragged), 7);
}

TEST(stage_bytes, follow_uneven_stages) {
    submodule const of{
        .name = "tower", .layers = 3, .parameters = 100, .optimizer_bytes = 0, .layer_weights = {6, 1, 3}};
    auto const stages = split_stages(of, 2);
    EXPECT_DOUBLE_EQ(stage_bytes(of, {}, {.pp = 2}, stages, 0, {}), 240);
    EXPECT_DOUBLE_EQ(stage_bytes(of, {}, {.pp = 2}, stages, 1, {}), 160);
}

}  // namespace
}  // namespace evenkeel::memory_test
