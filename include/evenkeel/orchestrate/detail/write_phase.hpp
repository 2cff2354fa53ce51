// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/orchestrate/detail/joint.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::detail {

/// Plan and layout of a phase from the rank and the micro-batch of each item: within a list, items ascend.
///
/// @param slot_of  The micro-batch of each sample.
/// @param owners   The sample of each unit; empty where items are samples.
[[nodiscard]] inline planned_phase written_phase(phase const& phase, world_size world, std::size_t micro_batches,
                                                 std::span<micro_batch_id const> slot_of,
                                                 std::span<item_id const> owners, phase_ranks&& chosen) {
    planned_phase result{.plan = {},
                         .layout = {},
                         .quality = std::move(chosen.qualities),
                         .one_batch_bound = chosen.one_batch_bound,
                         .from_scratch = chosen.from_scratch};
    if (phase.given) {
        // As the caller has it, the order in each list included.
        result.plan = *phase.given;
        result.layout = layout_of(result.plan, phase.group, world);
        return result;
    }
    std::size_t const count = chosen.rank_of.size();
    auto const slot = [&](std::size_t item) { return slot_of[owners.empty() ? item : to_index(owners[item])]; };
    auto& plan = result.plan;
    plan.micro_batches = micro_batches;
    plan.items.resize(count);
    plan.offsets.assign(phase.group.ranks().value * micro_batches + 1, 0);
    for (std::size_t item = 0; item < count; ++item) {
        ++plan.offsets[chosen.rank_of[item] * micro_batches + to_index(slot(item)) + 1];
    }
    for (std::size_t list = 1; list < plan.offsets.size(); ++list) {
        plan.offsets[list] += plan.offsets[list - 1];
    }
    result.layout.ranks = world;
    result.layout.places.resize(count);
    std::vector<std::uint32_t> used(plan.offsets.size() - 1);
    for (std::size_t item = 0; item < count; ++item) {
        std::size_t const list = chosen.rank_of[item] * micro_batches + to_index(slot(item));
        std::uint32_t const position = used[list]++;
        plan.items[plan.offsets[list] + position] = to_id<item_id>(item);
        result.layout.places[item] = {phase.group.leader(to_id<rank_id>(chosen.rank_of[item])), slot(item), position};
    }
    return result;
}

}  // namespace evenkeel::detail
