// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_room.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/rebalanced.hpp>

namespace evenkeel::detail {

/// Where items that weigh nothing are: at home, or with a rank of their node, or, where that has none, with any. Counts
/// what that moves, and these items among those of their ranks, in `result.plan.offsets`.
inline void stay_where_drawn(stay_task const& task, node_ranks const& ranks, std::span<std::uint32_t> rank_of_item,
                             rebalanced& result) {
    std::ranges::copy(task.home_ranks, rank_of_item.begin());
    bool const all_have_ranks = task.home_nodes.empty();
    for (std::size_t item = 0; item < rank_of_item.size() && !all_have_ranks; ++item) {
        if (rank_of_item[item] == no_rank && task.weights[item] == 0) {
            auto const members = ranks[task.home_nodes[item]];
            rank_of_item[item] = members.empty() ? static_cast<std::uint32_t>(item % ranks.ranks.size())
                                                 : members[item % members.size()];
            ++result.plan.offsets[rank_of_item[item]];
            result.moved += task.bytes[item];
            result.between_nodes += members.empty() ? task.bytes[item] : 0;
        }
    }
}

/// Balances without regard to homes; the result is in `room.scratch`.
inline void balance_anew(stay_room& room, stay_task const& task, std::uint64_t& bound) {
    auto const& weights = room.items.sorted.weights;
    room.scratch.weights.assign(weights.begin(), weights.end());
    solve(room.scratch, {task.nodes_of_ranks.size()}, {});
    bound = room.scratch.result.quality.lower_bound;
}

/// Gives the batches of such a plan to ranks and brings home what can come.
inline void take_batches(stay_room& room, std::uint64_t target, step_budget steps) {
    auto const& plan = room.scratch.result.plan;
    for (std::uint32_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (auto const item : plan[rank_id{rank}]) {
            room.rank_of[to_index(item)] = rank;
        }
    }
    room.seats(room.items, room.ranks, room.rank_of);
    room.staying.take_up(room.items, room.ranks, room.rank_of, target, steps);
}

/// What stays at home at a looser target is often within reach of the target, by a little less at a time.
inline bool approach(stay_room& room, stay_task const& task, std::uint64_t target, std::uint64_t all_steps) {
    step_budget descent{all_steps};
    for (double const factor : {3.0, 10.0, 30.0, 300.0}) {
        std::uint64_t goal = goal_of(target, factor * std::max(task.tolerance, 1e-3));
        if (goal == target) {
            continue;
        }
        step_budget steps{all_steps / 4};
        room.staying.start(room.items, room.ranks, goal);
        room.staying.try_once(task.slack_tenths, steps);
        if (!room.staying.is_lost()) {
            room.staying.try_more(steps);
        }
        if (!room.staying.found()) {
            continue;
        }
        room.staying.finish();
        // Half of the way at once where that works, else a quarter, then an eighth.
        for (std::uint64_t share = 2; share <= 8 && goal > target;) {
            std::uint64_t const next = goal - ((goal - target - 1) / share + 1);
            bool const reached = room.staying.tighten(next, descent);
            goal = reached ? next : goal;
            share = reached ? 2 : 2 * share;
        }
        if (goal == target) {
            return true;
        }
    }
    return false;
}

/// The last resort: the plan that was made without regard to homes, unless one that is approached from home, or the
/// tries from home that were not made so far, cost less.
inline void approach_or_take_batches(stay_room& room, stay_task const& task, std::uint64_t target,
                                     std::uint64_t all_steps, bool all_tried) {
    auto& staying = room.staying;
    bool const is_near = approach(room, task, target, all_steps);
    std::uint64_t const fewest = staying.cost_between_nodes();
    if (is_near) {
        room.near.assign(staying.ranks_of().begin(), staying.ranks_of().end());
    }
    take_batches(room, target, step_budget{all_steps});
    std::uint64_t const anew = staying.cost_between_nodes();
    bool& from_scratch = room.result.from_scratch;
    from_scratch = !is_near || anew < fewest;
    bool is_at_hand = from_scratch;
    if (from_scratch && !all_tried) {
        room.near.assign(staying.ranks_of().begin(), staying.ranks_of().end());
        step_budget steps{all_steps};
        staying.start(room.items, room.ranks, target);
        staying.try_once(task.slack_tenths, steps);
        staying.try_more(steps);
        if (staying.found()) {
            staying.finish();
        }
        from_scratch = !staying.found() || anew <= staying.cost_between_nodes();
        is_at_hand = !from_scratch;
    }
    if (!is_at_hand) {
        step_budget none{0};
        staying.take_up(room.items, room.ranks, room.near, target, none);
    }
}

/// `rebalance` for a task; the result is in `room.result`.
inline void rebalance(stay_room& room, stay_task const& task) {
    auto& items = room.items;
    std::size_t const count = task.weights.size();
    std::size_t const ranks = task.nodes_of_ranks.size();
    room.reserve(count, ranks, task.nodes);
    room.ranks.assign(task.nodes_of_ranks, task.nodes);
    items.assign("rebalance", task);

    std::uint64_t bound = lower_bound(items.sorted, ranks);
    std::uint64_t target = goal_of(bound, task.tolerance);
    std::uint64_t all_steps = 0;
    if (__builtin_mul_overflow(std::max<std::uint64_t>(count, 1024), task.effort, &all_steps)) {
        all_steps = std::numeric_limits<std::uint64_t>::max();
    }
    step_budget steps{all_steps};
    auto& rank_of = room.rank_of;
    rank_of.resize(items.size());
    room.result.from_scratch = false;
    room.staying.start(items, room.ranks, target);
    if (items.size() > 0) {
        auto& staying = room.staying;
        staying.try_once(task.slack_tenths, steps);
        bool balanced_anew = false;
        // What a plan without regard to homes proves, or cannot reach either, may allow for more than the first target.
        auto const allow_more = [&] {
            balance_anew(room, task, bound);
            balanced_anew = true;
            std::uint64_t const reached = std::max(bound, room.scratch.result.quality.max_load);
            std::uint64_t const allowed = goal_of(reached, task.tolerance);
            if (allowed > target) {
                target = allowed;
                staying.start(items, room.ranks, target);
                staying.try_once(task.slack_tenths, steps);
            }
        };
        if (staying.is_hopeless() && !staying.found()) {
            // A target that not even a plan without regard to homes reaches is not worth more tries.
            allow_more();
        }
        bool const is_lost = staying.is_lost();
        if (!is_lost) {
            staying.try_more(steps);
        }
        if (!staying.found() && !balanced_anew) {
            allow_more();
            staying.try_more(steps);
        }
        if (staying.found()) {
            staying.finish();
        } else {
            approach_or_take_batches(room, task, target, all_steps, !is_lost);
        }
    }
    std::uint64_t const busiest = items.size() > 0 ? room.staying.busiest_load() : 0;

    room.rank_of_item.resize(count);
    auto& result = room.result;
    result.total = 0;
    if (task.plan) {
        result.total = task.weights_are_bytes()
                           ? items.sorted.total * items.sorted.unit
                           : std::accumulate(task.bytes.begin(), task.bytes.end(), std::uint64_t{0});
    }
    result.moved = 0;
    result.between_nodes = 0;
    auto& counts = result.plan.offsets;
    counts.assign(ranks + 1, 0);
    std::ranges::copy(items.drawn_on_ranks, counts.begin());
    stay_where_drawn(task, room.ranks, room.rank_of_item, result);
    // Collected first: which items these are no processor foresees.
    auto& movers = room.rank_of;
    std::size_t moved = 0;
    auto const now_on = room.staying.ranks_of();
    for (std::uint32_t item = 0; item < items.size(); ++item) {
        movers[moved] = item;
        moved += now_on[item] != items.home_rank[item] ? 1U : 0U;
    }
    // Where they stand in a large batch is in no cache.
    constexpr std::size_t ahead = 16;
    for (std::size_t index = 0; index < moved; ++index) {
        std::uint32_t const later = items.sorted.positions[movers[std::min(index + ahead, moved - 1)]];
        __builtin_prefetch(room.rank_of_item.data() + later, 1);
        std::uint32_t const item = movers[index];
        std::uint32_t const rank = now_on[item];
        room.rank_of_item[items.sorted.positions[item]] = rank;
        result.between_nodes += task.nodes_of_ranks[rank] == items.home_node[item] ? 0 : items.bytes_of(item);
    }
    for (auto const item : std::span{movers}.first(task.plan ? moved : 0)) {
        ++counts[now_on[item]];
        if (std::uint32_t const home = items.home_rank[item]; home != no_rank) {
            --counts[home];
        }
        result.moved += items.bytes_of(item);
    }
    if (task.plan) {
        write_plan_of_runs(room.rank_of_item, task.home_ranks, result.plan);
    }
    result.quality = {.max_load = busiest * items.sorted.unit,
                      .total_load = items.sorted.total * items.sorted.unit,
                      .lower_bound = bound * items.sorted.unit,
                      .ranks = {ranks}};
    result.moved_bound.reset();
    result.between_nodes_bound.reset();
    if (task.bounds) {
        room.rooms.assign(ranks, busiest);
        auto const least = room.bounds(items, room.ranks, items.home_loads, room.rooms, result.between_nodes);
        result.moved_bound = least.moved;
        result.between_nodes_bound = least.between_nodes;
    }
}

}  // namespace evenkeel::detail
