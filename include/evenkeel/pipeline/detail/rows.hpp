// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/transfers.hpp>

namespace evenkeel::detail {

/// Writes what the devices compute, device after device; `finish` adds the transfers.
class rows {
  public:
    explicit rows(schedule empty) : drawn_{std::move(empty)} {}

    void add(instruction_kind kind, std::size_t stage, std::size_t number) {
        drawn_.instructions.push_back({kind, to_id<stage_id>(stage), static_cast<std::uint32_t>(number)});
    }
    void end_device() { drawn_.offsets.push_back(drawn_.instructions.size()); }

    [[nodiscard]] schedule finish() const { return with_transfers(drawn_); }

  private:
    schedule drawn_;
};

/// Refuses counts of which there is no schedule.
inline void require_pipeline(std::string_view function, stage_count stages, micro_batch_count micro_batches) {
    if (stages.value == 0) {
        throw_invalid(function, "stages", 0, "at least 1");
    }
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (stages.value > most || micro_batches.value > most) {
        throw_invalid(function, stages.value > most ? "stages" : "micro_batches",
                      std::max(stages.value, micro_batches.value), "at most 4294967295");
    }
    // Two passes and four transfers for each; what is too much for memory is the allocator's to refuse.
    auto const what = std::string{function}.append(": the number of instructions");
    (void)checked_multiply(stages.value, checked_multiply(6, micro_batches.value, what), what);
}

inline void require_group_size(std::string_view function, micro_batch_count micro_batches, group_size group) {
    if (group.value == 0) {
        throw_invalid(function, "group", 0, "at least 1");
    }
    if (micro_batches.value % group.value != 0) {
        throw_invalid(function, "group", group.value,
                      "a divisor of the " + std::to_string(micro_batches.value) + " micro-batches");
    }
}

/// One backward, one forward, after a warm-up of `depth` forwards on the last stage and one more on each before it.
inline schedule alternating(schedule empty, std::size_t depth) {
    std::size_t const stages = empty.stages;
    std::size_t const micro_batches = empty.micro_batches;
    std::size_t const group = empty.group;
    rows result{std::move(empty)};
    for (std::size_t stage = 0; stage < stages; ++stage) {
        std::size_t next = 0;
        auto const forward = [&] {
            result.add(instruction_kind::forward, stage, next++);
            if (group != 0 && stage + 1 == stages && next % group == 0) {
                result.add(instruction_kind::batch_sync, stage, next / group - 1);
            }
        };
        while (next < std::min(micro_batches, depth + stages - 1 - stage)) {
            forward();
        }
        for (std::size_t micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
            result.add(instruction_kind::backward, stage, micro_batch);
            if (next < micro_batches) {
                forward();
            }
        }
        result.end_device();
    }
    return result.finish();
}

/// Forwards of `flush` micro-batches, then their backwards, then the next; a batch-sync after each full group.
inline schedule flushing(schedule empty, std::size_t flush) {
    std::size_t const stages = empty.stages;
    std::size_t const micro_batches = empty.micro_batches;
    std::size_t const group = empty.group;
    rows result{std::move(empty)};
    for (std::size_t stage = 0; stage < stages; ++stage) {
        for (std::size_t first = 0; first < micro_batches; first += flush) {
            std::size_t const end = std::min(micro_batches, first + flush);
            for (std::size_t next = first; next < end; ++next) {
                result.add(instruction_kind::forward, stage, next);
                if (group != 0 && stage + 1 == stages && (next + 1) % group == 0) {
                    result.add(instruction_kind::batch_sync, stage, next / group);
                }
            }
            for (std::size_t next = first; next < end; ++next) {
                result.add(instruction_kind::backward, stage, next);
            }
        }
        result.end_device();
    }
    return result.finish();
}

}  // namespace evenkeel::detail
