// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// How long one stage works on a micro-batch. Any unit of time, the same everywhere; no time is above 1e200.
struct stage_times {
    double forward = 0;
    double backward = 0;        ///< as one instruction
    double input_gradient = 0;  ///< as two instructions, with the next
    double weight_gradient = 0;

    friend bool operator==(stage_times const&, stage_times const&) = default;
};

/// What connects a stage with the next one, in each direction.
struct link_times {
    double latency = 0;
    /// Bytes per unit of time.
    double bandwidth = std::numeric_limits<double>::infinity();
    /// Whether a device computes while it sends; if not, a send keeps it busy until the bytes have arrived.
    bool overlaps = true;

    friend bool operator==(link_times const&, link_times const&) = default;
};

/// How long everything takes in one pipeline.
///
///     evenkeel::uniform_times(evenkeel::stage_count{4}, {.forward = 1, .backward = 2}, 1);
struct pipeline_times {
    std::vector<stage_times> stages = {};
    /// The interaction of one group, forward and backward, with the movement of features before and gradients after it.
    double sync = 0;
    /// Until the features of all pipelines are there, counted from when the last pipeline has come.
    double gather = 0;
    link_times link = {};
    /// What a stage hands to the next per micro-batch, and gets back as gradient; one per stage but the last. Empty: 0.
    std::vector<std::uint64_t> boundary_bytes = {};

    friend bool operator==(pipeline_times const&, pipeline_times const&) = default;
};

/// The same times for every stage, and links that take none.
[[nodiscard]] inline pipeline_times uniform_times(stage_count stages, stage_times times, double sync = 0) {
    return {.stages = std::vector<stage_times>(stages.value, times), .sync = sync};
}

namespace detail {

/// Of anything. As many of these as there can be instructions, one after the other, still end at a finite time.
inline constexpr double longest_time = 1e200;

inline void require_times(std::string_view function, std::string const& argument, schedule const& pipeline,
                          pipeline_times const& times) {
    auto const require = [&](std::string const& name, double value) {
        if (!(value >= 0 && value <= longest_time)) {
            throw_invalid(function, argument + name, value, "a time from 0 to 1e200");
        }
    };
    if (times.stages.size() != pipeline.stages) {
        throw_invalid(function, argument + ".stages.size()", times.stages.size(),
                      "one for each of " + std::to_string(pipeline.stages) + " stages");
    }
    for (std::size_t stage = 0; stage < times.stages.size(); ++stage) {
        auto const name = element(".stages", stage);
        require(name + ".forward", times.stages[stage].forward);
        require(name + ".backward", times.stages[stage].backward);
        require(name + ".input_gradient", times.stages[stage].input_gradient);
        require(name + ".weight_gradient", times.stages[stage].weight_gradient);
    }
    require(".sync", times.sync);
    require(".gather", times.gather);
    require(".link.latency", times.link.latency);
    if (!(times.link.bandwidth > 0)) {
        throw_invalid(function, argument + ".link.bandwidth", times.link.bandwidth, "more than 0");
    }
    if (!times.boundary_bytes.empty() && times.boundary_bytes.size() + 1 != pipeline.stages) {
        throw_invalid(function, argument + ".boundary_bytes.size()", times.boundary_bytes.size(),
                      "none, or one for each stage but the last");
    }
    for (std::size_t stage = 0; stage < times.boundary_bytes.size(); ++stage) {
        auto const bytes = times.boundary_bytes[stage];
        if (!(static_cast<double>(bytes) / times.link.bandwidth <= longest_time)) {
            throw_invalid(function, argument + ".link.bandwidth", times.link.bandwidth,
                          "as much as carries " + element("boundary_bytes", stage) + ", " + std::to_string(bytes) +
                              ", within 1e200");
        }
    }
}

}  // namespace detail

}  // namespace evenkeel
