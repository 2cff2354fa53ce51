// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/bound_space.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/phase.hpp>

namespace evenkeel::detail {

/// Says how even ranks are that were chosen elsewhere.
class rank_assessor {
  public:
    /// @param rank_of  Of all items of the phase.
    void operator()(phase_task const& task, phase const& phase, std::span<std::uint32_t const> rank_of,
                    phase_answer& answer) {
        rank_count const ranks = phase.group.ranks();
        loads_.assign(ranks.value, {});
        std::uint64_t total = 0;
        for (std::size_t at = 0; at < task.size(); ++at) {
            auto& load = loads_[rank_of[task.item(at)]];
            std::uint64_t const padded = task.padded.empty() ? 0 : task.padded[at];
            // Sums of what is not padded were checked when the batch was read.
            total = checked_add(total, task.weights[at], "orchestrate: the total load");
            load.packed += task.weights[at] - padded;
            load.longest = std::max(load.longest, padded);
            load.count += task.weights[at] > 0 ? 1U : 0U;
        }
        answer.quality = {.lower_bound = bound_(task.weights, ranks), .ranks = ranks};
        for (auto const& load : loads_) {
            auto const name = [&] { return "the padded load of rank " + std::to_string(&load - loads_.data()); };
            std::uint64_t const sum = sum_or_throw(
                "orchestrate", load.packed, product_or_throw("orchestrate", load.count, load.longest, name), name);
            answer.quality.max_load = std::max(answer.quality.max_load, sum);
            answer.quality.total_load = checked_add(answer.quality.total_load, sum, "orchestrate: the total load");
        }
        answer.from_scratch = false;
    }

  private:
    /// What a rank has of a phase that pads.
    struct padded_rank {
        std::uint64_t packed = 0;
        std::uint64_t longest = 0;
        std::uint64_t count = 0;
    };

    std::vector<padded_rank> loads_;
    bound_space bound_;
};

}  // namespace evenkeel::detail
