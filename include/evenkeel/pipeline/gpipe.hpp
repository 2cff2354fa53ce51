// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/pipeline/detail/rows.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel {

/// All forwards, then all backwards: simple, and every stage holds every micro-batch.
///
///     evenkeel::gpipe(evenkeel::stage_count{2}, {3});   // either stage: F1 F2 F3 B1 B2 B3
///
/// Each backward starts from the loss of its own micro-batch.
///
/// @throws std::invalid_argument  if there is no stage.
[[nodiscard]] inline schedule gpipe(stage_count stages, micro_batch_count micro_batches) {
    detail::require_pipeline("gpipe", stages, micro_batches);
    return detail::flushing({.stages = stages.value, .micro_batches = micro_batches.value},
                            std::max<std::size_t>(micro_batches.value, 1));
}

/// GPipe with a batch-sync after every `group` forwards of the last stage, emptied every `flush` micro-batches: what
/// DistMM-Pipe is measured against.
///
///     evenkeel::gpipe_sync(evenkeel::stage_count{4}, {8}, {2}, evenkeel::micro_batch_count{4});
///     // stage 3: F1 F2 S1 F3 F4 S2 B1 B2 B3 B4 F5 F6 S3 F7 F8 S4 B5 B6 B7 B8
///
/// @param flush  A multiple of `group`: how many micro-batches every stage holds. Default: the least one that is at
///               least `stages`, which takes no more memory than 1F1B's first stage where `group` allows.
/// @throws std::invalid_argument  if there is no stage, or a number is not a multiple where it has to be.
[[nodiscard]] inline schedule gpipe_sync(stage_count stages, micro_batch_count micro_batches, group_size group,
                                         std::optional<micro_batch_count> flush = std::nullopt) {
    detail::require_pipeline("gpipe_sync", stages, micro_batches);
    detail::require_group_size("gpipe_sync", micro_batches, group);
    if (flush && (flush->value == 0 || flush->value % group.value != 0)) {
        throw_invalid("gpipe_sync", "flush", flush->value,
                      "a multiple of the group, " + std::to_string(group.value) + " micro-batches");
    }
    std::size_t const enough = (stages.value + group.value - 1) / group.value * group.value;
    return detail::flushing({.stages = stages.value, .micro_batches = micro_batches.value, .group = group.value},
                            flush ? flush->value : enough);
}

}  // namespace evenkeel
