// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// From when to when.
struct interval {
    double start = 0;
    double end = 0;

    [[nodiscard]] double length() const noexcept { return end - start; }
    friend bool operator==(interval const&, interval const&) = default;
};

/// What one pipeline does when.
struct timeline {
    /// Of each of `schedule::instructions`. A send's ends when its bytes arrive; a receive's is the time its device
    /// waits.
    std::vector<interval> intervals;
    /// Per device, the time in which it works: computes, takes part in a batch-sync, or sends and cannot do anything
    /// else.
    std::vector<double> busy;
    /// Per device, the rest of the step: until the last pipeline ends.
    std::vector<double> bubble;
    /// Per device, the most micro-batches whose activations it holds at once, counted per stage.
    std::vector<std::size_t> peak_in_flight;
    double end = 0;

    friend bool operator==(timeline const&, timeline const&) = default;
};

/// What `simulate` finds.
struct simulation {
    std::vector<timeline> pipelines;
    /// When the last pipeline ends.
    double end = 0;

    /// The share of the step in which a device works; 1 where there is no work at all.
    [[nodiscard]] double busy_share(std::size_t pipeline, device_id device) const noexcept {
        return end == 0 ? 1.0 : pipelines[pipeline].busy[to_index(device)] / end;
    }

    friend bool operator==(simulation const&, simulation const&) = default;
};

}  // namespace evenkeel
