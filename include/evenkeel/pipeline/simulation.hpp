// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/fingerprint.hpp>
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

/// By which a `timeline` says whose it is: two schedules as long as each other look alike otherwise.
///
/// @complexity O(instructions)
[[nodiscard]] inline std::uint64_t fingerprint_of(schedule const& drawn) noexcept {
    fingerprint hash;
    hash.add(drawn.stages).add(drawn.micro_batches).add(drawn.group).add(drawn.offsets.size());
    for (auto const offset : drawn.offsets) {
        hash.add(offset);
    }
    for (auto const& one : drawn.instructions) {
        hash.add(static_cast<std::uint64_t>(one.kind)).add(std::uint64_t{to_index(one.stage)} << 32U | one.number);
    }
    return hash.value();
}

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
    /// `fingerprint_of` the schedule: for a timeline that was measured, too.
    std::uint64_t drawn = 0;

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
