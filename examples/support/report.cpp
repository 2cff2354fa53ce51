// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text.hpp"

namespace evenkeel::examples {
namespace {

using row = std::vector<std::string>;

constexpr auto gap_between = std::size_t{3};

/// A gap of 0 is a proof, so nothing else may look like it.
std::string gap_text(double gap) {
    constexpr auto smallest = 0.0001;
    auto const percent = 100 * gap;
    return percent == 0 ? "0" : percent < smallest ? fmt::format("<{} %", smallest) : fmt::format("{:.4f} %", percent);
}

row row_of(phase_report const& phase) {
    constexpr auto longest_name = std::size_t{24};
    return {shortened(phase.name, longest_name),
            fmt::format("{:.3f}", phase.imbalance_before),
            fmt::format("{:.3f}", phase.imbalance_after),
            fmt::format("{:.3f}", phase.lower_bound_over_mean),
            gap_text(phase.gap),
            fmt::format("{:.2f} ms", phase.plan_ms),
            fmt::format("{:.1f} %", 100 * phase.moved_share),
            fmt::format("{:.1f} %", 100 * phase.inter_node_share)};
}

void append_row(std::string& table, row const& cells, std::span<std::size_t const> widths, std::size_t names) {
    for (auto column = std::size_t{0}; column < cells.size(); ++column) {
        auto const padding = std::string(widths[column] - width_of(cells[column]), ' ');
        // The names stand to the left, the figures to the right.
        table += std::string(column == 0 ? 0 : gap_between, ' ');
        table += column < names ? cells[column] + padding : padding + cells[column];
    }
    table.erase(table.find_last_not_of(' ') + 1);
    table += '\n';
}

std::string closing(exchange_report const& exchange) {
    auto const bytes = [](std::uint64_t count) { return human_bytes(static_cast<double>(count)); };
    auto const verdict = exchange.wrong == 0
                             ? std::string{"every byte verified"}
                             : fmt::format("{} WRONG {}", exchange.wrong, exchange.wrong == 1 ? "BYTE" : "BYTES");
    return fmt::format("{} went to another rank, {} of them to another node: {}.\n", bytes(exchange.bytes),
                       bytes(exchange.inter_node_bytes), verdict);
}

std::string at_full_size(report const& report) {
    if (report.by_phase.empty()) {
        return {};
    }
    auto inputs = 0.0;
    auto outputs = 0.0;
    auto text = 0.0;
    for (auto const& phase : report.by_phase) {
        inputs += static_cast<double>(phase.raw.between_nodes);
        outputs += static_cast<double>(phase.output.between_nodes);
        text += static_cast<double>(phase.text.between_nodes);
    }
    return fmt::format(
        "At full size, {} of inputs, {} of outputs and gradients and {} of text go to another node;\n"
        "going home between encoder and LLM would move {} more.\n",
        human_bytes(inputs), human_bytes(outputs), human_bytes(text),
        human_bytes(static_cast<double>(report.composed_saving)));
}

/// @param names  How many columns are names.
std::string to_table(std::span<row const> rows, std::size_t names, std::string_view headline) {
    auto widths = std::vector<std::size_t>(rows.front().size());
    for (auto const& cells : rows) {
        for (auto column = std::size_t{0}; column < cells.size(); ++column) {
            widths[column] = std::max(widths[column], width_of(cells[column]));
        }
    }
    auto table = fmt::format("{}\n\n", headline);
    for (auto i = std::size_t{0}; i < rows.size(); ++i) {
        append_row(table, rows[i], widths, names);
        if (i == 1) {
            auto const total = std::accumulate(widths.begin(), widths.end(), gap_between * (widths.size() - 1));
            table += std::string(total, '-') + '\n';
        }
    }
    table += "\nImbalance is the largest load over the mean, gap how far the largest load is above the lower bound.\n";
    return table;
}

std::vector<row> headings() {
    return {{"", "imbalance", "imbalance", "lowest", "", "", "", "between"},
            {"phase", "before", "after", "possible", "gap", "planning", "moved", "nodes"}};
}

nlohmann::ordered_json json_of(report const& report) {
    auto phases = nlohmann::ordered_json::array();
    for (auto const& phase : report.phases) {
        phases.push_back({{"name", phase.name},
                          {"imbalance_before", phase.imbalance_before},
                          {"imbalance_after", phase.imbalance_after},
                          {"lower_bound_over_mean", phase.lower_bound_over_mean},
                          {"gap", phase.gap},
                          {"plan_ms", phase.plan_ms},
                          {"moved_share", phase.moved_share},
                          {"inter_node_share", phase.inter_node_share},
                          {"max_tokens_before", phase.max_tokens_before},
                          {"max_tokens_after", phase.max_tokens_after}});
    }
    auto by_phase = nlohmann::ordered_json::array();
    for (auto const& phase : report.by_phase) {
        auto const bytes = [](moving_bytes const& one) {
            return nlohmann::ordered_json{{"total", one.total}, {"between_nodes", one.between_nodes}};
        };
        by_phase.push_back({{"name", phase.name},
                            {"raw", bytes(phase.raw)},
                            {"output", bytes(phase.output)},
                            {"text", bytes(phase.text)}});
    }
    return {{"method", report.method},
            {"ranks", report.ranks},
            {"ranks_per_node", report.ranks_per_node},
            {"samples", report.samples},
            {"phases", std::move(phases)},
            {"exchange",
             {{"bytes", report.exchange.bytes},
              {"inter_node_bytes", report.exchange.inter_node_bytes},
              {"wrong", report.exchange.wrong},
              {"by_phase", std::move(by_phase)},
              {"composed_saving", report.composed_saving}}}};
}

}  // namespace

std::string to_json(report const& report) { return json_of(report).dump(2) + "\n"; }

std::string to_json(std::span<report const> methods) {
    auto reports = nlohmann::ordered_json::array();
    std::ranges::transform(methods, std::back_inserter(reports), json_of);
    return nlohmann::ordered_json{{"methods", std::move(reports)}}.dump(2) + "\n";
}

std::string to_table(report const& report, std::string_view headline) {
    auto rows = headings();
    std::ranges::transform(report.phases, std::back_inserter(rows), row_of);
    return to_table(rows, 1, headline) + closing(report.exchange) + at_full_size(report);
}

std::string to_table(std::span<report const> methods, std::string_view headline) {
    auto rows = headings();
    rows[0].insert(rows[0].begin() + 1, "");
    rows[1].insert(rows[1].begin() + 1, "method");
    for (auto phase = std::size_t{0}; phase < methods.front().phases.size(); ++phase) {
        for (auto const& report : methods) {
            auto cells = row_of(report.phases[phase]);
            cells.insert(cells.begin() + 1, report.method);
            if (&report != &methods.front()) {
                cells.front().clear();
            }
            rows.push_back(std::move(cells));
        }
    }
    auto table = to_table(rows, 2, headline);
    for (auto const& report : methods) {
        table += fmt::format("{}: {}{}", report.method, closing(report.exchange), at_full_size(report));
    }
    return table;
}

}  // namespace evenkeel::examples
