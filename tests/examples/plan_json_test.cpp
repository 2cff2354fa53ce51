// SPDX-License-Identifier: Apache-2.0
#include "examples/support/plan_json.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <evenkeel/parallel/plan_cluster.hpp>

#include "examples/support/input_error.hpp"
#include "examples/support/plan_presets.hpp"
#include "temporary_folder.hpp"

namespace evenkeel::examples::plan_json_test {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;

/// The shortest file that says all that has to be said.
constexpr auto shortest = R"({
    "cluster": {"nodes": 1, "gpus_per_node": 4, "memory_bytes": 16e9, "intra_bandwidth": 150e9,
                "inter_bandwidth": 3.125e9, "intra_latency": 0, "inter_latency": 0},
    "global_batch": 12,
    "submodules": [{"name": "blue", "layers": 2, "parameters": 0, "seconds_per_sample": 0.5}]})";

std::string refusal(std::function<void(json&)> const& change) {
    auto value = json::parse(to_json(preset_of("figure2").input));
    change(value);
    return complaint<input_error>([&] { static_cast<void>(parse_plan_input(value.dump(), "t.json")); });
}

TEST(plan_input, needs_no_more_than_what_has_no_standard) {
    auto const input = parse_plan_input(shortest, "t.json");
    EXPECT_EQ(input.cluster, (cluster{.nodes = 1,
                                      .gpus_per_node = 4,
                                      .memory_bytes = 16e9,
                                      .intra_bandwidth = 150e9,
                                      .inter_bandwidth = 3.125e9}));
    EXPECT_EQ(input.batch, global_batch{12});
    EXPECT_EQ(input.model.submodules,
              std::vector{(submodule{.name = "blue", .layers = 2, .time = seconds_per_sample{0.5}})});
    EXPECT_EQ(input.model.interaction, interaction{});
}

TEST(plan_input, reads_every_key) {
    auto const input = parse_plan_input(R"({
        "cluster": {"nodes": 2, "gpus_per_node": 4, "memory_bytes": 80e9, "memory_reserve": 0.1,
                    "intra_bandwidth": 3e11, "inter_bandwidth": 1e11, "intra_latency": 5e-6, "inter_latency": 2e-5},
        "global_batch": 64,
        "submodules": [
            {"name": "vision", "layers": 2, "parameters": 6.3e8, "hidden": 1280, "heads": 16, "tokens": 1024,
             "value_bytes": 4, "weight_bytes": 3, "gradient_bytes": 5, "optimizer_bytes": 8, "shard_optimizer": true,
             "activation_bytes": 1e9, "layer_weights": [3, 1], "tp": [1, 2], "pp": [2], "replicas": [1, 2],
             "micro_batches": [4, 8], "time_table": [{"micro_batch": 4, "tp": 2, "seconds": 0.25}]},
            {"name": "llm", "layers": 32, "parameters": 7e9, "tokens": 2048, "inputs": ["vision"],
             "flops": {"per_sample": 1e14, "per_second": 3.12e14, "best_efficiency": 0.5, "half_efficiency": 0}}],
        "interaction": {"kind": "join", "features": 1e6, "value_bytes": 4, "batch": 8, "flops_per_sample": 1e9,
                        "flops_per_second": 1e14}})",
                                        "t.json");
    EXPECT_EQ(input.cluster.memory_reserve, 0.1);
    EXPECT_EQ(input.cluster.inter_latency, 2e-5);
    EXPECT_EQ(input.model.submodules[0], (submodule{.name = "vision",
                                                    .layers = 2,
                                                    .parameters = 6.3e8,
                                                    .hidden = 1280,
                                                    .heads = 16,
                                                    .tokens = 1024,
                                                    .value_bytes = 4,
                                                    .weight_bytes = 3,
                                                    .gradient_bytes = 5,
                                                    .optimizer_bytes = 8,
                                                    .shard_optimizer = true,
                                                    .activation_bytes = 1e9,
                                                    .time = time_table{{{.micro_batch = 4, .tp = 2, .seconds = 0.25}}},
                                                    .layer_weights = {3, 1},
                                                    .tp = {1, 2},
                                                    .pp = {2},
                                                    .replicas = {1, 2},
                                                    .micro_batches = {4, 8}}));
    EXPECT_EQ(input.model.submodules[1].inputs, std::vector<std::string>{"vision"});
    EXPECT_EQ(input.model.submodules[1].time,
              (time_model{flops_time{.flops_per_sample = 1e14, .flops_per_second = 3.12e14, .best_efficiency = 0.5}}));
    EXPECT_EQ(input.model.interaction, (interaction{.kind = interaction_kind::join,
                                                    .features = 1e6,
                                                    .value_bytes = 4,
                                                    .batch = 8,
                                                    .flops_per_sample = 1e9,
                                                    .flops_per_second = 1e14}));
    EXPECT_EQ(parse_plan_input(to_json(input), "t.json"), input);
}

