// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <stdexcept>

#include <gtest/gtest.h>

#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/transfers.hpp>
#include <evenkeel/pipeline/validate.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "tests/support/schedules.hpp"

namespace evenkeel::builders_test {
namespace {

using test::drawn_row;

TEST(gpipe, runs_all_forwards_then_all_backwards) {
    auto const drawn = gpipe(stage_count{2}, {3});

    EXPECT_EQ(drawn_row(drawn, 0), "F1 F2 F3 B1 B2 B3");
    EXPECT_EQ(drawn_row(drawn, 1), "F1 F2 F3 B1 B2 B3");
}

TEST(gpipe_sync, syncs_each_group_and_empties_the_pipeline_after_each_flush) {
    auto const drawn = gpipe_sync(stage_count{4}, {8}, {2}, micro_batch_count{4});

    EXPECT_EQ(drawn_row(drawn, 3), "F1 F2 S1 F3 F4 S2 B1 B2 B3 B4 F5 F6 S3 F7 F8 S4 B5 B6 B7 B8");
    EXPECT_EQ(drawn_row(drawn, 0), "F1 F2 F3 F4 B1 B2 B3 B4 F5 F6 F7 F8 B5 B6 B7 B8");
}

TEST(gpipe_sync, flushes_by_default_as_soon_as_every_stage_has_work) {
    EXPECT_EQ(gpipe_sync(stage_count{4}, {8}, {2}), gpipe_sync(stage_count{4}, {8}, {2}, micro_batch_count{4}));
    EXPECT_EQ(gpipe_sync(stage_count{4}, {18}, {3}), gpipe_sync(stage_count{4}, {18}, {3}, micro_batch_count{6}));
    EXPECT_EQ(gpipe_sync(stage_count{1}, {6}, {3}), gpipe_sync(stage_count{1}, {6}, {3}, micro_batch_count{3}));
}

TEST(gpipe_sync, ends_with_a_shorter_flush_where_micro_batches_do_not_fill_it) {
    EXPECT_EQ(drawn_row(gpipe_sync(stage_count{2}, {6}, {2}, micro_batch_count{4}), 1),
              "F1 F2 S1 F3 F4 S2 B1 B2 B3 B4 F5 F6 S3 B5 B6");
}

TEST(gpipe_sync, refuses_a_flush_that_cuts_a_group) {
    EXPECT_THROW((void)gpipe_sync(stage_count{2}, {6}, {2}, micro_batch_count{3}), std::invalid_argument);
    EXPECT_THROW((void)gpipe_sync(stage_count{2}, {6}, {2}, micro_batch_count{0}), std::invalid_argument);
    EXPECT_THROW((void)gpipe_sync(stage_count{2}, {6}, {4}), std::invalid_argument);
}

TEST(one_f_one_b, fills_the_pipeline_then_alternates) {
    auto const drawn = one_f_one_b(stage_count{4}, {8});

    EXPECT_EQ(drawn_row(drawn, 0), "F1 F2 F3 F4 B1 F5 B2 F6 B3 F7 B4 F8 B5 B6 B7 B8");
    EXPECT_EQ(drawn_row(drawn, 3), "F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 F8 B8");
}

TEST(interleaved, sends_micro_batches_round_by_round_through_the_stages_of_a_device) {
    auto const drawn = interleaved(device_count{2}, stage_count{4}, {4});
    auto const row = drawn[device_id{0}];
    std::string text;
    for (auto const& one : row) {
        if (!is_transfer(one.kind)) {
            text += std::to_string(to_index(one.stage)) + drawn_name(one) + " ";
        }
    }

    EXPECT_EQ(text, "0F1 0F2 2F1 2F2 0F3 2B1 0F4 2B2 2F3 0B1 2F4 0B2 2B3 2B4 0B3 0B4 ");
}

TEST(interleaved, with_one_stage_per_device_is_1F1B) {
    EXPECT_EQ(interleaved(device_count{4}, stage_count{4}, {8}), one_f_one_b(stage_count{4}, {8}));
}

TEST(interleaved, sends_nothing_on_a_single_device) {
    auto const drawn = interleaved(device_count{1}, stage_count{3}, {2});

    EXPECT_EQ(compute_only(drawn), drawn);
    EXPECT_TRUE(faults_of(drawn).empty());
}

TEST(interleaved, refuses_rounds_that_are_not_full) {
    EXPECT_THROW((void)interleaved(device_count{0}, stage_count{4}, {4}), std::invalid_argument);
    EXPECT_THROW((void)interleaved(device_count{4}, stage_count{6}, {4}), std::invalid_argument);
    EXPECT_THROW((void)interleaved(device_count{4}, stage_count{8}, {6}), std::invalid_argument);
}

TEST(zero_bubble_h1, puts_weight_gradients_off_until_memory_is_full) {
    auto const drawn = zero_bubble_h1(stage_count{4}, {8});

    EXPECT_EQ(drawn_row(drawn, 3), "F1 I1 F2 I2 F3 I3 F4 I4 W1 F5 I5 W2 F6 I6 W3 F7 I7 W4 F8 I8 W5 W6 W7 W8");
    EXPECT_EQ(drawn_row(drawn, 0), "F1 F2 F3 F4 I1 W1 F5 I2 W2 F6 I3 W3 F7 I4 W4 F8 I5 W5 I6 W6 I7 W7 I8 W8");
}

TEST(builders, make_schedules_that_run_with_any_numbers) {
    for (std::size_t stages = 1; stages <= 5; ++stages) {
        for (std::size_t micro_batches = 0; micro_batches <= 9; ++micro_batches) {
            stage_count const depth{stages};
            micro_batch_count const many{micro_batches};
            EXPECT_TRUE(faults_of(gpipe(depth, many)).empty());
            EXPECT_TRUE(faults_of(one_f_one_b(depth, many)).empty());
            EXPECT_TRUE(faults_of(zero_bubble_h1(depth, many)).empty());
            EXPECT_TRUE(faults_of(interleaved({stages}, {3 * stages}, {micro_batches * stages})).empty());
            for (std::size_t group = 1; group <= 4; ++group) {
                EXPECT_TRUE(faults_of(gpipe_sync(depth, {micro_batches * group}, {group})).empty());
            }
        }
    }
}

TEST(builders, add_the_transfers_that_their_computation_needs) {
    for (auto const& drawn :
         {gpipe(stage_count{3}, {4}), gpipe_sync(stage_count{3}, {4}, {2}), one_f_one_b(stage_count{3}, {4}),
          zero_bubble_h1(stage_count{3}, {4}), interleaved(device_count{2}, stage_count{6}, {4})}) {
        EXPECT_EQ(with_transfers(compute_only(drawn)), drawn);
        EXPECT_LT(compute_only(drawn).instructions.size(), drawn.instructions.size());
    }
}

TEST(builders, refuse_a_pipeline_without_stages) {
    EXPECT_THROW((void)gpipe(stage_count{0}, {4}), std::invalid_argument);
    EXPECT_THROW((void)gpipe_sync(stage_count{0}, {4}, {2}), std::invalid_argument);
    EXPECT_THROW((void)one_f_one_b(stage_count{0}, {4}), std::invalid_argument);
    EXPECT_THROW((void)interleaved(device_count{1}, stage_count{0}, {4}), std::invalid_argument);
    EXPECT_THROW((void)zero_bubble_h1(stage_count{0}, {4}), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::builders_test
