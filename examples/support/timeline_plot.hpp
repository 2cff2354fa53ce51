// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>

namespace evenkeel::examples {

struct timeline_plot {
    std::string title = {};
    std::string subtitle = {};
    std::span<schedule const> pipelines = {};
    /// What `simulate` says of them.
    simulation const& simulated;
};

/// Draws who works on what when: a row per device, on the same scale for all pipelines.
///
/// A block is a forward, a backward or a batch-sync, with the number of its micro-batch or group; neighbouring groups
/// differ in shade. What shows between the blocks is time in which a device waits. The step line under a row is how
/// many micro-batches the device holds. Blocks too narrow to tell apart are drawn as one.
[[nodiscard]] std::string to_svg(timeline_plot const& plot);

}  // namespace evenkeel::examples
