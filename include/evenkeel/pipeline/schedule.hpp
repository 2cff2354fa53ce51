// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// A contiguous part of a modality's layers, by its position in the pipeline.
enum class stage_id : std::uint32_t {};

/// Who runs a list of instructions, by its position in the pipeline. It holds one stage, or several where a schedule
/// interleaves them.
enum class device_id : std::uint32_t {};

/// How many stages a pipeline has.
struct stage_count {
    std::size_t value = 0;
    friend bool operator==(stage_count const&, stage_count const&) = default;
};

/// How many micro-batches one batch-sync covers: what the interaction sees at once.
struct group_size {
    std::size_t value = 0;
    friend bool operator==(group_size const&, group_size const&) = default;
};

/// What a device does in one instruction.
enum class instruction_kind : std::uint8_t {
    forward,
    backward,         ///< the gradients of inputs and weights together; or apart, as the next two:
    input_gradient,   ///< what the stage before waits for
    weight_gradient,  ///< what nobody waits for
    send_activation,  ///< to the next stage
    receive_activation,
    send_gradient,  ///< to the stage before
    receive_gradient,
    batch_sync,  ///< of the last stage: gather a group's features, run the interaction forward and backward, scatter
};

/// One instruction of a device.
struct instruction {
    instruction_kind kind = instruction_kind::forward;
    stage_id stage{};
    /// The micro-batch; of a batch-sync, the group. From 0.
    std::uint32_t number = 0;

    friend bool operator==(instruction const&, instruction const&) = default;
};

/// "F", "B", "I", "W", "SEND_F", "RECV_F", "SEND_B", "RECV_B", "S": as PyTorch calls them, and a letter for
/// batch-syncs.
[[nodiscard]] constexpr std::string_view short_name(instruction_kind kind) noexcept {
    switch (kind) {
        case instruction_kind::forward: return "F";
        case instruction_kind::backward: return "B";
        case instruction_kind::input_gradient: return "I";
        case instruction_kind::weight_gradient: return "W";
        case instruction_kind::send_activation: return "SEND_F";
        case instruction_kind::receive_activation: return "RECV_F";
        case instruction_kind::send_gradient: return "SEND_B";
        case instruction_kind::receive_gradient: return "RECV_B";
        case instruction_kind::batch_sync: return "S";
    }
    return "?";
}

/// "F1" for the forward of the first micro-batch: numbered from 1, as schedules are drawn.
[[nodiscard]] inline std::string drawn_name(instruction const& one) {
    return std::string{short_name(one.kind)}.append(std::to_string(std::uint64_t{one.number} + 1));
}

/// Whether it moves a micro-batch between devices rather than works on it.
[[nodiscard]] constexpr bool is_transfer(instruction_kind kind) noexcept {
    return kind >= instruction_kind::send_activation && kind <= instruction_kind::receive_gradient;
}

/// Who does what in which order in one pipeline, from the first forward to the last backward: a value.
///
///     auto const drawn = evenkeel::distmm_pipe(evenkeel::stage_count{4}, {16}, {4});
///     for (auto const& one : drawn[evenkeel::device_id{3}]) { ... }   // RECV_F1 F1 RECV_F2 F2 ... S1 B1 SEND_B1 ...
///
/// Device d runs `instructions[offsets[d]] .. instructions[offsets[d + 1])`, one after the other; sends do not wait for
/// their receiver. Stage s stands on device s % devices, and every device has equally many: `stages` is a multiple of
/// the devices. `faults_of` says what is wrong with a schedule.
struct schedule {
    std::size_t stages = 0;
    std::size_t micro_batches = 0;
    std::size_t group = 0;  ///< micro-batches per batch-sync; 0 where the loss needs one micro-batch only
    std::vector<instruction> instructions = {};
    std::vector<std::size_t> offsets = {0};

    [[nodiscard]] std::size_t devices() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
    [[nodiscard]] std::size_t syncs() const noexcept { return group == 0 ? 0 : micro_batches / group; }

    [[nodiscard]] std::span<instruction const> operator[](device_id device) const noexcept {
        std::size_t const first = offsets[to_index(device)];
        return std::span{instructions}.subspan(first, offsets[to_index(device) + 1] - first);
    }

    [[nodiscard]] device_id device_of(stage_id stage) const noexcept {
        return to_id<device_id>(to_index(stage) % devices());
    }

    /// Whether what `stage` hands to the next one has to be sent.
    [[nodiscard]] bool sends_after(std::size_t stage) const noexcept { return stage + 1 < stages && devices() > 1; }

    friend bool operator==(schedule const&, schedule const&) = default;
};

}  // namespace evenkeel
