// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>

namespace evenkeel::detail {

/// Which queue a transfer goes through: one in each direction between a stage and the next.
[[nodiscard]] inline std::size_t channel_of(instruction const& transfer) noexcept {
    std::size_t const stage = to_index(transfer.stage);
    switch (transfer.kind) {
        case instruction_kind::send_activation: return 2 * stage;
        case instruction_kind::receive_activation: return 2 * (stage - 1);
        case instruction_kind::send_gradient: return 2 * (stage - 1) + 1;
        default: return 2 * stage + 1;  // receive_gradient
    }
}

/// Where an instruction stands.
struct place {
    std::size_t pipeline = 0;
    std::size_t device = 0;
    std::size_t position = 0;  ///< in `schedule::instructions`
};

/// Runs pipelines as their devices would: each device its own list in order, a receive after its send, a batch-sync
/// when all pipelines have come to it.
///
/// The schedules are well-formed but may block each other.
class runner {
  public:
    explicit runner(std::span<schedule const> pipelines) : pipelines_{pipelines} {
        std::size_t channels = 0;
        for (auto const& pipeline : pipelines) {
            first_device_.push_back(next_.size());
            first_channel_.push_back(channels);
            channels += 2 * pipeline.stages;
            next_.insert(next_.end(), pipeline.offsets.begin(), pipeline.offsets.end() - 1);
        }
        queued_.resize(next_.size());
        meets_.resize(next_.size());
        in_flight_.resize(channels);
    }

    /// Calls `watch.run(place, instruction)` for each instruction after those it waits for; for a batch-sync, once for
    /// all pipelines, `watch.meet(places)`.
    template <class Watch>
    void run(Watch& watch) {
        for (std::size_t pipeline = pipelines_.size(); pipeline-- > 0;) {
            for (std::size_t device = pipelines_[pipeline].devices(); device-- > 0;) {
                wake(pipeline, device);
            }
        }
        while (!awake_.empty()) {
            place const next = awake_.back();
            awake_.pop_back();
            queued_[first_device_[next.pipeline] + next.device] = false;
            advance(next.pipeline, next.device, watch);
        }
    }

    /// The instructions at which devices are stuck; empty if all have been run.
    [[nodiscard]] std::vector<place> stuck() const {
        std::vector<place> result;
        for (std::size_t pipeline = 0; pipeline < pipelines_.size(); ++pipeline) {
            for (std::size_t device = 0; device < pipelines_[pipeline].devices(); ++device) {
                std::size_t const position = next_[first_device_[pipeline] + device];
                if (position < pipelines_[pipeline].offsets[device + 1]) {
                    result.push_back({pipeline, device, position});
                }
            }
        }
        return result;
    }

  private:
    template <class Watch>
    void advance(std::size_t pipeline, std::size_t device, Watch& watch) {
        schedule const& own = pipelines_[pipeline];
        std::size_t& position = next_[first_device_[pipeline] + device];
        for (; position < own.offsets[device + 1]; ++position) {
            instruction const& one = own.instructions[position];
            place const here{pipeline, device, position};
            switch (one.kind) {
                case instruction_kind::send_activation:
                case instruction_kind::send_gradient: {
                    watch.run(here, one);
                    ++in_flight_[first_channel_[pipeline] + channel_of(one)];
                    bool const down = one.kind == instruction_kind::send_activation;
                    std::size_t const receiver = down ? to_index(one.stage) + 1 : to_index(one.stage) - 1;
                    wake(pipeline, to_index(own.device_of(to_id<stage_id>(receiver))));
                    break;
                }
                case instruction_kind::receive_activation:
                case instruction_kind::receive_gradient: {
                    auto& waiting = in_flight_[first_channel_[pipeline] + channel_of(one)];
                    if (waiting == 0) {
                        return;
                    }
                    --waiting;
                    watch.run(here, one);
                    break;
                }
                case instruction_kind::batch_sync: {
                    meets_[first_device_[pipeline] + device] = true;
                    meeting_.push_back(here);
                    if (meeting_.size() == pipelines_.size()) {
                        watch.meet(std::span<place const>{meeting_});
                        part();
                    }
                    return;
                }
                default: watch.run(here, one);
            }
        }
    }

    /// After a batch-sync: its devices go on.
    void part() {
        for (auto const& there : meeting_) {
            ++next_[first_device_[there.pipeline] + there.device];
            meets_[first_device_[there.pipeline] + there.device] = false;
            wake(there.pipeline, there.device);
        }
        meeting_.clear();
    }

    void wake(std::size_t pipeline, std::size_t device) {
        std::size_t const number = first_device_[pipeline] + device;
        if (!queued_[number] && !meets_[number]) {
            queued_[number] = true;
            awake_.push_back({pipeline, device, 0});
        }
    }

    std::span<schedule const> pipelines_;
    std::vector<std::size_t> first_device_;   ///< per pipeline
    std::vector<std::size_t> first_channel_;  ///< per pipeline
    std::vector<std::size_t> next_;           ///< per device, the position of its next instruction
    std::vector<std::size_t> in_flight_;      ///< per channel, sent and not yet received
    std::vector<bool> queued_;                ///< per device, whether it is in `awake_`
    std::vector<bool> meets_;                 ///< per device, whether it is in `meeting_`
    std::vector<place> awake_;                ///< devices that may be able to go on
    std::vector<place> meeting_;              ///< where pipelines have come to the next batch-sync
};

}  // namespace evenkeel::detail
