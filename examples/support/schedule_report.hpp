// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>

namespace evenkeel::examples {

/// The simulation for programs.
///
/// Of one pipeline `{"end", "peak_in_flight": [per device], "bubble": [per device], "rows": [per device: [["F1", start,
/// end], ...]]}`; of several `{"end", "pipelines": [of those]}`. Rows hold what is computed, numbered from 1: F, B (or
/// I and W, its parts) and, in the last stage, S. Where a device has several stages, "F1.2" is of its second one.
[[nodiscard]] std::string to_json(std::span<schedule const> pipelines, simulation const& simulated);

/// The simulation for people: `headline`, and a row per device.
[[nodiscard]] std::string to_table(std::span<schedule const> pipelines, simulation const& simulated,
                                   std::string_view headline);

}  // namespace evenkeel::examples
