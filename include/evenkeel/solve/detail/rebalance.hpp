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
#include <evenkeel/solve/detail/stay_bound.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_room.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/rebalanced.hpp>

namespace evenkeel::detail {

/// Gives items that weigh nothing and whose home is no rank to a rank of their node or, where that has none, to any.
inline void seat_weightless(stay_task const& task, node_ranks const& ranks, std::span<std::uint32_t> rank_of_item) {
    for (std::size_t item = 0; item < rank_of_item.size(); ++item) {
        if (rank_of_item[item] == no_rank && task.weights[item] == 0) {
            auto const members = ranks[task.home_nodes[item]];
            rank_of_item[item] = members.empty() ? static_cast<std::uint32_t>(item % ranks.ranks.size())
                                                 : members[item % members.size()];
        }
    }
}

/// Counts what moves, and how many items each rank has, in `plan.offsets`, if the task has a plan.
inline void count_moves(stay_task const& task, stay_room& room) {
    auto& result = room.result;
    auto& movers = room.movers;
    movers.resize(task.weights.size());
    // Collected first: which items these are no processor foresees.
    auto const now_on = std::span<std::uint32_t const>{room.rank_of_item};
    std::size_t moved = 0;
    for (std::uint32_t item = 0; item < now_on.size(); ++item) {
        movers[moved] = item;
        moved += now_on[item] != task.home_ranks[item] ? 1U : 0U;
    }
    result.moved = 0;
    result.between_nodes = 0;
    for (auto const item : std::span{movers}.first(moved)) {
        bool const leaves = task.nodes_of_ranks[now_on[item]] != task.home_node(item);
        result.moved += task.bytes[item];
        result.between_nodes += leaves ? task.bytes[item] : 0;
    }
    if (!task.plan) {
        return;
    }
    auto& counts = result.plan.offsets;
    counts.assign(task.nodes_of_ranks.size() + 1, 0);
    std::ranges::copy(room.items.at_home.drawn_on_ranks, counts.begin());
    for (auto const item : std::span{movers}.first(moved)) {
        ++counts[now_on[item]];
        if (std::uint32_t const home = task.home_ranks[item]; home != no_rank) {
            --counts[home];
        }
    }
}

/// Balances without regard to homes; the result is in `room.scratch`.
inline void balance_anew(stay_room& room, stay_task const& task, std::uint64_t& bound) {
    room.scratch.weights.assign(room.items.weights().begin(), room.items.weights().end());
    solve(room.scratch, {task.nodes_of_ranks.size()}, {});
    bound = room.scratch.result.quality.lower_bound;
}

/// Gives the batches of such a plan to ranks and brings home what can come.
inline void take_batches(stay_room& room, std::uint64_t target, step_budget steps) {
    auto const& plan = room.scratch.result.plan;
    room.rank_of.assign(room.items.home_ranks().begin(), room.items.home_ranks().end());
    for (std::uint32_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (auto const item : plan[rank_id{rank}]) {
            // What weighs nothing stays at home.
            auto& rank_of = room.rank_of[to_index(item)];
            rank_of = room.items.weight(to_index(item)) == 0 ? rank_of : rank;
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
    items.assign("rebalance", task, item_order::by_node);

    std::uint64_t bound = items.size() > 0 ? lower_bound(items, ranks, room.scratch.items) : 0;
    std::uint64_t target = goal_of(bound, task.tolerance);
    std::uint64_t all_steps = 0;
    if (__builtin_mul_overflow(std::max<std::uint64_t>(count, 1024), task.effort, &all_steps)) {
        all_steps = std::numeric_limits<std::uint64_t>::max();
    }
    step_budget steps{all_steps};
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

    auto& result = room.result;
    room.staying.give_up_ranks(room.rank_of_item);
    if (items.at_home.some_homeless) {
        seat_weightless(task, room.ranks, room.rank_of_item);
    }
    result.total = result.moved = 0;
    if (task.plan || items.at_home.some_homeless) {
        count_moves(task, room);
    } else {
        result.between_nodes = room.staying.cost_between_nodes() * (items.proportional ? items.bytes_per_unit : 1);
    }
    if (task.plan) {
        result.total = task.weights_are_bytes()
                           ? items.total() * items.unit()
                           : std::accumulate(task.bytes.begin(), task.bytes.end(), std::uint64_t{0});
        write_plan_of_runs(room.rank_of_item, task.home_ranks, result.plan);
    }
    result.quality = {.max_load = busiest * items.unit(),
                      .total_load = items.total() * items.unit(),
                      .lower_bound = bound * items.unit(),
                      .ranks = {ranks}};
    result.moved_bound.reset();
    result.between_nodes_bound.reset();
    if (task.bounds) {
        room.rooms.assign(ranks, busiest);
        auto const least = room.bounds(items, room.ranks, items.at_home.loads, room.rooms, result.between_nodes);
        result.moved_bound = least.moved;
        result.between_nodes_bound = least.between_nodes;
    }
}

}  // namespace evenkeel::detail
