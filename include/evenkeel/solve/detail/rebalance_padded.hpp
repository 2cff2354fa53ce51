// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/batch_seats.hpp>
#include <evenkeel/solve/detail/padded_bounds.hpp>
#include <evenkeel/solve/detail/padded_homing.hpp>
#include <evenkeel/solve/detail/padded_search.hpp>
#include <evenkeel/solve/detail/pod_batches.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/rebalanced.hpp>

namespace evenkeel::detail {

/// What `rebalance` of padded batches remembers from call to call: memory alone, no state.
struct padded_stay_room {
    void reserve(std::size_t count, std::size_t rank_count, std::size_t nodes) {
        items.reserve(count, nodes);
        pods.reserve(count, nodes);
        seats.reserve(count, rank_count, nodes);
        homing.reserve(count, rank_count);
        bounds.reserve(count, rank_count + nodes);
        rank_of.reserve(count);
    }

    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> home_ranks;
    std::vector<std::uint32_t> nodes_of_ranks;

    stay_items items;
    node_ranks ranks;
    pod_batches pods;
    batch_seats seats;
    padded_homing homing;
    padded_bounds bounds;
    std::vector<std::uint32_t> rank_of;  ///< of each item
    std::vector<std::uint64_t> counts;   ///< by rank
    std::vector<std::uint64_t> longest;  ///< by rank: what its heaviest item weighs
    rebalanced result;
};

/// Fills `counts` and `longest`.
inline void count_padded(padded_stay_room& room) {
    room.counts.assign(room.nodes_of_ranks.size(), 0);
    room.longest.assign(room.nodes_of_ranks.size(), 0);
    for (auto const item : room.items.order()) {
        std::uint32_t const rank = room.rank_of[item];
        ++room.counts[rank];
        room.longest[rank] = std::max(room.longest[rank], room.items.weight(item));
    }
}

/// Whether no rank is above the bound, of what has been counted.
[[nodiscard]] inline bool all_within(padded_stay_room const& room, std::uint64_t bound) {
    for (std::size_t rank = 0; rank < room.counts.size(); ++rank) {
        if (room.counts[rank] > 0 && room.longest[rank] > bound / room.counts[rank]) {
            return false;
        }
    }
    return true;
}

/// Writes plan, loads and bytes of `rank_of`, where no plan is below `bound`, in units.
inline void write_padded(stay_task const& task, std::uint64_t bound, padded_stay_room& room) {
    auto const& items = room.items;
    auto& result = room.result;
    std::size_t const ranks = task.nodes_of_ranks.size();
    count_padded(room);
    std::uint64_t busiest = 0;
    std::uint64_t total = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::uint64_t const load = room.counts[rank] * room.longest[rank];
        busiest = std::max(busiest, load);
        total = checked_add(total, checked_multiply(load, items.unit(), "rebalance: the padded load of a rank"),
                            "rebalance: the total padded load");
    }
    result.quality = {
        .max_load = busiest * items.unit(), .total_load = total, .lower_bound = bound * items.unit(), .ranks = {ranks}};

    result.total = std::accumulate(task.bytes.begin(), task.bytes.end(), std::uint64_t{0});
    result.moved = 0;
    result.between_nodes = 0;
    for (auto const item : items.order()) {
        std::uint32_t const rank = room.rank_of[item];
        result.moved += rank == items.home_rank(item) ? 0 : items.bytes_of(item);
        result.between_nodes += task.nodes_of_ranks[rank] == items.home_node(item) ? 0 : items.bytes_of(item);
    }
    write_plan(room.rank_of, ranks, result.plan);
    result.between_nodes_bound.reset();
    result.moved_bound.reset();
    if (!task.bounds) {
        return;
    }
    std::uint64_t const between_nodes = room.bounds(
        items, [&](std::size_t item) { return items.home_node(item); }, task.nodes,
        [&](std::size_t node) { return room.ranks.size(node); }, busiest);
    result.between_nodes_bound = between_nodes;
    // Whatever leaves its node leaves its rank.
    result.moved_bound = std::max(between_nodes, room.bounds(
                                                     items, [&](std::size_t item) { return items.home_rank(item); },
                                                     ranks, [](std::size_t) { return std::size_t{1}; }, busiest));
}

/// `rebalance` for a task whose weights are padded and whose homes are all ranks; the result is in `room.result`.
inline void rebalance_padded(padded_stay_room& room, stay_task const& task) {
    std::size_t const count = task.weights.size();
    std::size_t const ranks = task.nodes_of_ranks.size();
    room.reserve(count, ranks, task.nodes);
    room.ranks.assign(task.nodes_of_ranks, task.nodes);
    auto& items = room.items;
    items.assign("rebalance", task);
    // What weighs nothing stays there.
    room.rank_of.assign(task.home_ranks.begin(), task.home_ranks.end());
    room.result.from_scratch = false;
    if (items.size() == 0) {
        write_padded(task, 0, room);
        return;
    }
    std::uint64_t all_steps = 0;
    if (__builtin_mul_overflow(std::max<std::uint64_t>(count, 1024), task.effort, &all_steps)) {
        all_steps = std::numeric_limits<std::uint64_t>::max();
    }
    // The whole search is worth it: what the optimum is below its bound may be spent on moving less.
    auto const found = padded_search{items.sorted_weights(), ranks}(
        items.total(), 0, step_budget{std::numeric_limits<std::uint64_t>::max()});
    if (!found) {
        throw std::overflow_error{"rebalance: the padded load of a rank exceeds 64 bits"};
    }
    std::uint64_t const bound = std::max(goal_of(found->bound, task.tolerance), found->load);
    count_padded(room);
    if (!all_within(room, bound)) {
        room.result.from_scratch = !room.pods(items, task.nodes, ranks, bound, room.rank_of);
        room.seats(items, room.ranks, room.rank_of);
        room.homing(items, room.ranks, task.nodes_of_ranks, bound, room.rank_of, step_budget{all_steps});
    }
    write_padded(task, found->bound, room);
}

}  // namespace evenkeel::detail
