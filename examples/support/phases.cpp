// SPDX-License-Identifier: Apache-2.0
#include "phases.hpp"

#include <algorithm>
#include <numeric>

namespace evenkeel::examples {

std::vector<phase_lengths> phases_of(trace const& trace) {
    auto phases = std::vector<phase_lengths>{};
    for (auto column = std::size_t{0}; column < trace.columns.size(); ++column) {
        if (trace.columns[column] == "text") {
            continue;
        }
        auto& phase = phases.emplace_back(phase_lengths{.name = trace.columns[column]});
        phase.lengths.reserve(trace.rows());
        for (auto row = std::size_t{0}; row < trace.rows(); ++row) {
            phase.lengths.push_back(trace[row][column]);
        }
    }
    auto& llm = phases.emplace_back(phase_lengths{.name = "llm"});
    llm.lengths.reserve(trace.rows());
    for (auto row = std::size_t{0}; row < trace.rows(); ++row) {
        llm.lengths.push_back(std::accumulate(trace[row].begin(), trace[row].end(), std::uint64_t{0}));
    }
    return phases;
}

std::vector<std::size_t> drawing::rows(std::size_t step, std::size_t rank, std::size_t of) const {
    auto result = std::vector<std::size_t>(samples_per_rank);
    auto const first = step * samples() + rank * samples_per_rank;
    for (auto i = std::size_t{0}; i < samples_per_rank; ++i) {
        result[i] = (first + i) % of;
    }
    return result;
}

std::vector<std::uint64_t> drawing::lengths(std::size_t step, std::size_t rank,
                                            std::span<std::uint64_t const> per_row) const {
    auto result = std::vector<std::uint64_t>(samples_per_rank);
    auto const drawn = rows(step, rank, per_row.size());
    std::transform(drawn.begin(), drawn.end(), result.begin(), [&](std::size_t row) { return per_row[row]; });
    return result;
}

double heaviest_step(std::span<phase_lengths const> phases, drawing const& drawing, std::size_t steps) {
    if (phases.empty() || phases.front().lengths.empty()) {
        return 0;
    }
    auto const rows = phases.front().lengths.size();
    auto before = std::vector<double>(rows + 1);
    for (auto row = std::size_t{0}; row < rows; ++row) {
        before[row + 1] = before[row];
        for (auto const& phase : phases) {
            before[row + 1] += static_cast<double>(phase.lengths[row]);
        }
    }
    auto const full = static_cast<double>(drawing.samples() / rows) * before[rows];
    auto const rest = drawing.samples() % rows;
    auto heaviest = 0.0;
    // After as many steps as there are rows, the rows that a step begins with come again.
    for (auto step = std::size_t{0}; step < std::min(steps, rows); ++step) {
        auto const first = step * drawing.samples() % rows;
        auto const end = first + rest;
        auto const part = end <= rows ? before[end] - before[first] : before[rows] - before[first] + before[end - rows];
        heaviest = std::max(heaviest, full + part);
    }
    return heaviest;
}

}  // namespace evenkeel::examples
