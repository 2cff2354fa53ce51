// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/fault.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel::detail {

/// Which instructions of a pipeline have been seen: a bit per kind for each stage and micro-batch.
class pass_table {
  public:
    explicit pass_table(schedule const& pipeline)
        : micro_batches_{pipeline.micro_batches},
          seen_(pipeline.stages * pipeline.micro_batches),
          synced_(pipeline.syncs()) {}

    [[nodiscard]] bool has(instruction_kind kind, std::size_t stage, std::size_t number) const {
        return kind == instruction_kind::batch_sync ? synced_[number]
                                                    : (seen_[stage * micro_batches_ + number] & bit(kind)) != 0;
    }
    [[nodiscard]] bool has(instruction const& one) const { return has(one.kind, to_index(one.stage), one.number); }

    void add(instruction const& one) {
        if (one.kind == instruction_kind::batch_sync) {
            synced_[one.number] = true;
        } else {
            seen_[to_index(one.stage) * micro_batches_ + one.number] |= bit(one.kind);
        }
    }

  private:
    static_assert(static_cast<unsigned>(instruction_kind::batch_sync) == 8, "the kinds before it fill one byte");
    static constexpr std::uint8_t bit(instruction_kind kind) noexcept {
        return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind));
    }

    std::size_t micro_batches_;
    std::vector<std::uint8_t> seen_;
    std::vector<bool> synced_;
};

/// Whether `stage` gets its activations over a link.
inline bool receives_before(schedule const& pipeline, std::size_t stage) {
    return stage > 0 && pipeline.sends_after(stage - 1);
}

/// Writes down what is wrong with one pipeline.
class fault_list {
  public:
    fault_list(schedule const& pipeline, std::size_t number, std::vector<schedule_fault>& faults)
        : pipeline_{pipeline}, number_{number}, faults_{faults}, before_{faults.size()} {}

    [[nodiscard]] bool empty() const noexcept { return faults_.size() == before_; }

    /// Of the pipeline as a whole.
    void add(fault_kind kind, std::string text) {
        faults_.push_back({.kind = kind,
                           .pipeline = number_,
                           .device = std::nullopt,
                           .what = std::nullopt,
                           .text = "pipelines[" + std::to_string(number_) + "]: " + std::move(text)});
    }

    /// Of one instruction; `text` goes on after its name.
    void add(fault_kind kind, std::size_t device, instruction const& one, std::string const& text) {
        faults_.push_back({.kind = kind,
                           .pipeline = number_,
                           .device = to_id<device_id>(device),
                           .what = one,
                           .text = "pipelines[" + std::to_string(number_) + "], device " + std::to_string(device) +
                                   ": " + name(one) + text});
    }

    /// With the stage where the device has several.
    [[nodiscard]] std::string name(instruction const& one) const {
        auto result = drawn_name(one);
        if (pipeline_.stages > pipeline_.devices()) {
            result.append(" of stage ").append(std::to_string(to_index(one.stage)));
        }
        return result;
    }

  private:
    schedule const& pipeline_;
    std::size_t number_;
    std::vector<schedule_fault>& faults_;
    std::size_t before_;
};

}  // namespace evenkeel::detail
