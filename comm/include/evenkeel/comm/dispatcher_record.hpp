// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/plan.hpp>
#include <evenkeel/orchestrate/samples.hpp>

namespace evenkeel::comm {

/// A step as a value: all that takes the same bytes to the same places again, after a restart or in a rerun.
///
///     auto const written = evenkeel::comm::write_record(step.record());   // into a checkpoint
///     ...
///     auto again = dispatch.replay(evenkeel::comm::read_record(written), fields);
///
/// The same on every rank.
struct step_record {
    std::uint64_t number = 0;
    std::uint64_t hash = 0;  ///< of samples, plans and layouts
    step_samples samples = {};
    std::vector<plan> plans = {};  ///< of each phase

    friend bool operator==(step_record const&, step_record const&) = default;
};

/// As bytes, the same on every machine.
[[nodiscard]] std::vector<std::byte> write_record(step_record const& record);

/// The record that was written.
///
/// @throws std::invalid_argument  if the bytes are not those of a record, of another version, cut off or damaged.
[[nodiscard]] step_record read_record(std::span<std::byte const> bytes);

}  // namespace evenkeel::comm
