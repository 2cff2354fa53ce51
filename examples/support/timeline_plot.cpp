// SPDX-License-Identifier: Apache-2.0
#include "timeline_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "svg.hpp"

namespace evenkeel::examples {
namespace {

constexpr auto left = 84.0;
constexpr auto right = 148.0;
constexpr auto head = 106.0;
constexpr auto above_panel = 34.0;
constexpr auto below_panel = 30.0;
constexpr auto foot = 26.0;
/// A block narrower than this is drawn together with its neighbours.
constexpr auto least_block = 1.5;

constexpr auto style = R"(.F0 { fill: #2f6fb0 } .F1 { fill: #5b93cb }
.B0 { fill: #0f766e } .B1 { fill: #3a9a90 }
.I0 { fill: #0f766e } .I1 { fill: #3a9a90 }
.W0 { fill: #8fbf3f } .W1 { fill: #a9d05f }
.S0, .S1 { fill: #c2410c }
.number { fill: #ffffff; font-size: 10px; text-anchor: middle }
.W-number { fill: #24330a; font-size: 10px; text-anchor: middle }
.held { fill: #dbe2ea }
.meets { stroke: #c2410c; stroke-width: 1; stroke-dasharray: 3 3; stroke-opacity: 0.75; fill: none }
.sync-label { font-size: 11px; fill: #c2410c; text-anchor: middle }
)";

/// The sizes that follow from what is drawn.
struct measures {
    double width = 1160;
    double row = 24;
    double lane = 13;  ///< under a row, for the micro-batches held
    double gap = 5;
    double height = 0;

    [[nodiscard]] double pitch() const noexcept { return row + lane + gap; }
    [[nodiscard]] double panel(std::size_t devices) const noexcept {
        return above_panel + pitch() * static_cast<double>(devices) + below_panel;
    }
};

measures measures_of(timeline_plot const& plot) {
    auto result = measures{};
    auto devices = std::size_t{0};
    auto shortest = std::numeric_limits<double>::infinity();
    for (auto pipeline = std::size_t{0}; pipeline < plot.pipelines.size(); ++pipeline) {
        devices += plot.pipelines[pipeline].devices();
        for (auto position = std::size_t{0}; position < plot.pipelines[pipeline].instructions.size(); ++position) {
            auto const length = plot.simulated.pipelines[pipeline].intervals[position].length();
            if (!is_transfer(plot.pipelines[pipeline].instructions[position].kind) && length > 0) {
                shortest = std::min(shortest, length);
            }
        }
    }
    // Wide enough for a number of two digits in the shortest block, within what a screen can show.
    if (plot.simulated.end > 0) {
        result.width = std::clamp(17 * plot.simulated.end / shortest, 820.0, 1600.0);
    }
    // Tall rows as long as a screen has room for them.
    auto const room = 1400.0 / static_cast<double>(std::max<std::size_t>(devices, 1));
    if (room < result.pitch()) {
        result.row = std::max(5.0, room - 4);
        result.lane = room < 24 ? 0 : 10;
        result.gap = room < 24 ? 1 : 3;
        result.row = std::max(5.0, room - result.lane - result.gap);
    }
    result.height = head + foot;
    for (auto const& pipeline : plot.pipelines) {
        result.height += result.panel(pipeline.devices());
    }
    return result;
}

std::string time_text(double value) { return fmt::format("{:.6g}", value); }

class timeline_picture : private svg_picture {
  public:
    timeline_picture(timeline_plot const& plot, measures const& sizes)
        : svg_picture{left + sizes.width + right, sizes.height, plot.title, style},
          plot_{plot},
          sizes_{sizes},
          end_{plot.simulated.end > 0 ? plot.simulated.end : 1} {}

    std::string draw() {
        text(left, 36, "title", plot_.title);
        text(left, 57, "subtitle", plot_.subtitle);
        draw_legend();
        auto y = head + above_panel;
        draw_meetings(y);
        for (auto pipeline = std::size_t{0}; pipeline < plot_.pipelines.size(); ++pipeline) {
            draw_pipeline(pipeline, y);
            y += sizes_.panel(plot_.pipelines[pipeline].devices());
        }
        text(left + sizes_.width / 2, sizes_.height - 12, "tick middle", "time");
        return finish();
    }

  private:
    [[nodiscard]] double at(double time) const noexcept { return left + sizes_.width * time / end_; }

    /// Whether there is such a block to see.
    [[nodiscard]] bool shows(instruction_kind kind) const {
        for (auto pipeline = std::size_t{0}; pipeline < plot_.pipelines.size(); ++pipeline) {
            auto const& drawn = plot_.pipelines[pipeline].instructions;
            for (auto position = std::size_t{0}; position < drawn.size(); ++position) {
                if (drawn[position].kind == kind &&
                    plot_.simulated.pipelines[pipeline].intervals[position].length() > 0) {
                    return true;
                }
            }
        }
        return false;
    }

    void draw_legend() {
        auto x = left;
        constexpr auto y = 88.0;
        auto const swatch = [&](std::string_view kind, std::string_view words) {
            box(kind, x, y - 10, 12, 12);
            text(x + 18, y, "legend", words);
            x += 42 + 6.4 * static_cast<double>(words.size());
        };
        swatch("F0", "forward");
        swatch("B0", shows(instruction_kind::input_gradient) ? "input gradient" : "backward");
        if (shows(instruction_kind::weight_gradient)) {
            swatch("W0", "weight gradient");
        }
        if (shows(instruction_kind::batch_sync)) {
            swatch("S0", "batch-sync");
        }
        swatch("waiting", "waiting");
        if (sizes_.lane > 0) {
            swatch("held", "micro-batches held");
        }
    }

    /// A line through all pipelines where they meet.
    void draw_meetings(double top) {
        if (plot_.pipelines.empty() || plot_.pipelines[0].syncs() == 0) {
            return;
        }
        auto const& drawn = plot_.pipelines[0];
        auto last_label = -1e9;
        for (auto position = drawn.offsets[drawn.devices() - 1]; position < drawn.instructions.size(); ++position) {
            if (drawn.instructions[position].kind != instruction_kind::batch_sync) {
                continue;
            }
            auto const x = at(plot_.simulated.pipelines[0].intervals[position].end);
            if (x - last_label < 26) {
                continue;
            }
            last_label = x;
            line("meets", x, top - 6, x, sizes_.height - foot - below_panel + 4);
            text(x, top - 10, "sync-label", fmt::format("S{}", drawn.instructions[position].number + 1));
        }
    }

    void draw_pipeline(std::size_t pipeline, double top) {
        auto const& drawn = plot_.pipelines[pipeline];
        auto const& seen = plot_.simulated.pipelines[pipeline];
        if (plot_.pipelines.size() > 1) {
            text(12, top - 12, "phase", fmt::format("pipeline {}, ends at {}", pipeline + 1, time_text(seen.end)));
        }
        auto const bottom = top + sizes_.pitch() * static_cast<double>(drawn.devices());
        text(left + sizes_.width + 14, top - 10, "tick", "held");
        text(left + sizes_.width + 43, top - 10, "tick", "busy");
        for (auto device = std::size_t{0}; device < drawn.devices(); ++device) {
            draw_device(pipeline, device, top + sizes_.pitch() * static_cast<double>(device));
        }
        draw_scale(bottom);
    }

    void draw_scale(double bottom) {
        line("axis", left, bottom, left + sizes_.width, bottom);
        auto const step = step_of(end_, 12);
        for (auto tick = 0; tick * step <= end_ * 1.0001; ++tick) {
            line("axis", at(tick * step), bottom, at(tick * step), bottom + 4);
            text(at(tick * step), bottom + 16, "tick middle", amount(tick * step));
        }
    }

    void draw_device(std::size_t pipeline, std::size_t device, double y) {
        auto const& drawn = plot_.pipelines[pipeline];
        box("waiting", left, y, sizes_.width, sizes_.row);
        draw_blocks(pipeline, device, y);
        if (sizes_.lane > 0) {
            draw_held(pipeline, device, y + sizes_.row + 1);
        }
        // Names as dense as they can be read.
        auto const every = static_cast<std::size_t>(std::ceil(12 / sizes_.pitch()));
        if (device % std::max<std::size_t>(every, 1) != 0) {
            return;
        }
        auto const middle = y + std::min(sizes_.row / 2 + 4, sizes_.row + 4);
        auto const name = drawn.stages == drawn.devices() ? "stage" : "device";
        text(left - 10, middle, "end", fmt::format("{} {}", name, device));
        auto const& seen = plot_.simulated.pipelines[pipeline];
        add("\n<text x=\"{:.1f}\" y=\"{:.1f}\"><tspan class=\"figure\">{}</tspan><tspan x=\"{:.1f}\">{:.1f} "
            "%</tspan></text>",
            left + sizes_.width + 14, middle, seen.peak_in_flight[device], left + sizes_.width + 43,
            100 * plot_.simulated.busy_share(pipeline, to_id<device_id>(device)));
    }

    void draw_blocks(std::size_t pipeline, std::size_t device, double y) {
        auto const& drawn = plot_.pipelines[pipeline];
        auto const& seen = plot_.simulated.pipelines[pipeline];
        auto run_start = 0.0;
        auto run_end = -1.0;
        auto run_kind = std::string{};
        auto const flush = [&] {
            if (run_end > run_start) {
                box(run_kind, run_start, y, run_end - run_start, sizes_.row);
            }
            run_end = -1;
        };
        for (auto position = drawn.offsets[device]; position < drawn.offsets[device + 1]; ++position) {
            auto const& one = drawn.instructions[position];
            auto const& when = seen.intervals[position];
            auto const width = at(when.end) - at(when.start);
            if (is_transfer(one.kind) || width <= 0) {
                continue;
            }
            auto const group = one.kind == instruction_kind::batch_sync ? one.number
                               : drawn.group == 0                       ? one.number
                                                                        : one.number / drawn.group;
            auto const kind = fmt::format("{}{}", short_name(one.kind), group % 2);
            if (width < least_block) {
                // As long as the run grows, its first block's colour stands for all.
                if (run_end < 0 || at(when.start) - run_end > 0.01 || run_end - run_start > least_block) {
                    flush();
                    run_start = at(when.start);
                    run_kind = kind;
                }
                run_end = at(when.end);
                continue;
            }
            flush();
            auto const air = width > 5 ? 0.5 : 0.0;
            box(kind, at(when.start) + air, y, width - 2 * air, sizes_.row);
            auto const digits = fmt::to_string(std::uint64_t{one.number} + 1);
            if (width >= 3 + 6.0 * static_cast<double>(digits.size()) && sizes_.row >= 12) {
                text(at(when.start) + width / 2, y + sizes_.row / 2 + 3.6,
                     one.kind == instruction_kind::weight_gradient ? "W-number" : "number", digits);
            }
        }
        flush();
    }

    /// How many micro-batches the device holds, as a step line over the lane.
    void draw_held(std::size_t pipeline, std::size_t device, double y) {
        auto const& drawn = plot_.pipelines[pipeline];
        auto const& seen = plot_.simulated.pipelines[pipeline];
        auto const most = *std::max_element(seen.peak_in_flight.begin(), seen.peak_in_flight.end());
        if (most == 0) {
            return;
        }
        auto const bottom = y + sizes_.lane;
        auto held = std::size_t{0};
        auto drawn_to = -1e9;
        add("\n<path class=\"held\" d=\"M{:.2f} {:.2f}", left, bottom);
        auto const change = [&](double time, std::size_t next) {
            auto const x = at(time);
            // Steps closer than a pixel would only make the file long.
            if (x - drawn_to >= 0.25 || next > held) {
                add("H{:.2f}V{:.2f}", x, bottom - sizes_.lane * static_cast<double>(next) / static_cast<double>(most));
                drawn_to = x;
            }
            held = next;
        };
        for (auto position = drawn.offsets[device]; position < drawn.offsets[device + 1]; ++position) {
            auto const& when = seen.intervals[position];
            switch (drawn.instructions[position].kind) {
                case instruction_kind::forward: change(when.start, held + 1); break;
                case instruction_kind::backward:
                case instruction_kind::weight_gradient: change(when.end, held - 1); break;
                default: break;
            }
        }
        add("H{:.2f}V{:.2f}z\"/>", at(seen.end), bottom);
    }

    timeline_plot const& plot_;
    measures sizes_;
    double end_;
};

}  // namespace

std::string to_svg(timeline_plot const& plot) { return timeline_picture{plot, measures_of(plot)}.draw(); }

}  // namespace evenkeel::examples
