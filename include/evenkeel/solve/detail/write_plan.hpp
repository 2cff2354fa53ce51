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

/// Makes room for a plan and leaves where the first item of each rank goes in `plan.offsets`.
inline void count_items(std::span<std::uint32_t const> rank_of_item, std::size_t ranks, plan& plan) {
    plan.micro_batches = 1;
    plan.offsets.assign(ranks + 1, 0);
    plan.items.resize(rank_of_item.size());
    for (auto const rank : rank_of_item) {
        ++plan.offsets[rank];
    }
    std::size_t before = 0;
    for (auto& offset : plan.offsets) {
        before += std::exchange(offset, before);
    }
}

/// Each rank that has been written ends where the next one starts.
inline void restore_starts(plan& plan) {
    std::move_backward(plan.offsets.begin(), plan.offsets.end() - 1, plan.offsets.end());
    plan.offsets.front() = 0;
}

/// Writes the plan in which each item of the batch works on its rank; a rank runs its items in the order of the batch.
///
/// @complexity O(items + ranks)
inline void write_plan(std::span<std::uint32_t const> rank_of_item, std::size_t ranks, plan& plan) {
    count_items(rank_of_item, ranks, plan);
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
    restore_starts(plan);
}

/// The same for a batch that was sorted: what is known is the rank of each place.
///
/// Ranks are read and items written all over, and while one number of each item is all that is kept, the caches hold
/// more of them: so there is no list of the ranks in the order of the batch.
///
/// @param places   Of each item; see `sort_places`.
/// @param rank_of  Of each place.
inline void write_sorted_plan(std::span<std::uint32_t const> places, std::span<std::uint32_t const> rank_of,
                              std::size_t ranks, plan& plan) {
    count_items(rank_of, ranks, plan);
    // What a large batch needs is in the farther caches; where it goes is known only once its rank is there.
    constexpr std::size_t ahead = 48;
    std::size_t const size = places.size();
    std::size_t const near = size > std::size_t{1} << 18 ? size - ahead : 0;
    std::size_t item = 0;
    for (; item < near; ++item) {
        __builtin_prefetch(rank_of.data() + places[item + ahead]);
        __builtin_prefetch(plan.items.data() + plan.offsets[rank_of[places[item + ahead / 2]]], 1);
        plan.items[plan.offsets[rank_of[places[item]]]++] = to_id<item_id>(item);
    }
    for (; item < size; ++item) {
        plan.items[plan.offsets[rank_of[places[item]]]++] = to_id<item_id>(item);
    }
    restore_starts(plan);
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
    restore_starts(plan);
}

}  // namespace evenkeel::detail
