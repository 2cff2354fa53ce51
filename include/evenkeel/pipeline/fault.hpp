// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// Why a schedule does not run.
enum class fault_kind : std::uint8_t {
    malformed,  ///< counts or offsets that describe no pipeline
    misplaced,  ///< an instruction that is none of this device's, or that there is no such micro-batch for
    repeated,   ///< an instruction that stands there twice
    missing,    ///< an instruction that does not stand there
    too_early,  ///< an instruction before another of its device that it needs
    unordered,  ///< forwards not in the order of the micro-batches, or receives not in the order of the sends
    unmet,      ///< pipelines with different numbers of batch-syncs
    deadlock,   ///< devices that wait for each other
};

/// One thing that keeps a schedule from running.
struct schedule_fault {
    fault_kind kind = fault_kind::malformed;
    std::size_t pipeline = 0;
    std::optional<device_id> device = {};
    std::optional<instruction> what = {};
    /// Where and what, for people: "pipelines[0], device 2: SEND_F3 is missing".
    std::string text = {};

    friend bool operator==(schedule_fault const&, schedule_fault const&) = default;
};

}  // namespace evenkeel
