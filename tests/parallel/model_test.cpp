// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/parallel/model.hpp>

#include "builders.hpp"

namespace evenkeel::model_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// vision and audio -> llm -> speech
multimodal_model chain() {
    multimodal_model model{.submodules = {test::rated("vision", 1), test::rated("audio", 1), test::rated("llm", 1),
                                          test::rated("speech", 1)},
                           .interaction = {.kind = interaction_kind::join}};
    model.submodules[2].inputs = {"vision", "audio"};
    model.submodules[3].inputs = {"llm"};
    return model;
}

std::string refusal(multimodal_model const& bad) {
    try {
        require_model("plan_cluster", bad);
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "";
}

TEST(model, has_levels_by_what_a_sample_goes_through_before) {
    EXPECT_THAT(levels_of(chain()), ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(levels_of(test::figure_2()), ElementsAre(0, 0));
    auto skipping = chain();
    skipping.submodules[3].inputs = {"llm", "audio"};
    EXPECT_THAT(levels_of(skipping), ElementsAre(0, 0, 1, 2));
    EXPECT_EQ(refusal(chain()), "");
    EXPECT_EQ(refusal(test::figure_2()), "");
}

TEST(model, that_waits_for_itself_is_refused_by_name) {
    auto cyclic = chain();
    cyclic.submodules[0].inputs = {"speech"};
    EXPECT_THAT(refusal(cyclic),
                HasSubstr("submodule 'vision'.inputs = vision <- speech <- llm <- vision, expected a model without"));

    auto behind = chain();
    behind.submodules[2].inputs = {"llm"};
    EXPECT_THAT(refusal(behind), HasSubstr("submodule 'llm'.inputs = llm <- llm"));
}

TEST(model, refuses_inputs_and_names_that_lead_nowhere) {
    auto unknown = chain();
    unknown.submodules[3].inputs = {"lm"};
    EXPECT_THAT(refusal(unknown), HasSubstr("submodule 'speech'.inputs[0] = 'lm', expected the name of a submodule"));

    auto twice = chain();
    twice.submodules[2].inputs = {"vision", "vision"};
    EXPECT_THAT(refusal(twice), HasSubstr("submodule 'llm'.inputs[1]"));

    auto same = chain();
    same.submodules[1].name = "vision";
    EXPECT_THAT(refusal(same), HasSubstr("model.submodules[1].name = 'vision', expected a name of its own"));

    auto unnamed = chain();
    unnamed.submodules[1].name = "";
    EXPECT_THAT(refusal(unnamed), HasSubstr("submodule.name = ''"));

    EXPECT_THAT(refusal({}), HasSubstr("model.submodules = []"));
    EXPECT_THAT(refusal({.submodules = {test::rated("llm", 1)}, .interaction = {.kind = interaction_kind::join}}),
                HasSubstr("interaction.kind = join"));
    EXPECT_THAT(refusal({.submodules = std::vector<submodule>(300, test::rated("a", 1))}), HasSubstr("= 300"));
}

TEST(model, hands_features_along_inputs_and_between_ends) {
    EXPECT_THAT(feature_flows(chain()),
                ElementsAre(feature_flow{0, 2, flow_kind::input}, feature_flow{1, 2, flow_kind::input},
                            feature_flow{2, 3, flow_kind::input}));

    EXPECT_THAT(feature_flows(test::figure_2()),
                ElementsAre(feature_flow{1, 0, flow_kind::gathered}, feature_flow{0, 1, flow_kind::gathered}));

    auto fused = test::figure_2();
    fused.interaction.kind = interaction_kind::fusion;
    EXPECT_THAT(feature_flows(fused),
                ElementsAre(feature_flow{1, 0, flow_kind::fused}, feature_flow{0, 1, flow_kind::fused}));

    EXPECT_THAT(feature_flows({.submodules = {test::rated("alone", 1)}}), IsEmpty());
}

TEST(model, contrasts_only_what_is_nobodys_input) {
    // patches -> vision, against text
    multimodal_model model{.submodules = {test::rated("patches", 1), test::rated("vision", 1), test::rated("text", 1)}};
    model.submodules[1].inputs = {"patches"};
    EXPECT_THAT(feature_flows(model),
                ElementsAre(feature_flow{0, 1, flow_kind::input}, feature_flow{2, 1, flow_kind::gathered},
                            feature_flow{1, 2, flow_kind::gathered}));
}

class submodule_member : public testing::TestWithParam<double submodule::*> {};

TEST_P(submodule_member, is_refused_where_it_is_no_amount) {
    for (double const bad : {-1.0, std::nan(""), 1e30}) {
        auto model = test::figure_2();
        model.submodules[1].*GetParam() = bad;
        EXPECT_THAT(refusal(model), HasSubstr("submodule 'image'."));
    }
}

INSTANTIATE_TEST_SUITE_P(amounts, submodule_member,
                         testing::Values(&submodule::parameters, &submodule::tokens, &submodule::value_bytes,
                                         &submodule::weight_bytes, &submodule::gradient_bytes,
                                         &submodule::optimizer_bytes, &submodule::activation_bytes));

TEST(submodule, is_refused_where_its_counts_contradict_each_other) {
    auto const with = [](auto change) {
        multimodal_model model{.submodules = {{.name = "vision", .layers = 3, .time = seconds_per_sample{1}}}};
        change(model.submodules.front());
        return refusal(model);
    };
    EXPECT_EQ(with([](submodule&) {}), "");
    EXPECT_THAT(with([](submodule& one) { one.layers = 0; }), HasSubstr("submodule 'vision'.layers = 0"));
    EXPECT_THAT(with([](submodule& one) { one.layers = 5000; }), HasSubstr("layers = 5000"));
    EXPECT_THAT(with([](submodule& one) { one.pp = {4}; }), HasSubstr("pp[0] = 4, expected from 1 to 3"));
    EXPECT_THAT(with([](submodule& one) { one.tp = {1, 0}; }), HasSubstr("tp[1] = 0"));
    EXPECT_THAT(with([](submodule& one) { one.tp = {2, 2}; }), HasSubstr("tp[1] = 2, expected every choice once"));
    auto const heads = [](submodule& one) {
        one.tp = {1, 2};
        one.heads = 3;
    };
    EXPECT_THAT(with(heads), HasSubstr("submodule 'vision'.tp[1] = 2, expected a divisor of the 3 heads"));
    EXPECT_EQ(with([](submodule& one) {
                  one.tp = {1, 3};
                  one.heads = 6;
              }),
              "");
    EXPECT_THAT(with([](submodule& one) { one.replicas = {0}; }), HasSubstr("replicas[0] = 0"));
    EXPECT_THAT(with([](submodule& one) { one.micro_batches = {0}; }), HasSubstr("micro_batches[0] = 0"));
    EXPECT_THAT(with([](submodule& one) { one.layer_weights = {1, 2}; }), HasSubstr("layer_weights.size() = 2"));
    EXPECT_THAT(with([](submodule& one) { one.layer_weights = {1, 0, 2}; }), HasSubstr("layer_weights[1] = 0"));
    EXPECT_THAT(with([](submodule& one) { one.time = flops_time{.flops_per_second = 1}; }),
                HasSubstr("flops.per_sample = 0"));
    EXPECT_THAT(with([](submodule& one) {
                    one.time = flops_time{.flops_per_sample = 1, .flops_per_second = 1, .half_efficiency = 1};
                }),
                HasSubstr("flops.half_efficiency = 1"));
}

TEST(interaction, is_refused_where_it_is_no_amount) {
    auto model = test::figure_2();
    model.interaction.features = std::nan("");
    EXPECT_THAT(refusal(model), HasSubstr("interaction.features = nan"));
    model.interaction = {.flops_per_second = -1};
    EXPECT_THAT(refusal(model), HasSubstr("interaction.flops_per_second = -1"));
}

}  // namespace
}  // namespace evenkeel::model_test
