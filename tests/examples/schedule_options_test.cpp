// SPDX-License-Identifier: Apache-2.0
#include "examples/support/schedule_options.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "examples/support/input_error.hpp"
#include "tests/examples/temporary_folder.hpp"

namespace evenkeel::examples::schedule_options_test {
namespace {

schedule_options parse(std::vector<std::string> const& words) {
    auto arguments = std::vector<char const*>{"draw_schedule"};
    for (auto const& word : words) {
        arguments.push_back(word.c_str());
    }
    return parse_schedule_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal(std::vector<std::string> const& words) {
    try {
        (void)parse(words);
    } catch (input_error const& error) {
        return error.what();
    }
    return "none";
}

TEST(schedule_options, draw_the_papers_figure_6_by_default) {
    auto const options = parse({});

    ASSERT_EQ(options.pipelines.size(), 1u);
    EXPECT_EQ(options.pipelines[0], distmm_pipe(stage_count{4}, {16}, {4}));
    EXPECT_EQ(options.times[0].stages[3].forward, 1);
    EXPECT_EQ(options.times[0].stages[3].backward, 2);
    EXPECT_EQ(options.times[0].sync, 1);
    EXPECT_EQ(headline(options), "distmm_pipe: 4 stages, 16 micro-batches in groups of 4");
}

TEST(schedule_options, know_every_schedule) {
    auto const drawn = [](std::string const& name) {
        return parse({"--schedule", name, "--stages", "3", "--micro-batches", "6", "--group", "2"}).pipelines[0];
    };
    EXPECT_EQ(drawn("gpipe"), gpipe(stage_count{3}, {6}));
    EXPECT_EQ(drawn("gpipe_sync"), gpipe_sync(stage_count{3}, {6}, {2}));
    EXPECT_EQ(drawn("one_f_one_b"), one_f_one_b(stage_count{3}, {6}));
    EXPECT_EQ(drawn("interleaved"), interleaved(device_count{3}, stage_count{6}, {6}));
    EXPECT_EQ(drawn("zero_bubble_h1"), zero_bubble_h1(stage_count{3}, {6}));
    EXPECT_EQ(drawn("distmm_pipe"), distmm_pipe(stage_count{3}, {6}, {2}));
    EXPECT_EQ(parse({"--schedule=gpipe_sync", "--flush=8"}).pipelines[0],
              gpipe_sync(stage_count{4}, {16}, {4}, micro_batch_count{8}));
}

TEST(schedule_options, share_the_time_of_a_stage_among_its_parts) {
    auto const interleaving =
        parse({"--schedule", "interleaved", "--chunks", "4", "--forward", "1", "--backward", "2"});
    EXPECT_EQ(interleaving.pipelines[0].stages, 16u);
    EXPECT_EQ(interleaving.times[0].stages[15], (stage_times{0.25, 0.5, 0.25, 0.25}));
    EXPECT_EQ(headline(interleaving), "interleaved: 4 stages of 4 parts, 16 micro-batches");

    auto const split = parse({"--schedule", "zero_bubble_h1", "--backward", "2", "--weight-gradient", "0.5"});
    EXPECT_EQ(split.times[0].stages[0], (stage_times{1, 2, 1.5, 0.5}));
}

TEST(schedule_options, take_lists_for_several_pipelines) {
    auto const options = parse({"--stages", "2,4", "--micro-batches", "6,12", "--group", "2,4", "--forward", "2,1",
                                "--backward", "4,2", "--sync", "0", "--latency", "0.5"});
    ASSERT_EQ(options.pipelines.size(), 2u);
    EXPECT_EQ(options.pipelines[0], distmm_pipe(stage_count{2}, {6}, {2}));
    EXPECT_EQ(options.pipelines[1], distmm_pipe(stage_count{4}, {12}, {4}));
    EXPECT_EQ(options.times[1].link.latency, 0.5);
    EXPECT_EQ(options.times[0].stages[1].backward, 4);
}

TEST(schedule_options, refuse_what_makes_no_schedule) {
    EXPECT_EQ(refusal({"--stages", "0"}), "--stages: expected a whole number from 1 to 100000, got 0");
    EXPECT_EQ(refusal({"--stages", "four"}), "--stages: expected a whole number from 1 to 100000, got 'four'");
    EXPECT_EQ(refusal({"--stages", "4,"}), "--stages: expected a whole number from 1 to 100000, got ''");
    EXPECT_EQ(refusal({"--group", "5"}), "--group: expected a divisor of the 16 micro-batches, got 5");
    EXPECT_EQ(refusal({"--forward", "-1"}), "--forward: expected a time from 0 to 1e15, got '-1'");
    EXPECT_EQ(refusal({"--sync", "nan"}), "--sync: expected a time from 0 to 1e15, got 'nan'");
    EXPECT_EQ(refusal({"--sync", "inf"}), "--sync: expected a time from 0 to 1e15, got 'inf'");
    EXPECT_EQ(refusal({"--sync"}), "--sync: expected a value, got none");
    EXPECT_EQ(
        refusal({"--schedule", "gpipes"}),
        "--schedule: expected one of: gpipe, gpipe_sync, one_f_one_b, interleaved, zero_bubble_h1, distmm_pipe, got "
        "'gpipes'");
    EXPECT_EQ(refusal({"--schedule", "interleaved", "--micro-batches", "6"}),
              "--micro-batches: expected a multiple of the 4 stages, got 6");
    EXPECT_EQ(refusal({"--schedule", "gpipe_sync", "--flush", "6"}),
              "--flush: expected a multiple of the 4 micro-batches of a group, got 6");
    EXPECT_EQ(refusal({"--weight-gradient", "3"}),
              "--weight-gradient: expected at most the 2 of --backward, of which it is a part, got 3");
    EXPECT_EQ(refusal({"--stages", "1000", "--micro-batches", "100000"}),
              "--micro-batches: expected at most 16666 with 1000 stages, got 100000");
    EXPECT_EQ(refusal({"--stages", "2,4", "--group", "1,2,4"}),
              "--stages: expected 1 value or 3, one per pipeline, got 2");
    EXPECT_EQ(refusal({"--group", "2,4"}), "--group: expected as many groups in every pipeline, 8, got 4");
    EXPECT_EQ(refusal({"--schedule", "one_f_one_b", "--stages", "2,4"}),
              "--schedule: expected gpipe_sync or distmm_pipe for several pipelines, got one_f_one_b");
    EXPECT_EQ(refusal({"--stages", "2,4", "--csv", "x.csv"}),
              "--csv: expected a single pipeline, which is what PyTorch knows, got 2");
    EXPECT_EQ(refusal({"--steps", "4"}), "'--steps': unknown option, --help lists all options");
}

TEST(schedule_options, refuse_to_write_two_results_to_one_file) {
    auto const folder = temporary_folder{};
    auto const path = (folder / "a").string();
    EXPECT_EQ(refusal({"--json", path, "--trace", path}),
              "--trace: expected a file other than that of --json, got '" + path + "'");
    EXPECT_EQ(refusal({"--plot", ""}), "--plot: expected a file, got ''");
}

}  // namespace
}  // namespace evenkeel::examples::schedule_options_test
