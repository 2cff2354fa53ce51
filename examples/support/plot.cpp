// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "svg.hpp"
#include "text.hpp"

namespace evenkeel::examples {
namespace {

constexpr auto panel_width = 470.0;
constexpr auto panel_height = 132.0;
constexpr auto left = 68.0;
constexpr auto between_panels = 34.0;
constexpr auto right = 70.0;
constexpr auto width = left + 2 * panel_width + between_panels + right;
constexpr auto head = 104.0;
constexpr auto above_panel = 46.0;
constexpr auto below_panel = 26.0;
constexpr auto row_height = above_panel + panel_height + below_panel;
constexpr auto foot = 34.0;
/// The highest bar stays this far below the top of its panel.
constexpr auto headroom = 1.06;

constexpr auto style = R"(.before { fill: #a3b1c2 }
.after { fill: #0f766e }
.node { stroke: #1f2933; stroke-opacity: 0.18; stroke-width: 1; fill: none }
.bound { stroke: #c2410c; stroke-width: 1.5; stroke-dasharray: 6 4; fill: none }
.mean { stroke: #52606d; stroke-width: 1.2; stroke-dasharray: 1.5 3; fill: none }
.bound-label { font-size: 11px; fill: #c2410c }
)";

double mean_of(std::vector<std::uint64_t> const& loads) {
    auto const sum = std::accumulate(loads.begin(), loads.end(), 0.0, [](double total, std::uint64_t load) {
        return total + static_cast<double>(load);
    });
    return loads.empty() ? 0 : sum / static_cast<double>(loads.size());
}

double largest_of(std::vector<std::uint64_t> const& loads) {
    return loads.empty() ? 0 : static_cast<double>(*std::max_element(loads.begin(), loads.end()));
}

/// One panel: where it stands, and which value is how high.
struct frame {
    double x = 0;
    double y = 0;
    double most = 1;
    std::size_t ranks = 1;

    [[nodiscard]] double bottom() const noexcept { return y + panel_height; }
    [[nodiscard]] double height_of(double value) const noexcept { return value / most * panel_height; }
    [[nodiscard]] double level(double value) const noexcept { return bottom() - height_of(value); }
    [[nodiscard]] double at_rank(std::size_t rank) const noexcept {
        return x + panel_width * static_cast<double>(rank) / static_cast<double>(ranks);
    }
};

double height_of(loads_plot const& plot) { return head + row_height * static_cast<double>(plot.phases.size()) + foot; }

class picture : private svg_picture {
  public:
    explicit picture(loads_plot const& plot) : svg_picture{width, height_of(plot), plot.title, style}, plot_{plot} {}

    std::string draw() {
        text(left, 36, "title", plot_.title);
        text(left, 57, "subtitle", plot_.subtitle);
        draw_legend();
        for (auto i = std::size_t{0}; i < plot_.phases.size(); ++i) {
            draw_phase(plot_.phases[i], head + row_height * static_cast<double>(i) + above_panel);
        }
        text(left + panel_width + between_panels / 2, height_of(plot_) - 14, "middle", caption());
        return finish();
    }

  private:
    [[nodiscard]] static std::size_t ranks_per_bar(std::size_t ranks) noexcept {
        constexpr auto most_bars = static_cast<std::size_t>(panel_width);
        return std::max<std::size_t>(1, (ranks + most_bars - 1) / most_bars);
    }

    [[nodiscard]] std::string caption() const {
        auto result = std::string{"rank"};
        if (plot_.ranks_per_node > 1) {
            result += fmt::format(", in nodes of {}", plot_.ranks_per_node);
        }
        auto const neighbours = plot_.phases.empty() ? 1 : ranks_per_bar(plot_.phases.front().before.size());
        if (neighbours > 1) {
            result += fmt::format("; each column shows the largest load of {} neighbours", neighbours);
        }
        return result;
    }

    void draw_legend() {
        auto x = left;
        constexpr auto y = 84.0;
        auto const swatch = [&](std::string_view kind, std::string_view words, double room) {
            box(kind, x, y - 10, 12, 12);
            text(x + 18, y, "legend", words);
            x += room;
        };
        swatch("before", "load before balancing", 164);
        swatch("after", "load after", 100);
        swatch("waiting", "time spent waiting for the slowest rank", 262);
        line("bound", x, y - 4, x + 26, y - 4);
        text(x + 32, y, "legend", "lower bound: no plan is better");
    }

    void draw_phase(phase_loads const& phase, double y) {
        auto const most =
            std::max({largest_of(phase.before), largest_of(phase.after), static_cast<double>(phase.lower_bound)});
        auto panel = frame{.x = left,
                           .y = y,
                           .most = most > 0 ? headroom * most : 1,
                           .ranks = std::max<std::size_t>(phase.before.size(), 1)};
        text(panel.x, y - 24, "phase", shortened(phase.name, 48));
        draw_panel(panel, "before", phase.before, phase.lower_bound);
        draw_scale(panel, most);
        panel.x += panel_width + between_panels;
        draw_panel(panel, "after", phase.after, phase.lower_bound);
        if (phase.lower_bound > 0) {
            label_lines(panel, phase);
        }
    }

    void draw_panel(frame const& panel, std::string_view kind, std::vector<std::uint64_t> const& loads,
                    std::uint64_t bound) {
        auto const largest = largest_of(loads);
        auto const mean = mean_of(loads);
        box("waiting", panel.x, panel.level(largest), panel_width, panel.height_of(largest));
        for (auto const tick : ticks(panel.most / headroom)) {
            line("grid", panel.x, panel.level(tick), panel.x + panel_width, panel.level(tick));
        }
        draw_nodes(panel);
        draw_bars(panel, kind, loads);
        line("axis", panel.x, panel.bottom(), panel.x + panel_width, panel.bottom());
        if (bound > 0) {
            line("bound", panel.x, panel.level(static_cast<double>(bound)), panel.x + panel_width,
                 panel.level(static_cast<double>(bound)));
        }
        if (shows_mean(bound, mean)) {
            line("mean", panel.x, panel.level(mean), panel.x + panel_width, panel.level(mean));
        }
        auto const imbalance = mean > 0 ? largest / mean : 1;
        add("\n<text x=\"{:.1f}\" y=\"{:.1f}\">{}: largest / mean <tspan class=\"figure\">{:.3f}</tspan>, waiting "
            "<tspan class=\"figure\">{:.1f} %</tspan></text>",
            panel.x, panel.y - 7, kind, imbalance, 100 * (1 - 1 / imbalance));
    }

    void draw_bars(frame const& panel, std::string_view kind, std::vector<std::uint64_t> const& loads) {
        auto const neighbours = ranks_per_bar(loads.size());
        auto const pitch = panel_width / static_cast<double>(panel.ranks);
        // Bars with air between them while they are wide enough, a skyline without seams beyond.
        auto const air = neighbours == 1 && pitch >= 3 ? std::min(0.2 * pitch, 4.0) : 0;
        add("\n<path class=\"{}\" d=\"", kind);
        if (air == 0) {
            add("M{:.2f} {:.2f}", panel.x, panel.bottom());
        }
        for (auto first = std::size_t{0}; first < loads.size(); first += neighbours) {
            auto const end = std::min(first + neighbours, loads.size());
            auto const load = *std::max_element(loads.begin() + static_cast<std::ptrdiff_t>(first),
                                                loads.begin() + static_cast<std::ptrdiff_t>(end));
            auto const top = panel.level(static_cast<double>(load));
            if (air > 0) {
                add("M{:.2f} {:.2f}V{:.2f}H{:.2f}V{:.2f}z", panel.at_rank(first) + air / 2, panel.bottom(), top,
                    panel.at_rank(end) - air / 2, panel.bottom());
            } else {
                add("V{:.2f}H{:.2f}", top, panel.at_rank(end));
            }
        }
        if (air == 0) {
            add("V{:.2f}z", panel.bottom());
        }
        add("\"/>");
    }

    void draw_nodes(frame const& panel) {
        constexpr auto least_label_room = 30.0;
        constexpr auto least_line_room = 10.0;
        auto const per_node = plot_.ranks_per_node;
        auto const room = panel_width * static_cast<double>(per_node) / static_cast<double>(panel.ranks);
        auto const every = [&](double least) {
            return per_node * static_cast<std::size_t>(
                                  std::bit_ceil(static_cast<std::size_t>(std::max(1.0, std::ceil(least / room)))));
        };
        if (per_node > 1 && room >= least_line_room) {
            add("\n<path class=\"node\" d=\"");
            for (auto rank = per_node; rank < panel.ranks; rank += per_node) {
                add("M{:.2f} {:.2f}V{:.2f}", panel.at_rank(rank), panel.y, panel.bottom());
            }
            add("\"/>");
        }
        for (auto rank = std::size_t{0}; rank < panel.ranks; rank += every(least_label_room)) {
            line("axis", panel.at_rank(rank), panel.bottom(), panel.at_rank(rank), panel.bottom() + 4);
            text(panel.at_rank(rank), panel.bottom() + 16, "tick middle", fmt::to_string(rank));
        }
    }

    [[nodiscard]] static std::vector<double> ticks(double most) {
        auto result = std::vector<double>{};
        auto const step = step_of(most, 3.5);
        for (auto tick = step; tick <= most * 1.0001; tick += step) {
            result.push_back(tick);
        }
        return result;
    }

    void draw_scale(frame const& panel, double most) {
        text(panel.x - 8, panel.bottom() + 4, "tick end", "0");
        if (most > 0) {
            for (auto const tick : ticks(most)) {
                text(panel.x - 8, panel.level(tick) + 4, "tick end", amount(tick));
            }
        }
        add("\n<text class=\"tick middle\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">load in tokens</text>",
            panel.x - 50, panel.y + panel_height / 2);
    }

    [[nodiscard]] static bool shows_mean(std::uint64_t bound, double mean) {
        return static_cast<double>(bound) > 1.02 * mean;
    }

    void label_lines(frame const& panel, phase_loads const& phase) {
        auto const x = panel.x + panel_width + 7;
        auto const bound = panel.level(static_cast<double>(phase.lower_bound));
        text(x, bound + 4, "bound-label", "bound");
        auto const mean = mean_of(phase.after);
        if (shows_mean(phase.lower_bound, mean)) {
            constexpr auto line_height = 13.0;
            text(x, std::max(panel.level(mean), bound + line_height) + 4, "tick", "mean");
        }
    }

    loads_plot const& plot_;
};

}  // namespace

std::string to_svg(loads_plot const& plot) { return picture{plot}.draw(); }

}  // namespace evenkeel::examples
