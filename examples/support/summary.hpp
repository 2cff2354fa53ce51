// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

    void add(step_outcome const& step);

    [[nodiscard]] std::vector<phase_report> report() const;

    /// What each phase moves, over all steps.
    [[nodiscard]] std::vector<phase_bytes> const& by_phase() const noexcept { return by_phase_; }
    [[nodiscard]] std::uint64_t composed_saving() const noexcept { return composed_saving_; }

    /// The loads of the first step, to be drawn.
    [[nodiscard]] std::vector<phase_loads> first_loads() const;

  private:
    std::vector<std::string> names_;
    std::vector<std::vector<phase_outcome>> of_phase_;  ///< per phase, its steps
    std::vector<phase_bytes> by_phase_;
    std::uint64_t composed_saving_ = 0;
};

}  // namespace evenkeel::examples