TEST(plan_input, may_have_an_interaction_of_no_kind) {
    auto value = json::parse(shortest);
    value["interaction"] = {{"kind", "none"}};
    EXPECT_EQ(parse_plan_input(value.dump(), "t.json"), parse_plan_input(shortest, "t.json"));
    value["interaction"]["features"] = 8;
    EXPECT_EQ(complaint<input_error>([&] { static_cast<void>(parse_plan_input(value.dump(), "t.json")); }),
              "t.json: /interaction/features: expected 0 in an interaction of the kind none, got 8");
}

TEST(plan_input, is_the_same_after_writing_and_reading) {
    for (auto const name : plan_preset_names()) {
        auto const input = preset_of(name).input;
        EXPECT_EQ(parse_plan_input(to_json(input), "t.json"), input) << name;
    }
}

TEST(plan_input, says_with_the_pointer_what_is_wrong) {
    EXPECT_EQ(refusal([](json& all) { all["cluster"]["nodes"] = "eight"; }),
              "t.json: /cluster/nodes: expected a whole number from 1 to 65536, got 'eight'");
    EXPECT_EQ(refusal([](json& all) { all["cluster"]["inter_bandwidth"] = 0; }),
              "t.json: /cluster/inter_bandwidth: expected a number from 1e-24 to 1e+24, got 0");
    EXPECT_EQ(refusal([](json& all) { all["cluster"].erase("intra_latency"); }),
              "t.json: /cluster: expected the key 'intra_latency', got none");
    EXPECT_EQ(refusal([](json& all) { all["global_batch"] = -1; }),
              "t.json: /global_batch: expected a whole number from 1 to 1099511627776, got -1");
    EXPECT_EQ(refusal([](json& all) { all["submodules"][1]["tp"] = json::array(); }),
              "t.json: /submodules/1/tp: expected at least one choice, got an array of 0");
    EXPECT_EQ(refusal([](json& all) { all["submodules"][1]["pp"][0] = 25; }),
              "t.json: /submodules/1/pp/0: expected a whole number from 1 to 24, got 25");
    EXPECT_EQ(refusal([](json& all) {
                  all["submodules"][0]["flops"] = {{"per_second", 1}};
              }),
              "t.json: /submodules/0: expected one of the keys seconds_per_sample, time_table, flops, got several");
    EXPECT_EQ(refusal([](json& all) { all["submodules"][0].erase("seconds_per_sample"); }),
              "t.json: /submodules/0: expected one of the keys seconds_per_sample, time_table, flops, got none");
    EXPECT_EQ(refusal([](json& all) { all["interaction"]["kind"] = "contrast"; }),
              "t.json: /interaction/kind: expected none, contrastive, fusion or join, got 'contrast'");
    EXPECT_THAT(refusal([](json& all) { all["submodules"][0]["secs"] = 1; }),
                HasSubstr("t.json: /submodules/0: expected one of the keys name, layers, "));
}

