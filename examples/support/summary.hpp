// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "balanced_step.hpp"
#include "plot.hpp"
#include "report.hpp"

namespace evenkeel::examples {

/// Collects what the steps did to each phase.
///
/// Imbalances and gap are those of the worst step, each for itself; the lower bound is of the step with the largest
/// imbalance after. The planning time is the median. Shares are over all steps.
class summary {
  public:
    explicit summary(std::vector<std::string> phases) : names_{std::move(phases)}, of_phase_(names_.size()) {}

    void add(std::span<phase_outcome const> step);

    [[nodiscard]] std::vector<phase_report> report() const;

    /// The loads of the first step, to be drawn.
    [[nodiscard]] std::vector<phase_loads> first_loads() const;

  private:
    std::vector<std::string> names_;
    std::vector<std::vector<phase_outcome>> of_phase_;  ///< per phase, its steps
};

}  // namespace evenkeel::examples
