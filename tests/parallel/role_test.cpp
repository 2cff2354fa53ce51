// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/parallel/role.hpp>

#include "builders.hpp"

namespace evenkeel::role_test {
namespace {

multimodal_model towers(interaction_kind kind) {
    auto model = test::figure_2();
    model.submodules.push_back(test::rated("audio", 1));
    model.interaction = {
        .kind = kind, .features = 10, .value_bytes = 4, .flops_per_sample = 300, .flops_per_second = 100};
    return model;
}

TEST(roles, of_contrasted_towers_gather_every_other_tower) {
    auto const role = roles_of(towers(interaction_kind::contrastive))[1];
    EXPECT_EQ(role, (modality_role{.order = pipeline_order::batch_sync,
                                   .output_bytes = 40,
                                   .gathered_bytes = 2 * 40,
                                   .pair_bytes = 2 * 4,
                                   .pair_seconds = 2 * 6 * 10 / 100.0}));
}

TEST(roles, of_fused_towers_take_in_their_own_samples) {
    auto const role = roles_of(towers(interaction_kind::fusion))[1];
    EXPECT_EQ(role, (modality_role{.order = pipeline_order::batch_sync, .output_bytes = 3 * 40, .sample_seconds = 3}));
}

TEST(roles, of_encoders_run_ahead_of_the_llm) {
    auto model = towers(interaction_kind::join);
    model.submodules[2].inputs = {"text", "image"};
    auto const roles = roles_of(model);
    EXPECT_EQ(roles[0], (modality_role{.order = pipeline_order::one_group_ahead, .output_bytes = 40}));
    EXPECT_EQ(
        roles[2],
        (modality_role{.level = 1, .order = pipeline_order::one_f_one_b, .input_bytes = 2 * 40, .sample_seconds = 3}));
}

TEST(roles, without_features_cost_nothing) {
    for (auto const& role : roles_of(test::figure_2())) {
        EXPECT_EQ(role, modality_role{});
    }
}

}  // namespace
}  // namespace evenkeel::role_test
