// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>

#include "balanced_step.hpp"

namespace evenkeel::examples {

/// What steps behind which the next one is prepared were like; the same on every rank.
struct waits_report {
    bool overlap = true;
    double step_ms = 0;             ///< that a rank computes
    std::vector<double> waited_ms;  ///< of each rank, the median over the steps: until its inputs were there
    std::uint64_t wrong = 0;        ///< bytes that arrived and were not what they have to be
};

/// How the steps run.
struct overlapped_steps {
    std::size_t steps = 1;
    method how = method::stay;  ///< not `llm_only`, for a dispatcher is given no plans
    payload_scale scale = {};
    bool overlap = true;
    std::chrono::milliseconds computing{20};
};

/// Runs steps as a trainer does: a `comm::dispatcher` prepares the next one while one computes, which is to check every
/// byte that has arrived, and to sleep for the rest of the time.
///
/// @param names  Of the phases: encoders, and `llm` as the last, if at all.
/// @param draw   What this rank draws in a step; equally many samples on every rank.
[[nodiscard]] waits_report run_overlapped(comm::communicator& world, std::span<std::string const> names,
                                          std::function<drawn_step(std::size_t step)> const& draw,
                                          overlapped_steps const& what);

/// The report for people: what each rank waited.
[[nodiscard]] std::string to_text(waits_report const& report);

}  // namespace evenkeel::examples
