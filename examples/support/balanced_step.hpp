// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/rearrange/traffic.hpp>

#include "plot.hpp"
#include "report.hpp"

namespace evenkeel::examples {

/// How a phase is balanced.
enum class method : std::uint8_t {
    scratch,  ///< without regard to where samples are
    relabel,  ///< the same, then each batch goes to the rank that keeps most bytes in its node
    stay      ///< from where samples are, moving as little as possible
};

/// What one rank has drawn for one step.
struct drawn_step {
    /// The number of the step's first sample, counted over all steps: samples of two steps are told apart.
    std::uint64_t first_sample = 0;
    /// Per phase, the length of each of the rank's samples.
    std::vector<std::vector<std::uint64_t>> lengths;
};

/// What balancing did to one phase of one step; the same on every rank, but for the time.
struct phase_outcome {
    evenkeel::quality before;
    evenkeel::quality after;
    /// Moves, weighted by length.
    evenkeel::traffic moves;
    /// The processor time that this rank spent on its plan.
    double plan_ms = 0;
    /// Per rank, in the order before and after.
    std::vector<std::uint64_t> loads_before;
    std::vector<std::uint64_t> loads_after;
};

/// One training step's balancing as each rank runs it, next to the other ranks: all-gather the lengths, plan every
/// phase, move its payload to where the plan says and check every byte that has arrived.
///
/// @param how              Plans each phase.
/// @param bytes_per_token  The size of a payload.
/// @param checked          What this rank sent, and what arrived wrong, is added here.
[[nodiscard]] std::vector<phase_outcome> balance_step(comm::communicator& communicator, drawn_step const& drawn,
                                                      method how, std::uint64_t bytes_per_token,
                                                      exchange_report& checked);

}  // namespace evenkeel::examples
