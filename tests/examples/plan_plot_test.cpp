// SPDX-License-Identifier: Apache-2.0
#include "examples/support/plan_plot.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <evenkeel/parallel/plan_cluster.hpp>

#include "examples/support/plan_presets.hpp"

namespace evenkeel::examples::plan_plot_test {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
    auto found = std::size_t{0};
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
        ++found;
    }
    return found;
}

std::string drawn(plan_input const& input, std::string name = "mine") {
    auto plan = plan_cluster(input.model, input.cluster, input.batch, {.placement = {.effort = 0}});
    auto const svg = to_svg({.name = std::move(name), .input = input, .plan = std::move(plan)});
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
    EXPECT_EQ(count(svg, "nan"), 0u);
    EXPECT_EQ(count(svg, "inf"), 0u);
    return svg;
}

TEST(plan_plot, draws_a_block_for_every_stage) {
    auto const svg = drawn(preset_of("figure2").input);
    // Its bar, its swatches, and 4 x 2 and 3 x 4 blocks of tensor-parallel GPUs.
    EXPECT_EQ(count(svg, "<rect class=\"M0\""), 3u + 8);
    EXPECT_EQ(count(svg, "<rect class=\"M1\""), 3u + 12);
    EXPECT_EQ(count(svg, "<rect class=\"node\""), 8u);
    EXPECT_EQ(count(svg, "<rect class=\"idle\""), 0u);
    EXPECT_EQ(count(svg, ">stage 3</text>"), 3u);
    EXPECT_EQ(count(svg, ">text: 4 replicas of 4 GPUs, 2 stages"), 1u);
    EXPECT_EQ(count(svg, ">mine: a step takes 36.0 s, colocated 36.0 s<"), 2u);
}

TEST(plan_plot, draws_what_waits_and_what_is_idle) {
    auto input = preset_of("figure4").input;
    input.cluster.gpus_per_node = 6;
    input.model.submodules[0].time = seconds_per_sample{.seconds = 0.1, .colocated = 1};
    auto const svg = drawn(input);
    EXPECT_EQ(count(svg, "<rect class=\"waiting\""), 1u + 2);
    EXPECT_GT(count(svg, "<rect class=\"idle\""), 0u);
    EXPECT_EQ(count(svg, " GPUs idle<"), 1u);
}

TEST(plan_plot, draws_a_block_that_is_no_rectangle_in_parts) {
    // Three of five tensor-parallel GPUs in the first row of a node, two in the second.
    auto input = preset_of("figure4").input;
    input.cluster.gpus_per_node = 6;
    input.model.submodules.resize(1);
    input.model.submodules[0].tp = {5};
    auto const svg = drawn(input);
    EXPECT_EQ(count(svg, "<rect class=\"M0\""), 3u + 2);
    EXPECT_EQ(count(svg, "<rect class=\"idle\""), 1u);
}

TEST(plan_plot, escapes_whatever_a_submodule_is_called) {
    auto input = preset_of("figure4").input;
    input.model.submodules[0].name = "<b>&\"\x01";
    EXPECT_EQ(count(drawn(input, "a<b"), "<b>"), 0u);
}

class plan_plot_of_nodes : public testing::TestWithParam<std::size_t> {};

TEST_P(plan_plot_of_nodes, stays_small) {
    auto input = preset_of("clip_1.1b").input;
    input.cluster.nodes = GetParam();
    input.batch = {8 * 8 * GetParam()};
    auto const svg = drawn(input);
    EXPECT_LT(svg.size(), 2'500'000u);
    EXPECT_EQ(count(svg, "<rect class=\"node\""), std::min<std::size_t>(GetParam(), 2048));
    EXPECT_EQ(count(svg, "the first 2048 of"), GetParam() > 2048 ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(nodes, plan_plot_of_nodes, testing::Values(1, 3, 8, 31, 128, 500, 2100));

}  // namespace
}  // namespace evenkeel::examples::plan_plot_test
