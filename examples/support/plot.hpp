// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::examples {

/// The load of every rank in one phase.
struct phase_loads {
    std::string name = {};
    std::vector<std::uint64_t> before = {};
    std::vector<std::uint64_t> after = {};
    /// What the largest load cannot fall below.
    std::uint64_t lower_bound = 0;
};

struct loads_plot {
    std::string title = {};
    std::string subtitle = {};
    std::size_t ranks_per_node = 1;
    std::vector<phase_loads> phases = {};
};

/// Draws the loads per rank as a picture that stands alone: for each phase a panel before and one after, on the same
/// scale.
///
/// A bar is a rank's load. The tint above it, up to the largest load, is the time in which that rank waits for the
/// slowest one; the dashed line is the lower bound, and a dotted line the mean where it lies visibly below. Vertical
/// lines part the nodes. Where there are more ranks than a panel can show, a bar is the largest load of a few
/// neighbours, so that no peak is lost.
[[nodiscard]] std::string to_svg(loads_plot const& plot);

}  // namespace evenkeel::examples
