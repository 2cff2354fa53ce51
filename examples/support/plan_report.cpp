// SPDX-License-Identifier: Apache-2.0
#include "plan_report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "text.hpp"

namespace evenkeel::examples {
namespace {

constexpr auto columns = std::size_t{11};
using row = std::array<std::string, columns>;

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "18", or "9-10" where replicas differ.
std::string range_text(std::vector<std::uint64_t> const& numbers) {
    auto const [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    return *least == *most ? fmt::to_string(*most) : fmt::format("{}-{}", *least, *most);
}

row row_of(modality_plan const& one, gpu_seconds const& spent, double step) {
    constexpr auto longest_name = std::size_t{24};
    auto const& cut = one.deployment.cut;
    return {shortened(printable(one.name), longest_name),
            fmt::to_string(cut.tp),
            fmt::to_string(cut.pp),
            fmt::to_string(one.load.replicas),
            fmt::to_string(one.deployment.gpus().value),
            range_text(one.replica_batches()),
            fmt::format("{} x {}", one.load.group * one.load.syncs, one.load.micro_batch),
            human_bytes(one.bytes),
            human_seconds(spent.computing),
            human_seconds(spent.communication()),
            fmt::format("{:.0f} %", step > 0 ? std::max(0.0, 100 * (1 - spent.total() / step)) : 0)};
}

std::string table_of(cluster_plan const& plan) {
    auto rows = std::vector<row>{
        {"", "tensor", "pipe-", "", "", "samples", "micro-", "memory", "", "communi-", ""},
        {"modality", "par.", "line", "replicas", "GPUs", "each", "batches", "per GPU", "computing", "cation", "waits"}};
    for (auto i = std::size_t{0}; i < plan.modalities.size(); ++i) {
        rows.push_back(row_of(plan.modalities[i], plan.score.modalities[i], plan.seconds()));
    }
    auto widths = std::array<std::size_t, columns>{};
    for (auto const& cells : rows) {
        for (auto column = std::size_t{0}; column < columns; ++column) {
            widths[column] = std::max(widths[column], width_of(cells[column]));
        }
    }
    auto table = std::string{};
    for (auto const& cells : rows) {
        auto text = std::string{};
        for (auto column = std::size_t{0}; column < columns; ++column) {
            auto const padding = std::string(widths[column] - width_of(cells[column]), ' ');
            text += column == 0 ? cells[column] + padding : "  " + padding + cells[column];
        }
        auto const width = width_of(text);
        text.erase(text.find_last_not_of(' ') + 1);
        table += text + "\n";
        if (&cells == &rows[1]) {
            table += std::string(width, '-') + "\n";
        }
    }
    return table;
}

/// A share that is not 0.
std::string percent_of(double share) {
    return share < 0.001 ? std::string{"0.1 %"} : fmt::format("{:.1f} %", 100 * share);
}

std::string bound_text(cluster_plan const& plan) {
    if (plan.seconds() <= plan.lower_bound) {
        return "No other plan with the micro-batch sizes tried takes less.\n";
    }
    return fmt::format("No plan with the micro-batch sizes tried takes less than {}; this one takes {} more.\n",
                       human_seconds(plan.lower_bound), percent_of(plan.seconds() / plan.lower_bound - 1));
}

std::string colocated_text(colocated_plan const& colocated) {
    return fmt::format("{} ({} tensor parallel, {}, {} each, {} per GPU)", human_seconds(colocated.seconds),
                       colocated.tp, counted(colocated.load.replicas, "replica"),
                       counted(colocated.load.share * colocated.load.syncs, "sample"), human_bytes(colocated.bytes));
}

std::string comparison(cluster_plan const& plan, plan_preset const& preset) {
    auto text = std::string{"\n"};
    if (!plan.colocated) {
        text += "Colocated, all submodules on every GPU, it does not fit into memory, or its time is not known.\n";
    } else {
        text += fmt::format("Colocated, all submodules on every GPU: {}.\n", colocated_text(*plan.colocated));
    }
    if (plan.recomputing && (!plan.colocated || plan.recomputing->seconds < plan.colocated->seconds)) {
        text += fmt::format("Colocated, running forward twice instead of keeping activations: {}.\n",
                            colocated_text(*plan.recomputing));
    }
    if (plan.colocation_wins()) {
        text += "COLOCATION WINS: with these submodules apart, GPUs wait for more than they gain.\n";
    }
    if (plan.colocated) {
        text += fmt::format("Speed-up over colocated {:.2f}x", plan.colocated->seconds / plan.seconds());
        if (preset.paper_speed_up) {
            text += fmt::format(", measured in the paper {:.2f}x", *preset.paper_speed_up);
        }
        text += preset.remark.empty() ? std::string{".\n"} : fmt::format(".\n{}\n", preset.remark);
    }
    if (preset.paper_speed_up) {
        text += fmt::format("\n{}", paper_assumptions());
    }
    return text;
}

}  // namespace

std::string human_seconds(double seconds) {
    constexpr auto units = std::array{"s", "ms", "us", "ns"};
    if (seconds <= 0) {
        return "0";
    }
    auto unit = std::size_t{0};
    for (; seconds < 0.9995 && unit + 1 < units.size(); ++unit) {
        seconds *= 1000;
    }
    return fmt::format("{:.{}f} {}", seconds, seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0, units[unit]);
}

std::string summary_of(plan_input const& input) {
    return fmt::format("{} on {} of {}, {} per step", counted(input.model.submodules.size(), "submodule"),
                       counted(input.cluster.nodes, "node"), counted(input.cluster.gpus_per_node, "GPU"),
                       counted(input.batch.samples, "sample"));
}

std::string to_table(cluster_plan const& plan, plan_preset const& preset, std::string_view name) {
    auto const& input = preset.input;
    auto text = fmt::format("{}: {}\n\n{}\n", name, summary_of(input), table_of(plan));
    text += fmt::format("A step takes {} on {} of {}", human_seconds(plan.seconds()), plan.gpus().value,
                        counted(input.cluster.gpus().value, "GPU"));
    auto const gap = plan.score.gap();
    text += gap == 0 ? std::string{", and in no placement of these parts less"}
                     : fmt::format(", at most {} more than in the best placement of these parts", percent_of(gap));
    text += ".\n" + bound_text(plan);
    auto const& meets = plan.meeting;
    text += meets.syncs == 1
                ? fmt::format("All {} meet at once.\n", counted(meets.per_sync, "sample"))
                : fmt::format("{} meet in each of {} syncs.\n", counted(meets.per_sync, "sample"), meets.syncs);
    return text + comparison(plan, preset);
}

}  // namespace evenkeel::examples
