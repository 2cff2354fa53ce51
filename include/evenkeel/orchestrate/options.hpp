// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// Which samples share a micro-batch. All are choices of the sample alone, so that none moves a byte.
enum class dealing : std::uint8_t {
    best,            ///< `heavy_together` or `even`, whichever lets the largest loads add up to less; `as_drawn` where
                     ///< that lets them add up to no more, and no more has to leave its node
    even,            ///< every phase's load is level over the micro-batches
    heavy_together,  ///< samples heavier than a rank's share all in the first, the rest level
    as_drawn         ///< as each rank drew them: its first samples in the first
};

/// What `orchestrate` may decide, beside the plans of the phases (`phase`).
///
///     evenkeel::orchestrate(samples, phases, cluster, {.micro_batches = {4}});
struct orchestrate_options {
    micro_batch_count micro_batches = {1};
    dealing deal = dealing::best;

    /// The micro-batch of each sample, where the caller knows it; empty: it is dealt.
    std::vector<micro_batch_id> micro_batch_of_sample = {};

    /// Told the number of each phase when a plan of it has been made, once per micro-batch: for progress and timing.
    std::function<void(std::size_t)> planned = {};
};

}  // namespace evenkeel
