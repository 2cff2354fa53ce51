// SPDX-License-Identifier: Apache-2.0
#include "examples/support/plan_report.hpp"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/plan_cluster.hpp>

namespace evenkeel::examples::plan_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string table_of(std::string_view name) {
    auto const preset = preset_of(name);
    return to_table(plan_cluster(preset.input.model, preset.input.cluster, preset.input.batch), preset, name);
}

TEST(plan_report, says_times_as_people_do) {
    EXPECT_EQ(human_seconds(0), "0");
    EXPECT_EQ(human_seconds(3.5555), "3.56 s");
    EXPECT_EQ(human_seconds(36), "36.0 s");
    EXPECT_EQ(human_seconds(420.4), "420 s");
    EXPECT_EQ(human_seconds(0.0123), "12.3 ms");
    EXPECT_EQ(human_seconds(0.9996), "1.00 s");
    EXPECT_EQ(human_seconds(2e-6), "2.00 us");
    EXPECT_EQ(human_seconds(3e-12), "0.00 ns");
}

TEST(plan_report, shows_what_each_modality_gets) {
    EXPECT_EQ(table_of("figure4"),
              "figure4: 2 submodules on 1 node of 4 GPUs, 12 samples per step\n"
              "\n"
              "          tensor  pipe-                  samples   micro-   memory             communi-\n"
              "modality    par.   line  replicas  GPUs     each  batches  per GPU  computing    cation  waits\n"
              "----------------------------------------------------------------------------------------------\n"
              "blue           1      1         1     1       12   1 x 12      0 B     3.56 s         0    0 %\n"
              "orange         1      1         3     3        4    1 x 4      0 B     3.56 s         0    0 %\n"
              "\n"
              "A step takes 3.56 s on 4 of 4 GPUs, and in no placement of these parts less.\n"
              "No other plan with the micro-batch sizes tried takes less.\n"
              "All 12 samples meet at once.\n"
              "\n"
              "Colocated, all submodules on every GPU: 5.00 s (1 tensor parallel, 4 replicas, 3 samples each, 0 B per "
              "GPU).\n"
              "Speed-up over colocated 1.41x.\n");
    EXPECT_THAT(table_of("figure2"), HasSubstr("\n24 samples meet in each of 3 syncs.\n"));
    EXPECT_THAT(table_of("mllm_8b"), HasSubstr("\nNo plan with the micro-batch sizes tried takes less than 7.05 s; "
                                               "this one takes 1.9 % more.\n"));
}

TEST(plan_report, puts_the_papers_figure_and_the_assumptions_beside_its_own) {
    auto const clip = table_of("clip_1.1b");
    EXPECT_THAT(clip, HasSubstr("Speed-up over colocated 1.39x, measured in the paper 1.39x.\n"));
    EXPECT_THAT(clip, HasSubstr(std::string{paper_assumptions()}));
    EXPECT_THAT(clip, Not(HasSubstr("Why more than measured")));
    EXPECT_THAT(table_of("lit_19.7b"), HasSubstr("measured in the paper 3.27x.\nWhy more than measured: "));
}

TEST(plan_report, says_when_colocation_wins) {
    EXPECT_THAT(table_of("mllm_8b"), HasSubstr("\nCOLOCATION WINS: "));
    EXPECT_THAT(table_of("clip_9.3b"), Not(HasSubstr("COLOCATION WINS")));
}

TEST(plan_report, says_when_nobody_knows_how_long_colocation_takes) {
    auto preset = preset_of("figure2");
    // Measured with different degrees, so that there is none for both.
    preset.input.model.submodules[0].time = time_table{{{.micro_batch = 1, .tp = 2, .seconds = 1}}};
    preset.input.model.submodules[1].time = time_table{{{.micro_batch = 1, .tp = 4, .seconds = 1}}};
    auto const table =
        to_table(plan_cluster(preset.input.model, preset.input.cluster, preset.input.batch), preset, "mine");
    EXPECT_THAT(table, HasSubstr("it does not fit into memory, or its time is not known.\n"));
    EXPECT_THAT(table, Not(HasSubstr("Speed-up")));
}

}  // namespace
}  // namespace evenkeel::examples::plan_report_test