TEST(plan_input, says_with_a_pointer_what_the_library_refuses) {
    EXPECT_THAT(refusal([](json& all) { all["submodules"][1]["name"] = "text"; }),
                HasSubstr("t.json: /submodules/1/name: model.submodules[1].name = 'text', expected a name of its own"));
    EXPECT_THAT(refusal([](json& all) {
                    all["submodules"][1]["layer_weights"] = {1, 2};
                }),
                HasSubstr("t.json: /submodules/1: submodule 'image'.layer_weights.size() = 2, expected one for each"));
    EXPECT_THAT(refusal([](json& all) { all["submodules"][1]["inputs"] = {"image"}; }),
                HasSubstr("t.json: /submodules/1/inputs/0: submodule 'image'.inputs = image <- image, expected a model "
                          "without"));
    auto const inputs = [](json const& first, json const& second) {
        return refusal([&](json& all) {
            all["submodules"].push_back(all["submodules"][1]);
            all["submodules"][2]["name"] = "llm";
            all["submodules"][0]["inputs"] = first;
            all["submodules"][1]["inputs"] = second;
        });
    };
    EXPECT_EQ(inputs({"llm", "image"}, {"llm", "text"}),
              "t.json: /submodules/0/inputs/1: submodule 'text'.inputs = text <- image <- text, expected a model "
              "without cycles");
    EXPECT_THAT(inputs({"llm", "imag"}, json::array()),
                HasSubstr("t.json: /submodules/0/inputs/1: submodule 'text'.inputs[1] = 'imag', expected the name of"));
    EXPECT_THAT(inputs(json::array(), {"llm", "text", "llm"}),
                HasSubstr("t.json: /submodules/1/inputs/2: submodule 'image'.inputs[2] = 'llm', expected every input"));
    EXPECT_THAT(refusal([](json& all) { all["interaction"]["kind"] = "join"; }),
                HasSubstr("t.json: /interaction/kind: interaction.kind = join, expected a submodule with inputs"));
    EXPECT_THAT(refusal([](json& all) { all["cluster"]["nodes"] = 65536; }),
                HasSubstr("t.json: /cluster: cluster.nodes * gpus_per_node = 524288"));
}

TEST(plan_json, is_what_the_schema_says) {
    auto const input = preset_of("figure2").input;
    auto const plan = plan_cluster(input.model, input.cluster, input.batch);
    auto const all = json::parse(to_json(plan, input.cluster));

    auto const& text = all.at("modalities").at(0);
    auto const& image = all.at("modalities").at(1);
    EXPECT_EQ(text.at("name"), "text");
    EXPECT_EQ(text.at("tp"), 2);
    EXPECT_EQ(text.at("pp"), 2);
    EXPECT_EQ(text.at("replicas"), 4);
    EXPECT_EQ(text.at("replica_batches"), json({18, 18, 18, 18}));
    EXPECT_EQ(text.at("micro_batch"), 3);
    EXPECT_EQ(text.at("samples"), json({{0, 6}, {6, 12}, {12, 18}, {18, 24}}));
    EXPECT_EQ(image.at("replica_batches"), json({24, 24, 24}));
    EXPECT_EQ(image.at("micro_batch"), 2);
    EXPECT_EQ(all.at("makespan"), 36);
    EXPECT_EQ(all.at("colocated_makespan"), 36);
    EXPECT_EQ(all.at("devices_used"), 64);
    EXPECT_EQ(all.at("syncs"), 3);
    EXPECT_EQ(all.at("batch_per_sync"), 24);
    EXPECT_EQ(all.at("colocation_wins"), false);

    auto const& placement = all.at("placement");
    ASSERT_EQ(placement.size(), 64u);
    auto roles = std::set<std::string>{};
    for (auto gpu = std::size_t{0}; gpu < placement.size(); ++gpu) {
        EXPECT_EQ(placement[gpu].at("gpu"), gpu);
        EXPECT_EQ(placement[gpu].at("node"), gpu / 8);
        auto role = placement[gpu];
        role.erase("gpu");
        role.erase("node");
        EXPECT_TRUE(roles.insert(role.dump()).second) << role;
    }
}

TEST(plan_json, has_null_where_nobody_knows_how_long_colocation_takes) {
    auto input = preset_of("figure2").input;
    // Measured with different degrees, so that there is none for both.
    input.model.submodules[0].time = time_table{{{.micro_batch = 1, .tp = 2, .seconds = 1}}};
    input.model.submodules[1].time = time_table{{{.micro_batch = 1, .tp = 4, .seconds = 1}}};
    auto const plan = plan_cluster(input.model, input.cluster, input.batch);
    EXPECT_TRUE(json::parse(to_json(plan, input.cluster)).at("colocated_makespan").is_null());
}

}  // namespace
}  // namespace evenkeel::examples::plan_json_test
