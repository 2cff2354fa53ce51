// SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace evenkeel::examples {

namespace {

phase_report report_of(std::string const& name, std::span<phase_outcome const> steps) {
    phase_report result{.name = name};
    std::vector<double> plan_ms;
    // In double: a total over many steps may exceed 64 bits, and a share needs no more.
    double total = 0;
    double moved = 0;
    double between_nodes = 0;
    for (auto const& step : steps) {
        result.imbalance_before = std::max(result.imbalance_before, step.before.imbalance());
        if (step.after.imbalance() >= result.imbalance_after) {
            result.imbalance_after = step.after.imbalance();
            result.lower_bound_over_mean = step.after.tail_floor();
        }
        result.gap = std::max(result.gap, step.after.gap());
        result.max_tokens_before = std::max(result.max_tokens_before, step.before.max_load);
        result.max_tokens_after = std::max(result.max_tokens_after, step.after.max_load);
        plan_ms.push_back(step.plan_ms);
        total += static_cast<double>(step.moves.total);
        moved += static_cast<double>(step.moves.moved);
        between_nodes += static_cast<double>(step.moves.between_nodes);
    }
    auto const middle = plan_ms.begin() + static_cast<std::ptrdiff_t>(plan_ms.size() / 2);
    std::ranges::nth_element(plan_ms, middle);
    result.plan_ms = *middle;
    result.moved_share = total == 0 ? 0 : moved / total;
    result.inter_node_share = total == 0 ? 0 : between_nodes / total;
    return result;
}

void add_to(moving_bytes& sum, moving_bytes const& one) {
    sum.total += one.total;
    sum.between_nodes += one.between_nodes;
}

}  // namespace

void summary::add(step_outcome const& step) {
    composed_saving_ += step.composed_saving;
    by_phase_.resize(step.bytes.size());
    for (std::size_t phase = 0; phase < step.bytes.size(); ++phase) {
        auto& sum = by_phase_[phase];
        sum.name = step.bytes[phase].name;
        add_to(sum.raw, step.bytes[phase].raw);
        add_to(sum.output, step.bytes[phase].output);
        add_to(sum.text, step.bytes[phase].text);
    }
    for (std::size_t phase = 0; phase < step.phases.size(); ++phase) {
        auto& steps = of_phase_[phase];
        steps.push_back(step.phases[phase]);
        if (steps.size() > 1) {
            // Only the first step is drawn.
            steps.back().loads_before.clear();
            steps.back().loads_after.clear();
            steps.back().moves.node_to_node.clear();
        }
    }
}

std::vector<phase_report> summary::report() const {
    std::vector<phase_report> phases;
    for (std::size_t phase = 0; phase < names_.size(); ++phase) {
        phases.push_back(report_of(names_[phase], of_phase_[phase]));
    }
    return phases;
}

std::vector<phase_loads> summary::first_loads() const {
    std::vector<phase_loads> phases;
    for (std::size_t phase = 0; phase < names_.size(); ++phase) {
        auto const& first = of_phase_[phase].front();
        phases.push_back({.name = names_[phase],
                          .before = first.loads_before,
                          .after = first.loads_after,
                          .lower_bound = first.after.lower_bound});
    }
    return phases;
}

}  // namespace evenkeel::examples
