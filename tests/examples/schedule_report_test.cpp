// SPDX-License-Identifier: Apache-2.0
#include "examples/support/schedule_report.hpp"

#include <array>
#include <span>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/simulate.hpp>

namespace evenkeel::examples::schedule_report_test {
namespace {

using nlohmann::json;

TEST(schedule_report, gives_programs_the_figures_and_the_rows) {
    auto const drawn = distmm_pipe(stage_count{2}, {1}, {1});
    auto const simulated = simulate(drawn, uniform_times({2}, {.forward = 1, .backward = 2}, 0));

    EXPECT_EQ(to_json(std::span{&drawn, 1}, simulated),
              R"({"end":6.0,"peak_in_flight":[1,1],"bubble":[3.0,3.0],)"
              R"("rows":[[["F1",0.0,1.0],["B1",4.0,6.0]],[["F1",1.0,2.0],["S1",2.0,2.0],["B1",2.0,4.0]]]})"
              "\n");
}

TEST(schedule_report, tells_the_parts_of_an_interleaved_stage_apart) {
    auto const drawn = interleaved(device_count{1}, stage_count{2}, {1});
    auto const result = json::parse(to_json(std::span{&drawn, 1}, simulate(drawn, uniform_times({2}, {}))));
    auto names = std::string{};
    for (auto const& cell : result.at("rows").at(0)) {
        names += cell.at(0).get<std::string>() + " ";
    }
    EXPECT_EQ(names, "F1 F1.2 B1.2 B1 ");
}

TEST(schedule_report, holds_one_report_per_pipeline_where_there_are_several) {
    auto const pipelines = std::array{distmm_pipe(stage_count{2}, {6}, {2}), distmm_pipe(stage_count{4}, {12}, {4})};
    auto const simulated = simulate(pipelines, std::array{uniform_times({2}, {.forward = 2, .backward = 4}),
                                                          uniform_times({4}, {.forward = 1, .backward = 2})});
    auto const result = json::parse(to_json(pipelines, simulated));

    EXPECT_EQ(result.at("end"), 45.0);
    EXPECT_EQ(result.at("pipelines").at(0).at("end"), 43.0);
    EXPECT_EQ(result.at("pipelines").at(1).at("peak_in_flight"), json::parse("[7, 6, 5, 4]"));
    EXPECT_NE(to_table(pipelines, simulated, "").find("pipeline 2 stage 3"), std::string::npos);
}

TEST(schedule_report, gives_people_a_row_per_stage) {
    auto const drawn = distmm_pipe(stage_count{2}, {2}, {1});
    auto const simulated = simulate(drawn, uniform_times({2}, {.forward = 1, .backward = 2}, 1));

    EXPECT_EQ(
        to_table(std::span{&drawn, 1}, simulated, "two stages"),
        "two stages\n\n"
        "            busy   bubble   held   begins with\n"
        "----------------------------------------------------\n"
        "stage 0   54.5 %        5      2   F1 F2 B1 B2\n"
        "stage 1   72.7 %        3      1   F1 S1 B1 F2 S2 B2\n"
        "\nThe step ends at 11. Bubble is the time in which a device does nothing, held the most micro-batches of\n"
        "which it keeps activations at once.\n");
}

}  // namespace
}  // namespace evenkeel::examples::schedule_report_test
