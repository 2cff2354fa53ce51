// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <stdexcept>

#include <gtest/gtest.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/transfers.hpp>
#include <evenkeel/pipeline/validate.hpp>

#include "tests/support/schedules.hpp"

namespace evenkeel::distmm_pipe_test {
namespace {

using test::drawn_row;

TEST(distmm_pipe, draws_the_rows_of_the_papers_figure_6) {
    auto const drawn = distmm_pipe(stage_count{4}, {16}, {4});

    EXPECT_EQ(drawn_row(drawn, 3),
              "F1 F2 F3 F4 S1 B1 F5 B2 F6 B3 F7 B4 F8 S2 B5 F9 B6 F10 B7 F11 B8 F12 S3 B9 F13 "
              "B10 F14 B11 F15 B12 F16 S4 B13 B14 B15 B16");
    EXPECT_EQ(drawn_row(drawn, 0),
              "F1 F2 F3 F4 F5 F6 F7 B1 F8 B2 F9 B3 F10 B4 F11 B5 F12 B6 F13 B7 F14 B8 F15 B9 F16 "
              "B10 B11 B12 B13 B14 B15 B16");
    EXPECT_EQ(drawn.syncs(), 4u);
}

TEST(distmm_pipe, sends_to_the_neighbours_only) {
    auto const drawn = distmm_pipe(stage_count{3}, {1}, {1});

    EXPECT_EQ(drawn_row(drawn, 0, true), "F1 SEND_F1 RECV_B1 B1");
    EXPECT_EQ(drawn_row(drawn, 1, true), "RECV_F1 F1 SEND_F1 RECV_B1 B1 SEND_B1");
    EXPECT_EQ(drawn_row(drawn, 2, true), "RECV_F1 F1 S1 B1 SEND_B1");
}

TEST(distmm_pipe, with_groups_of_one_is_1F1B_with_a_batch_sync_per_micro_batch) {
    for (std::size_t stages = 1; stages <= 5; ++stages) {
        for (std::size_t micro_batches = 0; micro_batches <= 8; ++micro_batches) {
            auto without = distmm_pipe({stages}, {micro_batches}, {1});
            auto const last = to_id<device_id>(stages - 1);
            std::erase_if(without.instructions,
                          [](instruction const& one) { return one.kind == instruction_kind::batch_sync; });
            without.offsets.back() = without.instructions.size();
            without.group = 0;

            EXPECT_EQ(without, one_f_one_b({stages}, {micro_batches}));
            EXPECT_EQ(without[last].size() + micro_batches, distmm_pipe({stages}, {micro_batches}, {1})[last].size());
        }
    }
}

TEST(distmm_pipe, runs_with_any_numbers) {
    for (std::size_t stages = 1; stages <= 6; ++stages) {
        for (std::size_t group = 1; group <= 7; ++group) {
            for (std::size_t groups = 0; groups <= 4; ++groups) {
                EXPECT_TRUE(faults_of(distmm_pipe({stages}, {groups * group}, {group})).empty())
                    << stages << " stages, " << groups << " groups of " << group;
            }
        }
    }
}

TEST(distmm_pipe, with_no_micro_batch_does_nothing) {
    auto const drawn = distmm_pipe(stage_count{2}, {0}, {4});

    EXPECT_EQ(drawn.devices(), 2u);
    EXPECT_TRUE(drawn.instructions.empty());
}

TEST(distmm_pipe, refuses_numbers_that_make_no_schedule) {
    auto const message = [](std::size_t stages, std::size_t micro_batches, std::size_t group) {
        try {
            (void)distmm_pipe({stages}, {micro_batches}, {group});
        } catch (std::invalid_argument const& error) {
            return std::string{error.what()};
        }
        return std::string{"none"};
    };
    EXPECT_EQ(message(0, 16, 4), "distmm_pipe: stages = 0, expected at least 1");
    EXPECT_EQ(message(4, 16, 0), "distmm_pipe: group = 0, expected at least 1");
    EXPECT_EQ(message(4, 16, 5), "distmm_pipe: group = 5, expected a divisor of the 16 micro-batches");
    EXPECT_EQ(message(4, 5'000'000'000, 1), "distmm_pipe: micro_batches = 5000000000, expected at most 4294967295");
}

}  // namespace
}  // namespace evenkeel::distmm_pipe_test
