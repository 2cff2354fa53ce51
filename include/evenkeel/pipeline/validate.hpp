// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/deadlock.hpp>
#include <evenkeel/pipeline/detail/order.hpp>
#include <evenkeel/pipeline/detail/pass_table.hpp>
#include <evenkeel/pipeline/detail/presence.hpp>
#include <evenkeel/pipeline/fault.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// Everything that keeps pipelines from running, each by name; nothing if they run.
///
///     evenkeel::faults_of(std::array{text, image})[0].text;
///     // "pipelines[1], device 2: B3 stands before RECV_B3, which it needs"
///
/// The stages have to be a multiple of the devices. Every micro-batch has to pass every stage forward and backward,
/// once, with its transfers and batch-syncs; an instruction comes after what it needs on its device; a stage runs its
/// forwards in the order of the micro-batches; what is sent first is received first; all pipelines have equally many
/// batch-syncs; and run together, sends being buffered, no devices wait for each other in a circle. Any such order is
/// valid, whoever made it: two instructions that do not depend on each other may change places.
///
/// @param pipelines  One for every replica of every modality; they meet at their batch-syncs.
/// @complexity O(instructions + stages * micro-batches)
[[nodiscard]] inline std::vector<schedule_fault> faults_of(std::span<schedule const> pipelines) {
    std::vector<schedule_fault> faults;
    // Each look relies on what the ones before it have found to be in order.
    for (std::size_t number = 0; number < pipelines.size(); ++number) {
        detail::fault_list own{pipelines[number], number, faults};
        for (auto const look :
             {detail::check_shape, detail::check_presence, detail::check_order, detail::check_channels}) {
            if (own.empty()) {
                look(pipelines[number], own);
            }
        }
    }
    for (auto const look : {detail::check_meetings, detail::check_progress}) {
        if (faults.empty()) {
            look(pipelines, faults);
        }
    }
    return faults;
}

[[nodiscard]] inline std::vector<schedule_fault> faults_of(schedule const& pipeline) {
    return faults_of(std::span{&pipeline, 1});
}

/// Refuses pipelines that would not run.
///
/// @param function  Who asks; named in the error.
/// @throws std::invalid_argument  names the first fault and how many more there are.
inline void require_valid(std::string_view function, std::span<schedule const> pipelines) {
    auto const faults = faults_of(pipelines);
    if (faults.empty()) {
        return;
    }
    std::string text{function};
    text.append(": ").append(faults.front().text);
    if (faults.size() > 1) {
        text.append("; faults in all: ").append(std::to_string(faults.size()));
    }
    throw std::invalid_argument{text};
}

}  // namespace evenkeel
