// SPDX-License-Identifier: Apache-2.0
#include "examples/support/plot.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "examples/support/text.hpp"

namespace evenkeel::examples::plot_test {
namespace {

std::size_t occurrences(std::string_view text, std::string_view what) {
    auto count = std::size_t{0};
    for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) {
        ++count;
    }
    return count;
}

/// Whether every element that is opened is closed, in order.
bool is_well_formed(std::string_view svg) {
    auto open = std::vector<std::string_view>{};
    for (auto at = svg.find('<'); at != std::string_view::npos; at = svg.find('<', at + 1)) {
        auto const end = svg.find('>', at);
        if (end == std::string_view::npos) {
            return false;
        }
        auto const tag = svg.substr(at + 1, end - at - 1);
        auto const name = tag.substr(0, tag.find_first_of(" /\n", 1));
        if (tag.starts_with('/')) {
            if (open.empty() || open.back() != tag.substr(1)) {
                return false;
            }
            open.pop_back();
        } else if (!tag.ends_with('/')) {
            open.push_back(name);
        }
    }
    return open.empty() && is_utf8(svg) && svg.find("nan") == std::string_view::npos &&
           svg.find("inf") == std::string_view::npos;
}

TEST(plot, shows_each_phase_before_and_after) {
    auto const svg =
        to_svg({.title = "Loads",
                .subtitle = "four ranks",
                .ranks_per_node = 2,
                .phases = {{.name = "image", .before = {9, 1, 1, 1}, .after = {3, 3, 3, 3}, .lower_bound = 3},
                           {.name = "llm", .before = {4, 4, 4, 8}, .after = {5, 5, 5, 5}, .lower_bound = 5}}});

    EXPECT_TRUE(is_well_formed(svg));
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_EQ(occurrences(svg, "<path class=\"before\""), 2u);
    EXPECT_EQ(occurrences(svg, "<path class=\"after\""), 2u);
    EXPECT_EQ(occurrences(svg, "<path class=\"node\""), 4u);
    EXPECT_EQ(occurrences(svg, ">bound<"), 2u);
    for (auto const* const words : {">Loads<", ">four ranks<", ">image<", ">llm<", ">3.000<", ">1.000<", ">1.600<",
                                    ">load in tokens<", ">rank, in nodes of 2<"}) {
        EXPECT_NE(svg.find(words), std::string::npos) << words;
    }
}

TEST(plot, draws_the_mean_where_the_bound_lies_above_it) {
    auto const drawn = [](std::uint64_t bound) {
        return occurrences(
            to_svg({.phases = {{.name = "llm", .before = {4, 0}, .after = {4, 0}, .lower_bound = bound}}}), ">mean<");
    };
    EXPECT_EQ(drawn(2), 0u);
    EXPECT_EQ(drawn(4), 1u);
}

TEST(plot, escapes_whatever_a_column_is_called) {
    auto const svg = to_svg({.title = "<script>\"&'\x01\xff\xef\xbf\xbf",
                             .phases = {{.name = "</text>", .before = {1}, .after = {1}, .lower_bound = 1}}});
    EXPECT_TRUE(is_well_formed(svg));
    EXPECT_NE(svg.find("&lt;script&gt;&quot;&amp;'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"), std::string::npos);
    EXPECT_NE(svg.find("&lt;/text&gt;"), std::string::npos);
}

TEST(plot, draws_phases_without_load_or_rank) {
    EXPECT_TRUE(is_well_formed(to_svg(loads_plot{})));
    EXPECT_TRUE(is_well_formed(to_svg({.phases = {{.name = "none"}}})));
    EXPECT_TRUE(is_well_formed(to_svg({.phases = {{.name = "zero", .before = {0, 0}, .after = {0, 0}}}})));
}

TEST(plot, draws_loads_of_any_size) {
    EXPECT_TRUE(is_well_formed(to_svg({.phases = {{.name = "llm",
                                                   .before = {UINT64_MAX, 1},
                                                   .after = {UINT64_MAX, UINT64_MAX},
                                                   .lower_bound = UINT64_MAX}}})));
}

class plot_of_ranks : public testing::TestWithParam<std::size_t> {};

TEST_P(plot_of_ranks, stays_well_formed_and_small) {
    auto const ranks = GetParam();
    auto plot = loads_plot{.ranks_per_node = 8};
    for (auto const* const name : {"image", "audio", "video", "depth", "llm"}) {
        auto& phase = plot.phases.emplace_back();
        phase.name = name;
        for (auto rank = std::size_t{0}; rank < ranks; ++rank) {
            phase.before.push_back(rank * 7919 % 1000);
            phase.after.push_back(500);
        }
        phase.lower_bound = 500;
    }
    auto const svg = to_svg(plot);
    EXPECT_TRUE(is_well_formed(svg));
    EXPECT_LT(svg.size(), 200'000u);
    EXPECT_EQ(svg.find("neighbours") != std::string::npos, ranks > 470);
}

INSTANTIATE_TEST_SUITE_P(ranks, plot_of_ranks, testing::Values(1, 2, 7, 8, 64, 157, 256, 470, 471, 1000, 4096, 16384));

TEST(plot, loses_no_peak_among_many_ranks) {
    auto loads = std::vector<std::uint64_t>(4096, 1);
    auto const flat = to_svg({.phases = {{.name = "llm", .before = loads, .after = loads, .lower_bound = 1000}}});
    loads[1234] = 1000;
    auto const peaked = to_svg({.phases = {{.name = "llm", .before = loads, .after = loads, .lower_bound = 1000}}});

    // The top of a bar of 1000 under a head of 104 + 46 and 6 % of air above 132 pixels.
    EXPECT_EQ(flat.find("V157.47H"), std::string::npos);
    EXPECT_NE(peaked.find("V157.47H"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::examples::plot_test
