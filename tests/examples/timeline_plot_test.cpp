// SPDX-License-Identifier: Apache-2.0
#include "examples/support/timeline_plot.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/simulate.hpp>

namespace evenkeel::examples::timeline_plot_test {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
    auto found = std::size_t{0};
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
        ++found;
    }
    return found;
}

TEST(timeline_plot, draws_a_block_for_everything_that_is_computed) {
    auto const drawn = distmm_pipe(stage_count{4}, {16}, {4});
    auto const simulated = simulate(drawn, uniform_times({4}, {.forward = 1, .backward = 2}, 1));
    auto const svg = to_svg({.title = "a <b> & c", .pipelines = std::span{&drawn, 1}, .simulated = simulated});

    // One more of each is in the legend; groups alternate between two shades.
    EXPECT_EQ(count(svg, "<rect class=\"F"), 4u * 16 + 1);
    EXPECT_EQ(count(svg, "<rect class=\"B"), 4u * 16 + 1);
    EXPECT_EQ(count(svg, "<rect class=\"S"), 4u + 1);
    EXPECT_EQ(count(svg, "<rect class=\"B1"), 4u * 8);
    EXPECT_EQ(count(svg, ">16</text>"), 2u * 4);
    EXPECT_EQ(count(svg, "class=\"waiting\""), 4u + 1);
    EXPECT_EQ(count(svg, "class=\"meets\""), 4u);
    EXPECT_EQ(count(svg, "a &lt;b&gt; &amp; c"), 2u);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(timeline_plot, draws_pipelines_below_each_other_and_their_meetings_through_all) {
    auto const pipelines = std::array{distmm_pipe(stage_count{2}, {6}, {2}), distmm_pipe(stage_count{4}, {12}, {4})};
    auto const simulated = simulate(pipelines, std::array{uniform_times({2}, {.forward = 2, .backward = 4}),
                                                          uniform_times({4}, {.forward = 1, .backward = 2})});
    auto const svg = to_svg({.pipelines = pipelines, .simulated = simulated});

    EXPECT_EQ(count(svg, "pipeline 1, ends at 43"), 1u);
    EXPECT_EQ(count(svg, "pipeline 2, ends at 45"), 1u);
    EXPECT_EQ(count(svg, "class=\"meets\""), 3u);
    // They take no time here.
    EXPECT_EQ(count(svg, "<rect class=\"S"), 0u);
}

TEST(timeline_plot, joins_blocks_that_nobody_could_tell_apart) {
    auto const drawn = distmm_pipe(stage_count{16}, {2048}, {64});
    auto const simulated = simulate(drawn, uniform_times({16}, {.forward = 1, .backward = 2}, 1));

    EXPECT_LT(to_svg({.pipelines = std::span{&drawn, 1}, .simulated = simulated}).size(), 3'000'000u);
}

TEST(timeline_plot, of_nothing_is_a_picture) {
    auto const idle = distmm_pipe(stage_count{2}, {0}, {1});
    auto const simulated = simulate(idle, uniform_times({2}, {}));
    EXPECT_TRUE(to_svg({.pipelines = std::span{&idle, 1}, .simulated = simulated}).ends_with("</svg>\n"));
    EXPECT_TRUE(to_svg({.simulated = simulation{}}).ends_with("</svg>\n"));

    auto const instant = distmm_pipe(stage_count{2}, {2}, {1});
    auto const no_time = simulate(instant, uniform_times({2}, {}));
    EXPECT_EQ(to_svg({.pipelines = std::span{&instant, 1}, .simulated = no_time}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::examples::timeline_plot_test
