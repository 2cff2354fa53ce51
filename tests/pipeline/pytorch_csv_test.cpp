// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/pytorch_csv.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

namespace evenkeel::pytorch_csv_test {
namespace {

TEST(to_pytorch_csv, writes_a_row_per_device) {
    EXPECT_EQ(to_pytorch_csv(distmm_pipe(stage_count{2}, {2}, {2})), "0F0,0F1,0B0,0B1\n1F0,1F1,1S0,1B0,1B1\n");
}

TEST(to_pytorch_csv, leaves_out_what_pytorch_does_not_know) {
    EXPECT_EQ(to_pytorch_csv(distmm_pipe(stage_count{2}, {2}, {2}), {.batch_syncs = false}),
              "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
}

TEST(to_pytorch_csv, writes_transfers_with_the_stage_at_which_they_run) {
    EXPECT_EQ(to_pytorch_csv(distmm_pipe(stage_count{2}, {1}, {1}), {.transfers = true}),
              "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1S0,1B0,1SEND_B0\n");
}

TEST(to_pytorch_csv, tells_the_stages_of_a_device_and_the_parts_of_a_backward_apart) {
    EXPECT_EQ(to_pytorch_csv(interleaved(device_count{1}, stage_count{2}, {1})), "0F0,1F0,1B0,0B0\n");
    EXPECT_EQ(to_pytorch_csv(zero_bubble_h1(stage_count{1}, {1})), "0F0,0I0,0W0\n");
}

TEST(to_pytorch_csv, writes_an_empty_row_for_a_device_without_work) {
    EXPECT_EQ(to_pytorch_csv(distmm_pipe(stage_count{2}, {0}, {1})), "\n\n");
}

}  // namespace
}  // namespace evenkeel::pytorch_csv_test
