// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace evenkeel {

/// When a stage may let go of a micro-batch, and so how many it holds at once.
enum class pipeline_order : std::uint8_t {
    batch_sync,       ///< DistMM-Pipe: nothing goes back before all of the sync's features are there
    one_f_one_b,      ///< 1F1B: a micro-batch goes back as soon as it has reached the end (an LLM)
    one_group_ahead,  ///< works on the next group while what comes after it works on this one (an encoder). Inferred
};

/// The most micro-batches that a stage holds: what its activations are multiplied with.
///
///     in_flight(pipeline_order::batch_sync, 4, 0, 4, 16);   // 7, and 6, 5, 4 on the stages after it
///
/// @param group          Micro-batches per sync.
/// @param micro_batches  Micro-batches per step.
[[nodiscard]] constexpr std::uint64_t in_flight(pipeline_order order, std::size_t stages, std::size_t stage,
                                                std::uint64_t group, std::uint64_t micro_batches) noexcept {
    std::uint64_t const behind = stages - 1 - stage;
    switch (order) {
        case pipeline_order::one_f_one_b: return std::min(micro_batches, behind + 1);
        case pipeline_order::one_group_ahead: return std::min(micro_batches, 2 * group + behind);
        case pipeline_order::batch_sync: break;
    }
    return std::min(micro_batches, group + behind);
}

}  // namespace evenkeel
