// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/solve/detail/batch_seats.hpp>
#include <evenkeel/solve/detail/byte_bounds.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/search.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_search.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/rebalanced.hpp>

namespace evenkeel::detail {

/// What `rebalance` remembers from call to call: memory alone, no state.
struct stay_room {
    void reserve(std::size_t count, std::size_t rank_count, std::size_t nodes) {
        items.reserve(count);
        staying.reserve(count, rank_count, nodes);
        longest.reserve(rank_count);
        searching.reserve(count, rank_count);
        seats.reserve(count, rank_count, nodes);
        bounds.reserve(count, rank_count, nodes);
        rank_of.reserve(count);
        rank_of_item.reserve(count);
    }

    // What a task refers to, where the caller does not have it in this form.
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> home_ranks;
    std::vector<std::uint32_t> home_nodes;
    std::vector<std::uint32_t> nodes_of_ranks;

    stay_items items;
    node_ranks ranks;
    stay_search staying;
    longest_first longest;
    search searching;
    batch_seats seats;
    byte_bounds bounds;
    std::vector<std::uint32_t> rank_of;       ///< of the items that weigh something
    std::vector<std::uint32_t> rank_of_item;  ///< of the whole batch
    rebalanced result;
};

/// Where items that weigh nothing are: at home, or with a rank of their node, or, where that has none, with any.
inline void stay_where_drawn(stay_task const& task, node_ranks const& ranks, std::span<std::uint32_t> rank_of_item) {
    for (std::size_t item = 0; item < rank_of_item.size(); ++item) {
        std::uint32_t rank = task.home_ranks[item];
        if (rank == no_rank) {
            auto const members = ranks[task.home_nodes[item]];
            rank = members.empty() ? static_cast<std::uint32_t>(item % ranks.ranks.size())
                                   : members[item % members.size()];
        }
        rank_of_item[item] = rank;
    }
}

/// Counts what a plan moves.
inline void count_bytes(stay_task const& task, std::span<std::uint32_t const> rank_of_item, rebalanced& result) {
    result.total = 0;
    result.moved = 0;
    result.between_nodes = 0;
    for (std::size_t item = 0; item < rank_of_item.size(); ++item) {
        std::uint64_t const bytes = task.bytes[item];
        std::uint32_t const rank = rank_of_item[item];
        result.total += bytes;
        result.moved += rank == task.home_ranks[item] ? 0 : bytes;
        result.between_nodes += task.nodes_of_ranks[rank] == task.home_nodes[item] ? 0 : bytes;
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
    if (items.size() > 0) {
        if (!room.staying(items, room.ranks, target, task.slack_tenths, room.longest, room.searching, steps)) {
            standing best{.busiest = room.longest(items.sorted.weights, items.sorted.total, ranks, rank_of),
                          .bound = bound};
            room.searching(items.sorted, ranks, target, rank_of, best, step_budget{all_steps});
            bound = best.bound;
            target = std::max(target, best.busiest);
            room.seats(items, room.ranks, rank_of);
            step_budget rest{all_steps};
            room.staying.take_up(items, room.ranks, rank_of, target, rest);
            room.result.from_scratch = true;
        }
        std::copy(room.staying.ranks_of().begin(), room.staying.ranks_of().end(), rank_of.begin());
    }
    std::uint64_t const busiest = items.size() > 0 ? room.staying.busiest_load() : 0;

    room.rank_of_item.resize(count);
    stay_where_drawn(task, room.ranks, room.rank_of_item);
    for (std::size_t item = 0; item < items.size(); ++item) {
        room.rank_of_item[items.sorted.positions[item]] = rank_of[item];
    }
    write_plan(room.rank_of_item, ranks, room.result.plan);
    room.result.quality = {.max_load = busiest * items.sorted.unit,
                           .total_load = items.sorted.total * items.sorted.unit,
                           .lower_bound = bound * items.sorted.unit,
                           .ranks = {ranks}};
    count_bytes(task, room.rank_of_item, room.result);
    auto const least = room.bounds(items, room.ranks, busiest);
    room.result.moved_bound = least.moved;
    room.result.between_nodes_bound = least.between_nodes;
}

}  // namespace evenkeel::detail
