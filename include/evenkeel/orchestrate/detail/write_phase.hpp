// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::detail {

/// Writes down plan and layout of a phase from the rank and the micro-batch of each item: within a list, items ascend.
class phase_writer {
  public:
    /// @param slot_of  The micro-batch of each sample.
    /// @param owners   The sample of each unit; empty where items are samples.
    void operator()(phase const& phase, group_view const& view, world_size world, std::size_t micro_batches,
                    std::span<micro_batch_id const> slot_of, std::span<item_id const> owners, phase_ranks const& chosen,
                    planned_phase& result) {
        result.quality.assign(chosen.qualities.begin(), chosen.qualities.end());
        result.from_scratch = chosen.from_scratch;
        if (phase.given) {
            // As the caller has it, the order in each list included.
            result.plan = *phase.given;
            result.layout = layout_of(result.plan, phase.group, world);
            return;
        }
        if (micro_batches > 1 && !owners.empty()) {
            slots_.resize(owners.size());
            for (std::size_t unit = 0; unit < owners.size(); ++unit) {
                slots_[unit] = slot_of[to_index(owners[unit])];
            }
            slot_of = slots_;
        }
        std::size_t const count = chosen.rank_of.size();
        auto const slot = [&](std::size_t item) { return micro_batches == 1 ? micro_batch_id{} : slot_of[item]; };
        auto const list = [&](std::size_t item) { return chosen.rank_of[item] * micro_batches + to_index(slot(item)); };
        auto& plan = result.plan;
        plan.micro_batches = micro_batches;
        plan.items.resize(count);
        plan.offsets.assign(view.ranks() * micro_batches + 1, 0);
        for (std::size_t item = 0; item < count; ++item) {
            ++plan.offsets[list(item) + 1];
        }
        for (std::size_t next = 1; next < plan.offsets.size(); ++next) {
            plan.offsets[next] += plan.offsets[next - 1];
        }
        result.layout.ranks = world;
        result.layout.places.resize(count);
        used_.assign(plan.offsets.size() - 1, 0);
        for (std::size_t item = 0; item < count; ++item) {
            std::size_t const of = list(item);
            std::uint32_t const position = used_[of]++;
            plan.items[plan.offsets[of] + position] = to_id<item_id>(item);
            result.layout.places[item] = {view.leader(chosen.rank_of[item]), slot(item), position};
        }
    }

  private:
    std::vector<micro_batch_id> slots_;  ///< of each unit
    std::vector<std::uint32_t> used_;    ///< of each list
};

}  // namespace evenkeel::detail
