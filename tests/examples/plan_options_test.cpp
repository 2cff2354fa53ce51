// SPDX-License-Identifier: Apache-2.0
#include "examples/support/plan_options.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/support/command_line.hpp"
#include "examples/support/input_error.hpp"
#include "examples/support/plan_json.hpp"
#include "temporary_folder.hpp"

namespace evenkeel::examples::plan_options_test {
namespace {

cluster_options parse_words(std::vector<std::string> const& words) {
    auto arguments = std::vector<char const*>{"plan_cluster"};
    for (auto const& word : words) {
        arguments.push_back(word.c_str());
    }
    return parse_cluster_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal(std::vector<std::string> const& words) {
    return complaint<input_error>([&] { static_cast<void>(parse_words(words)); });
}

TEST(plan_options, take_a_preset_or_a_file) {
    auto const preset = parse_words({"--preset", "clip_1.1b"});
    EXPECT_EQ(preset.name, "clip_1.1b");
    EXPECT_EQ(preset.preset.paper_speed_up, 1.39);
    EXPECT_FALSE(preset.json || preset.plot || preset.written_input);

    auto const folder = temporary_folder{};
    auto const file = folder.write("mine.json", to_json(preset_of("figure4").input));
    auto const read = parse_words({file.string(), "--json", (folder / "out.json").string()});
    EXPECT_EQ(read.name, "mine.json");
    EXPECT_EQ(read.preset.input, preset_of("figure4").input);
    EXPECT_FALSE(read.preset.paper_speed_up);
    EXPECT_TRUE(read.json);
}

TEST(plan_options, refuse_neither_both_and_the_unknown) {
    EXPECT_EQ(refusal({}), "FILE or --preset: expected one, got none");
    EXPECT_EQ(refusal({"a.json", "--preset", "figure2"}), "--preset: expected no FILE beside it");
    EXPECT_EQ(refusal({"--preset", "figure3"}),
              "--preset: expected one of: figure2, figure4, clip_1.1b, coca_1.52b, lit_1.1b, clip_9.3b, coca_13.4b, "
              "lit_9.4b, clip_19.7b, coca_26b, lit_19.7b, mllm_8b, got 'figure3'");
    EXPECT_EQ(refusal({"--preset"}), "--preset: expected a value, got none");
    EXPECT_EQ(refusal({"--nodes", "3"}), "'--nodes': unknown option, --help lists all options");
    EXPECT_EQ(refusal({"none.json"}), "'none.json' cannot be read: No such file or directory");
    EXPECT_EQ(refusal({""}), "FILE: expected a file, got ''");
}

TEST(plan_options, refuse_to_write_over_what_is_read_or_written) {
    auto const folder = temporary_folder{};
    auto const file = folder.write("mine.json", to_json(preset_of("figure4").input)).string();
    EXPECT_EQ(refusal({file, "--json", file}),
              fmt::format("--json: expected a file other than that of FILE, got '{}'", file));
    auto const out = (folder / "a").string();
    EXPECT_EQ(refusal({file, "--json", out, "--plot", out}),
              fmt::format("--plot: expected a file other than that of --json, got '{}'", out));
    EXPECT_THAT(refusal({file, "--write-input", (folder / "none" / "a").string()}),
                testing::HasSubstr("--write-input: "));
}

TEST(plan_options, explain_themselves) {
    EXPECT_THAT(complaint<help_wanted>([] { static_cast<void>(parse_words({"--help"})); }),
                testing::HasSubstr("--write-input"));
}

}  // namespace
}  // namespace evenkeel::examples::plan_options_test
