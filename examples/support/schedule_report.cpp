// SPDX-License-Identifier: Apache-2.0
#include "schedule_report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <evenkeel/core/ids.hpp>

namespace evenkeel::examples {
namespace {

using json = nlohmann::ordered_json;

std::string name_of(schedule const& drawn, instruction const& one) {
    auto const part = to_index(one.stage) / drawn.devices();
    return part == 0 ? drawn_name(one) : fmt::format("{}.{}", drawn_name(one), part + 1);
}

json json_of(schedule const& drawn, timeline const& line) {
    auto rows = json::array();
    for (auto device = std::size_t{0}; device < drawn.devices(); ++device) {
        auto row = json::array();
        for (auto position = drawn.offsets[device]; position < drawn.offsets[device + 1]; ++position) {
            auto const& one = drawn.instructions[position];
            if (!is_transfer(one.kind)) {
                auto const& when = line.intervals[position];
                row.push_back(json::array({name_of(drawn, one), when.start, when.end}));
            }
        }
        rows.push_back(std::move(row));
    }
    return {
        {"end", line.end}, {"peak_in_flight", line.peak_in_flight}, {"bubble", line.bubble}, {"rows", std::move(rows)}};
}

/// The first instructions of a device, as many as fit into a line.
std::string beginning(schedule const& drawn, std::size_t device, std::size_t longest) {
    auto text = std::string{};
    for (auto const& one : drawn[to_id<device_id>(device)]) {
        if (is_transfer(one.kind)) {
            continue;
        }
        auto const name = name_of(drawn, one);
        if (text.size() + name.size() + 5 > longest) {
            return text + " ...";
        }
        text += (text.empty() ? "" : " ") + name;
    }
    return text;
}

}  // namespace

std::string to_json(std::span<schedule const> pipelines, simulation const& simulated) {
    if (pipelines.size() == 1) {
        return json_of(pipelines[0], simulated.pipelines[0]).dump() + "\n";
    }
    auto all = json::array();
    for (auto number = std::size_t{0}; number < pipelines.size(); ++number) {
        all.push_back(json_of(pipelines[number], simulated.pipelines[number]));
    }
    return json{{"end", simulated.end}, {"pipelines", std::move(all)}}.dump() + "\n";
}

std::string to_table(std::span<schedule const> pipelines, simulation const& simulated, std::string_view headline) {
    auto rows = std::vector<std::array<std::string, 5>>{{"", "busy", "bubble", "held", "begins with"}};
    for (auto number = std::size_t{0}; number < pipelines.size(); ++number) {
        auto const& drawn = pipelines[number];
        auto const& line = simulated.pipelines[number];
        for (auto device = std::size_t{0}; device < drawn.devices(); ++device) {
            auto const noun = drawn.stages == drawn.devices() ? "stage" : "device";
            rows.push_back({pipelines.size() == 1 ? fmt::format("{} {}", noun, device)
                                                  : fmt::format("pipeline {} {} {}", number + 1, noun, device),
                            fmt::format("{:.1f} %", 100 * simulated.busy_share(number, to_id<device_id>(device))),
                            fmt::format("{:.6g}", line.bubble[device]), fmt::to_string(line.peak_in_flight[device]),
                            beginning(drawn, device, 60)});
        }
    }
    auto widths = std::array<std::size_t, 5>{};
    for (auto const& row : rows) {
        for (auto column = std::size_t{0}; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    auto table = fmt::format("{}\n\n", headline);
    for (auto const& row : rows) {
        auto text = fmt::format("{:<{}}   {:>{}}   {:>{}}   {:>{}}   {}", row[0], widths[0], row[1], widths[1], row[2],
                                widths[2], row[3], widths[3], row[4]);
        text.erase(text.find_last_not_of(' ') + 1);
        table += text + "\n";
        if (&row == rows.data()) {
            table += std::string(widths[0] + widths[1] + widths[2] + widths[3] + widths[4] + 12, '-') + "\n";
        }
    }
    table += fmt::format(
        "\nThe step ends at {:.6g}. Bubble is the time in which a device does nothing, held the most "
        "micro-batches of\nwhich it keeps activations at once.\n",
        simulated.end);
    return table;
}

}  // namespace evenkeel::examples
