// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evenkeel::comm {

/// What a step was like on this rank, for logs and dashboards.
struct step_statistics {
    std::uint64_t step = 0;
    std::size_t samples = 0;  ///< that this rank has drawn

    /// Of each phase: how much longer it takes than if its load were level over the ranks, in every micro-batch.
    std::vector<double> imbalance = {};

    // Of the raw inputs, by this rank.
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_between_nodes = 0;  ///< sent, to another node
    std::uint64_t bytes_received = 0;
    std::uint64_t bytes_kept = 0;

    // Of what has moved since, sent by this rank. Written by the thread that moves it.
    std::uint64_t output_bytes_sent = 0;
    std::uint64_t gradient_bytes_sent = 0;

    double seconds_gathering = 0;  ///< the lengths of all ranks, most of it waiting for the last
    double seconds_planning = 0;
    double seconds_moving = 0;   ///< packing, exchanging and unpacking raw inputs
    double seconds_waiting = 0;  ///< of the caller, in `wait`: what was not hidden behind its own work
};

}  // namespace evenkeel::comm
