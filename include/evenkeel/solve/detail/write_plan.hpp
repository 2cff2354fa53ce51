// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel::detail {

/// Writes the plan in which each item of the batch works on its rank; a rank runs its items in the order of the batch.
///
/// @complexity O(items + ranks)
inline void write_plan(std::span<std::uint32_t const> rank_of_item, std::size_t ranks, plan& plan) {
    plan.micro_batches = 1;
    plan.offsets.assign(ranks + 1, 0);
    plan.items.resize(rank_of_item.size());
    // offsets[rank] first counts, then is where the next item of the rank goes, and so ends as the start of the next
    // rank.
    for (auto const rank : rank_of_item) {
        ++plan.offsets[rank];
    }
    std::size_t before = 0;
    for (auto& offset : plan.offsets) {
        std::size_t const count = offset;
        offset = before;
        before += count;
    }
    // The ranks of a large batch are more than the nearer caches hold.
    constexpr std::size_t ahead = 24;
    bool const far = rank_of_item.size() > std::size_t{1} << 18;
    for (std::size_t item = 0; item < rank_of_item.size(); ++item) {
        if (far) {
            std::uint32_t const later = rank_of_item[std::min(item + ahead, rank_of_item.size() - 1)];
            __builtin_prefetch(plan.items.data() + plan.offsets[later], 1);
        }
        plan.items[plan.offsets[rank_of_item[item]]++] = to_id<item_id>(item);
    }
    for (std::size_t rank = ranks; rank > 0; --rank) {
        plan.offsets[rank] = plan.offsets[rank - 1];
    }
    plan.offsets[0] = 0;
}

/// The same where most items stay at home: those that were drawn on a rank follow one another, and what stays of them
/// is taken together, for one by one each would wait until the one before has written where the next one goes.
///
/// @param homes  Of each item: a rank, or a number that is none.
/// @param plan   Its `offsets[rank]` says how many items the rank has, and 0 behind the last rank.
inline void write_plan_of_runs(std::span<std::uint32_t const> rank_of_item, std::span<std::uint32_t const> homes,
                               plan& plan) {
    plan.micro_batches = 1;
    plan.items.resize(rank_of_item.size());
    std::size_t before = 0;
    for (auto& offset : plan.offsets) {
        before += std::exchange(offset, before);
    }
    std::size_t const ranks = plan.offsets.size() - 1;
    std::array<item_id, 64> staying;
    std::array<item_id, 64> leaving;
    for (std::size_t item = 0; item < rank_of_item.size();) {
        std::uint32_t const home = homes[item];
        std::size_t stay = 0;
        std::size_t leave = 0;
        // Which items leave no processor foresees: all are written twice, and kept once.
        do {
            bool const stays = rank_of_item[item] == home;
            staying[stay] = leaving[leave] = to_id<item_id>(item);
            stay += stays ? 1U : 0U;
            leave += stays ? 0U : 1U;
            ++item;
        } while (item < rank_of_item.size() && homes[item] == home && stay + leave < staying.size());
        if (home < ranks) {
            std::copy_n(staying.begin(), stay, plan.items.begin() + static_cast<std::ptrdiff_t>(plan.offsets[home]));
            plan.offsets[home] += stay;
        }
        for (auto const other : std::span{leaving}.first(leave)) {
            plan.items[plan.offsets[rank_of_item[to_index(other)]]++] = other;
        }
    }
    // Each rank ends where the next one starts.
    std::move_backward(plan.offsets.begin(), plan.offsets.end() - 1, plan.offsets.end());
    plan.offsets.front() = 0;
}

}  // namespace evenkeel::detail
