// SPDX-License-Identifier: Apache-2.0
#include "examples/support/report.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "examples/support/text.hpp"

namespace evenkeel::examples::report_test {
namespace {

report example() {
    return {.method = "stay",
            .ranks = 64,
            .ranks_per_node = 8,
            .samples = 2560,
            .phases = {{.name = "image",
                        .imbalance_before = 2.4984,
                        .imbalance_after = 1.1920,
                        .lower_bound_over_mean = 1.1920,
                        .gap = 0,
                        .plan_ms = 0.4128,
                        .moved_share = 0.9105,
                        .inter_node_share = 0.8348},
                       {.name = "llm",
                        .imbalance_before = 1.908,
                        .imbalance_after = 1.0001,
                        .lower_bound_over_mean = 1,
                        .gap = 9e-5,
                        .plan_ms = 12.5,
                        .moved_share = 1,
                        .inter_node_share = 0}},
            .exchange = {.bytes = 123'456'789, .inter_node_bytes = 98'765'432, .wrong = 0}};
}

TEST(report, is_a_table_that_lines_up) {
    EXPECT_EQ(to_table(example(), "64 ranks on 8 nodes"), R"(64 ranks on 8 nodes

        imbalance   imbalance     lowest                                   between
phase      before       after   possible        gap   planning     moved     nodes
----------------------------------------------------------------------------------
image       2.498       1.192      1.192          0    0.41 ms    91.0 %    83.5 %
llm         1.908       1.000      1.000   0.0090 %   12.50 ms   100.0 %     0.0 %

Imbalance is the largest load over the mean, gap how far the largest load is above the lower bound.
123 MB went to another rank, 98.8 MB of them to another node: every byte verified.
)");
}

TEST(report, lines_up_under_names_of_any_script_and_length) {
    auto report = example();
    report.phases[0].name = "Größe";
    report.phases[1].name = std::string(200, 'x');
    auto lines = std::istringstream{to_table(report, "")};
    auto widths = std::vector<std::size_t>{};
    for (auto line = std::string{}; std::getline(lines, line);) {
        widths.push_back(width_of(line));
    }
    // The rule and the two phases.
    EXPECT_EQ(widths.at(4), widths.at(5));
    EXPECT_EQ(widths.at(4), widths.at(6));
    EXPECT_LT(widths.at(4), 120u);
}

TEST(report, shows_a_gap_of_zero_for_nothing_else) {
    auto report = example();
    report.phases[0].gap = 1e-12;
    EXPECT_NE(to_table(report, "").find("<0.0001 %"), std::string::npos);
}

TEST(report, does_not_hide_wrong_bytes) {
    auto report = example();
    report.exchange.wrong = 17;
    auto const table = to_table(report, "");
    EXPECT_NE(table.find("17 WRONG BYTES"), std::string::npos) << table;
    EXPECT_EQ(table.find("verified"), std::string::npos) << table;
}

TEST(report, is_json_with_every_member_in_its_order) {
    auto const text = to_json(example());
    auto const json = nlohmann::ordered_json::parse(text);
    auto const keys = [](nlohmann::ordered_json const& object) {
        auto result = std::string{};
        for (auto const& [key, value] : object.items()) {
            result += key + " ";
        }
        return result;
    };
    EXPECT_EQ(keys(json), "method ranks ranks_per_node samples phases exchange ");
    EXPECT_EQ(keys(json["phases"][0]),
              "name imbalance_before imbalance_after lower_bound_over_mean gap plan_ms moved_share inter_node_share "
              "max_tokens_before max_tokens_after ");
    EXPECT_EQ(keys(json["exchange"]), "bytes inter_node_bytes wrong by_phase composed_saving ");
    EXPECT_EQ(json["ranks"], 64);
    EXPECT_EQ(json["ranks_per_node"], 8);
    EXPECT_EQ(json["samples"], 2560);
    EXPECT_EQ(json["phases"].size(), 2u);
    EXPECT_EQ(json["phases"][1]["name"], "llm");
    EXPECT_EQ(json["phases"][1]["gap"], 9e-5);
    EXPECT_EQ(json["exchange"]["bytes"], 123'456'789);
    EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(report, says_at_full_size_what_each_phase_moves) {
    auto report = example();
    report.by_phase = {{.name = "image", .raw = {5'000'000, 3'000'000}, .output = {9'000'000, 1'000'000}},
                       {.name = "llm", .text = {80'000, 20'000}}};
    report.composed_saving = 7'000'000;
    auto const json = nlohmann::json::parse(to_json(report))["exchange"];
    EXPECT_EQ(json["composed_saving"], 7'000'000);
    EXPECT_EQ(json["by_phase"][0]["name"], "image");
    EXPECT_EQ(json["by_phase"][0]["raw"]["total"], 5'000'000);
    EXPECT_EQ(json["by_phase"][0]["output"]["between_nodes"], 1'000'000);
    EXPECT_EQ(json["by_phase"][1]["text"]["total"], 80'000);
    auto const table = to_table(report, "");
    EXPECT_NE(table.find("At full size, 3.00 MB of inputs, 1.00 MB of outputs and gradients and 20.0 kB of text go to "
                         "another node;\ngoing home between encoder and LLM would move 7.00 MB more.\n"),
              std::string::npos)
        << table;
}

TEST(report, shows_methods_side_by_side) {
    auto other = example();
    other.method = "relabel";
    other.phases[1].inter_node_share = 0.61;
    EXPECT_EQ(to_table(std::vector{other, example()}, "64 ranks on 8 nodes"), R"(64 ranks on 8 nodes

                  imbalance   imbalance     lowest                                   between
phase   method       before       after   possible        gap   planning     moved     nodes
--------------------------------------------------------------------------------------------
image   relabel       2.498       1.192      1.192          0    0.41 ms    91.0 %    83.5 %
        stay          2.498       1.192      1.192          0    0.41 ms    91.0 %    83.5 %
llm     relabel       1.908       1.000      1.000   0.0090 %   12.50 ms   100.0 %    61.0 %
        stay          1.908       1.000      1.000   0.0090 %   12.50 ms   100.0 %     0.0 %

Imbalance is the largest load over the mean, gap how far the largest load is above the lower bound.
relabel: 123 MB went to another rank, 98.8 MB of them to another node: every byte verified.
stay: 123 MB went to another rank, 98.8 MB of them to another node: every byte verified.
)");
}

TEST(report, is_json_with_one_report_for_each_method) {
    auto const json = nlohmann::json::parse(to_json(std::vector{example(), example()}));
    ASSERT_EQ(json["methods"].size(), 2u);
    EXPECT_EQ(json["methods"][1], nlohmann::json::parse(to_json(example())));
}

TEST(report, is_json_even_without_a_phase) {
    EXPECT_EQ(nlohmann::json::parse(to_json(report{}))["phases"], nlohmann::json::array());
}

}  // namespace
}  // namespace evenkeel::examples::report_test
