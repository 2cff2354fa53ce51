// SPDX-License-Identifier: Apache-2.0
#include "plan_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plan_report.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace evenkeel::examples {
namespace {

constexpr auto left = 40.0;
constexpr auto inner_width = 980.0;
constexpr auto width = left + inner_width + left;

// Above: the times.
constexpr auto times_top = 96.0;
constexpr auto bars_left = left + 150;
constexpr auto bars_width = 756.0;
constexpr auto bar_height = 22.0;
constexpr auto bar_pitch = 31.0;
// Below: the placement.
constexpr auto between = 62.0;
constexpr auto legend_pitch = 20.0;
constexpr auto node_pad = 6.0;
constexpr auto node_label = 17.0;
constexpr auto node_gap = 14.0;
constexpr auto most_height = 760.0;
constexpr auto most_nodes = std::size_t{2048};

constexpr auto style = R"(.M0 { fill: #0f766e } .M1 { fill: #2f6fb0 } .M2 { fill: #b45309 } .M3 { fill: #7c3aed }
.M4 { fill: #be185d } .M5 { fill: #4d7c0f } .M6 { fill: #0e7490 } .M7 { fill: #92400e }
.all { fill: #4b5563 }
.tensor { fill: #64748b } .pipeline { fill: #94a3b8 } .gradients { fill: #b8c4d3 } .interaction { fill: #dde4ec }
.node { fill: #f5f7f9; stroke: #cbd2d9; stroke-width: 1 }
.idle { fill: none; stroke: #cbd2d9; stroke-width: 1; stroke-dasharray: 3 2 }
.light { fill: #ffffff; text-anchor: middle; font-weight: 600 }
.dark { fill: #1f2933; text-anchor: middle; font-weight: 600 }
.step { stroke: #c2410c; stroke-width: 1.5; stroke-dasharray: 6 4; fill: none }
.step-label { font-size: 12px; font-weight: 600; fill: #c2410c; text-anchor: middle }
)";

constexpr auto colours = std::size_t{8};

std::string colour_of(std::size_t modality) { return fmt::format("M{}", modality % colours); }

/// How the nodes are laid out on the page.
struct grid {
    std::size_t columns = 1;  ///< of GPUs in a node
    std::size_t rows = 1;
    std::size_t across = 1;  ///< nodes
    std::size_t nodes = 1;   ///< that are drawn
    double cell = 4;

    [[nodiscard]] double node_width() const noexcept { return cell * static_cast<double>(columns) + 2 * node_pad; }
    [[nodiscard]] double node_height() const noexcept { return cell * static_cast<double>(rows) + 2 * node_pad; }
    [[nodiscard]] double pitch() const noexcept { return node_height() + (names_nodes() ? node_label : 0) + gap(); }
    [[nodiscard]] double gap() const noexcept { return cell < 14 ? 6 : node_gap; }
    [[nodiscard]] bool names_nodes() const noexcept { return cell >= 10; }
    [[nodiscard]] double height() const noexcept {
        return pitch() * static_cast<double>((nodes + across - 1) / across);
    }
};

grid grid_of(cluster const& cluster) {
    auto result = grid{.nodes = std::min(cluster.nodes, most_nodes)};
    // Near to a square, and full where that goes: 4 x 2 for eight GPUs.
    auto const gpus = cluster.gpus_per_node;
    auto const side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(gpus))));
    result.columns = side;
    for (auto columns = side; columns <= 2 * side; ++columns) {
        if (gpus % columns == 0) {
            result.columns = columns;
            break;
        }
    }
    result.rows = (gpus + result.columns - 1) / result.columns;
    for (auto const cell : {54.0, 46.0, 38.0, 32.0, 27.0, 22.0, 18.0, 14.0, 11.0, 8.0, 6.0, 4.0}) {
        result.cell = cell;
        auto const fit = std::floor((inner_width + result.gap()) / (result.node_width() + result.gap()));
        result.across = std::max<std::size_t>(1, std::min(result.nodes, static_cast<std::size_t>(fit)));
        if (result.height() <= most_height && fit >= 1) {
            break;
        }
    }
    // Full rows: 8 nodes stand in two rows of four, not of seven and one.
    auto const down = (result.nodes + result.across - 1) / result.across;
    result.across = (result.nodes + down - 1) / down;
    return result;
}

/// A bar of the upper part.
struct time_bar {
    std::string name = {};
    std::string colour = {};
    gpu_seconds spent = {};
    bool waits = true;
};

std::vector<time_bar> bars_of(cluster_plan const& plan) {
    auto bars = std::vector<time_bar>{};
    for (auto i = std::size_t{0}; i < plan.modalities.size(); ++i) {
        bars.push_back({.name = plan.modalities[i].name, .colour = colour_of(i), .spent = plan.score.modalities[i]});
    }
    if (plan.colocated) {
        bars.push_back({.name = "all colocated", .colour = "all", .spent = plan.colocated->spent, .waits = false});
    } else if (plan.recomputing) {
        bars.push_back(
            {.name = "colocated, twice forward", .colour = "all", .spent = plan.recomputing->spent, .waits = false});
    }
    return bars;
}

class placement_picture : private svg_picture {
  public:
    placement_picture(placement_plot const& plot, std::vector<time_bar> bars, grid const& grid, double height)
        : svg_picture{width, height, title_of(plot), style}, plot_{plot}, bars_{std::move(bars)}, grid_{grid} {
        longest_ = plot.plan.seconds();
        for (auto const& bar : bars_) {
            longest_ = std::max(longest_, bar.spent.total());
        }
        longest_ = longest_ > 0 ? longest_ : 1;
    }

    [[nodiscard]] static double height_of(placement_plot const& plot, std::size_t bars, grid const& grid) {
        return placement_top(bars) + legend_pitch * static_cast<double>(plot.plan.modalities.size()) + 14 +
               grid.height() + 24;
    }

    std::string draw() {
        text(left, 36, "title", title_of(plot_));
        text(left, 57, "subtitle", summary_of(plot_.input));
        draw_times();
        draw_placement(placement_top(bars_.size()));
        return finish();
    }

  private:
    static std::string title_of(placement_plot const& plot) {
        auto title = fmt::format("{}: a step takes {}", plot.name, human_seconds(plot.plan.seconds()));
        if (plot.plan.colocated) {
            title += fmt::format(", colocated {}", human_seconds(plot.plan.colocated->seconds));
        }
        return title;
    }

    static double placement_top(std::size_t bars) {
        return times_top + 36 + bar_pitch * static_cast<double>(bars) + between;
    }

    [[nodiscard]] double at(double seconds) const noexcept { return bars_left + bars_width * seconds / longest_; }

    /// All ticks in one unit: 0, 0.2 s, 0.4 s.
    [[nodiscard]] std::string tick_text(double seconds) const {
        constexpr auto units = std::array{"s", "ms", "us", "ns"};
        auto unit = std::size_t{0};
        for (auto largest = longest_; largest < 0.9995 && unit + 1 < units.size(); largest *= 1000) {
            seconds *= 1000;
            ++unit;
        }
        return seconds == 0 ? "0" : fmt::format("{:.6g} {}", seconds, units[unit]);
    }

    void draw_times() {
        text(left, times_top, "phase", "What a step is spent on");
        draw_pattern_legend();
        auto y = times_top + 30;
        for (auto const& bar : bars_) {
            draw_bar(bar, y);
            y += bar_pitch;
        }
        line("axis", bars_left, y, bars_left + bars_width, y);
        auto const step = step_of(longest_, 8);
        for (auto tick = 0; tick * step <= longest_ * 1.0001; ++tick) {
            line("axis", at(tick * step), y, at(tick * step), y + 4);
            text(at(tick * step), y + 17, "tick middle", tick_text(tick * step));
        }
        if (plot_.plan.seconds() > 0) {
            auto const x = at(plot_.plan.seconds());
            line("step", x, times_top + 24, x, y);
            text(std::clamp(x, bars_left + 20, bars_left + bars_width - 20), times_top + 18, "step-label", "step");
        }
    }

    void draw_pattern_legend() {
        auto const used = [&](double gpu_seconds::*part) {
            return std::any_of(bars_.begin(), bars_.end(),
                               [&](time_bar const& bar) { return bar.spent.*part > 0.002 * longest_; });
        };
        auto x = bars_left + 130;
        auto const swatch = [&](std::string_view kind, std::string_view words) {
            box(kind, x, times_top - 10, 12, 12);
            text(x + 18, times_top, "legend", words);
            x += 38 + 6.3 * static_cast<double>(words.size());
        };
        box("M0", x, times_top - 10, 6, 12);
        box("M1", x + 6, times_top - 10, 6, 12);
        text(x + 18, times_top, "legend", "computing");
        x += 38 + 6.3 * 9;
        for (auto const& [part, kind, words] : patterns) {
            if (used(part)) {
                swatch(kind, words);
            }
        }
        swatch("waiting", "waiting");
    }

    void draw_bar(time_bar const& bar, double y) {
        text(bars_left - 12, y + bar_height - 7, "end", shortened(bar.name, 22));
        if (bar.waits) {
            box("waiting", bars_left, y, at(plot_.plan.seconds()) - bars_left, bar_height);
        }
        auto done = 0.0;
        auto const part = [&](std::string_view kind, double seconds) {
            if (seconds > 0.0005 * longest_) {
                box(kind, at(done), y, at(done + seconds) - at(done), bar_height);
            }
            done += seconds;
        };
        part(bar.colour, bar.spent.computing);
        for (auto const& [member, kind, words] : patterns) {
            part(kind, bar.spent.*member);
        }
        text(at(std::max(done, bar.waits ? plot_.plan.seconds() : 0.0)) + 8, y + bar_height - 7, "figure",
             human_seconds(done));
    }

    void draw_placement(double top) {
        auto const& plan = plot_.plan;
        auto const idle = plot_.input.cluster.gpus().value - plan.gpus().value;
        auto heading = std::string{"Which GPU works for which replica"};
        heading += idle == 0 ? "" : fmt::format(", {} of {} GPUs idle", idle, plot_.input.cluster.gpus().value);
        if (grid_.nodes < plot_.input.cluster.nodes) {
            heading += fmt::format(", the first {} of {} nodes", grid_.nodes, plot_.input.cluster.nodes);
        }
        text(left, top - 22, "phase", heading);
        auto y = top;
        for (auto i = std::size_t{0}; i < plan.modalities.size(); ++i, y += legend_pitch) {
            auto const& one = plan.modalities[i];
            auto const& cut = one.deployment.cut;
            box(colour_of(i), left, y - 10, 12, 12);
            auto words = fmt::format("{}: {} of {} GPU{}", shortened(one.name, 40),
                                     counted(one.load.replicas, "replica"), cut.gpus(), cut.gpus() == 1 ? "" : "s");
            if (cut.pp > 1) {
                words += fmt::format(", {} stages, paler from one to the next", cut.pp);
            }
            if (cut.tp > 1) {
                words += fmt::format(", {} tensor-parallel GPUs side by side", cut.tp);
            }
            words += fmt::format(", {} GB of {} in use", human_gigabytes(one.bytes),
                                 human_gigabytes(plot_.input.cluster.memory_bytes));
            text(left + 18, y, "legend", words);
        }
        draw_nodes(y + 4);
    }

    static std::string counted(std::size_t count, std::string_view noun) {
        return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
    }

    static std::string human_gigabytes(double bytes) { return fmt::format("{:.3g}", bytes / 1e9); }

    struct corner {
        double x;
        double y;
    };

    [[nodiscard]] corner node_corner(std::size_t node, double top) const noexcept {
        auto const column = static_cast<double>(node % grid_.across);
        auto const row = static_cast<double>(node / grid_.across);
        return {left + column * (grid_.node_width() + grid_.gap()),
                top + row * grid_.pitch() + (grid_.names_nodes() ? node_label : 0)};
    }

    void draw_nodes(double top) {
        for (auto node = std::size_t{0}; node < grid_.nodes; ++node) {
            auto const [x, y] = node_corner(node, top);
            add("\n<rect class=\"node\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"5\"/>", x, y,
                grid_.node_width(), grid_.node_height());
            if (grid_.names_nodes()) {
                text(x + 1, y - 5, "tick", fmt::format("node {}", node));
            }
        }
        auto const gpus = grid_.nodes * plot_.input.cluster.gpus_per_node;
        auto taken = std::vector<bool>(gpus);
        for (auto i = std::size_t{0}; i < plot_.plan.modalities.size(); ++i) {
            auto const& cut = plot_.plan.modalities[i].deployment.cut;
            auto const& placed = plot_.plan.placement.gpus[i];
            for (auto first = std::size_t{0}; first < placed.size(); first += cut.tp) {
                if (to_index(placed[first]) < gpus) {
                    draw_block(i, first, top);
                }
                for (auto rank = first; rank < first + cut.tp; ++rank) {
                    if (to_index(placed[rank]) < gpus) {
                        taken[to_index(placed[rank])] = true;
                    }
                }
            }
        }
        for (auto gpu = std::size_t{0}; gpu < gpus; ++gpu) {
            if (!taken[gpu]) {
                auto const [x, y] = cell_corner(gpu, top);
                box("idle", x + air() + 0.5, y + air() + 0.5, grid_.cell - 2 * air() - 1, grid_.cell - 2 * air() - 1);
            }
        }
    }

    [[nodiscard]] double air() const noexcept { return grid_.cell >= 14 ? 1.5 : 0.5; }

    [[nodiscard]] corner cell_corner(std::size_t gpu, double top) const noexcept {
        auto const per_node = plot_.input.cluster.gpus_per_node;
        auto const [x, y] = node_corner(gpu / per_node, top);
        auto const place = gpu % per_node;
        return {x + node_pad + grid_.cell * static_cast<double>(place % grid_.columns),
                y + node_pad + grid_.cell * static_cast<double>(place / grid_.columns)};
    }

    /// The GPUs of a stage: one rectangle where they are one on the page, otherwise one for each row of the node that
    /// they reach into.
    void draw_block(std::size_t modality, std::size_t first, double top) {
        auto const& cut = plot_.plan.modalities[modality].deployment.cut;
        auto const per_node = plot_.input.cluster.gpus_per_node;
        auto const gpu = to_index(plot_.plan.placement.gpus[modality][first]);
        auto const stage = first / cut.tp % cut.pp;
        auto const replica = first / cut.gpus();
        auto const paleness = cut.pp == 1 ? 0.0 : static_cast<double>(stage) / static_cast<double>(cut.pp - 1);
        auto const opacity = 1 - 0.62 * paleness;
        auto const place = gpu % per_node;
        auto const is_rectangle = place % grid_.columns == 0 && cut.tp % grid_.columns == 0;
        auto const rows = is_rectangle ? cut.tp / grid_.columns : std::size_t{1};
        for (auto done = std::size_t{0}; done < cut.tp;) {
            auto const [x, y] = cell_corner(gpu + done, top);
            auto const in_row = std::min(grid_.columns - (place + done) % grid_.columns, cut.tp - done);
            auto const across = grid_.cell * static_cast<double>(in_row) - 2 * air();
            auto const down = grid_.cell * static_cast<double>(rows) - 2 * air();
            add("\n<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\"{}/>",
                colour_of(modality), x + air(), y + air(), across, down, grid_.cell >= 14 ? 3 : 1,
                opacity < 1 ? fmt::format(" fill-opacity=\"{:.2f}\"", opacity) : "");
            if (done == 0 && grid_.cell >= 18) {
                draw_label(x + air() + across / 2, y + air() + down / 2, replica, stage, cut.pp, opacity);
            }
            done += is_rectangle ? cut.tp : in_row;
        }
    }

    void draw_label(double x, double y, std::size_t replica, std::size_t stage, std::size_t stages, double opacity) {
        auto const kind = opacity > 0.62 ? "light" : "dark";
        auto const size = std::min(13.0, 0.42 * grid_.cell);
        auto const two_lines = stages > 1 && grid_.cell >= 27;
        add("\n<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" style=\"font-size:{:.1f}px\">{}</text>", x,
            y + (two_lines ? -1.0 : 0.36 * size), kind, size, replica);
        if (two_lines) {
            add("\n<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" style=\"font-size:{:.1f}px;font-weight:400\">stage "
                "{}</text>",
                x, y + 0.3 * grid_.cell, kind, grid_.cell >= 38 ? 9.5 : 7.0, stage);
        }
    }

    struct pattern_style {
        double gpu_seconds::*part;
        std::string_view kind;
        std::string_view words;
    };
    static constexpr auto patterns =
        std::array<pattern_style, 4>{{{&gpu_seconds::tensor, "tensor", "tensor-parallel sums"},
                                      {&gpu_seconds::pipeline, "pipeline", "between stages"},
                                      {&gpu_seconds::gradients, "gradients", "gradients"},
                                      {&gpu_seconds::interaction, "interaction", "features"}}};

    placement_plot const& plot_;
    std::vector<time_bar> bars_;
    grid grid_;
    double longest_ = 1;
};

}  // namespace

std::string to_svg(placement_plot const& plot) {
    auto bars = bars_of(plot.plan);
    auto const grid = grid_of(plot.input.cluster);
    auto const height = placement_picture::height_of(plot, bars.size(), grid);
    return placement_picture{plot, std::move(bars), grid, height}.draw();
}

}  // namespace evenkeel::examples
