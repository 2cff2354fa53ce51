// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/not_found.hpp>
#include <evenkeel/solve/detail/rebalance.hpp>
#include <evenkeel/solve/detail/solve_wishes.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/wish_arguments.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/detail/wish_proofs.hpp>
#include <evenkeel/solve/detail/wish_stay_room.hpp>
#include <evenkeel/solve/detail/wish_staying.hpp>
#include <evenkeel/solve/detail/wish_times.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// `rebalance` with wishes.
///
/// What stays together becomes one item. If a plan from home (`wish_staying`) is not as even as wished, the plan of
/// `balance` says what can be reached, and is the last resort.
class wished_stay {
  public:
    wished_stay(stay_room& room, wish_stay_room& own, stay_task const& task, wishes const& asked)
        : room_{&room},
          own_{&own},
          problem_{&own.input.problem},
          task_{&task},
          asked_{&asked},
          staying_{room, own, task} {}

    void operator()() {
        std::size_t const items = task_->weights.size();
        std::size_t const ranks = task_->nodes_of_ranks.size();
        require_wishes(*asked_, items, ranks, "rebalance");
        if (asked_->step != 0) {
            throw_invalid("rebalance", "options.wishes.step", asked_->step, "0, as turns move what could stay");
        }
        own_->reserve(items, ranks, task_->nodes);
        room_->reserve(items, ranks, task_->nodes);
        // Whether a plan from scratch is needed depends on the batch.
        room_->scratch.wishes.reserve(items, ranks);
        if (!asked_->groups.empty() || !asked_->pinned.empty()) {
            room_->scratch.wishes.input.reserve_bundles(items);
        }
        own_->input.read(task_->weights, ranks, *asked_, own_->sorting, "rebalance");
        require_times(*problem_, "rebalance");
        require_possible(own_->input, *asked_, "rebalance");
        bound_ = own_->bounds(*problem_);
        if (problem_->speeds.empty()) {
            bound_ = std::max(bound_, lower_bound(own_->sorting, ranks) * problem_->grain);
        }
        room_->ranks.assign(task_->nodes_of_ranks, task_->nodes);
        own_->homes.read(*task_, own_->input, *asked_);
        room_->items.assign("rebalance", {.weights = problem_->weights,
                                          .bytes = own_->homes.bytes,
                                          .home_ranks = own_->homes.ranks,
                                          .home_nodes = {},
                                          .classes = own_->homes.classes,
                                          .nodes_of_ranks = task_->nodes_of_ranks,
                                          .nodes = task_->nodes});
        room_->result.from_scratch = false;
        std::uint64_t const goal = goal_of(bound_, task_->tolerance);
        auto best = staying_.stay(goal);
        if (best.violation > 0 || best.busiest > goal) {
            best = from_scratch(best);
        }
        finish(best.busiest);
    }

  private:
    using score = wish_problem::score;

    /// Plans without regard to homes, to know what can be reached, and takes that plan if staying does not get there.
    ///
    /// @param stayed  What is at hand.
    score from_scratch(score const& stayed) {
        auto& scratch = room_->scratch;
        scratch.weights.assign(task_->weights.begin(), task_->weights.end());
        try {
            solve_wishes(scratch, {problem_->ranks()}, {.wishes = *asked_}, "rebalance");
        } catch (not_found const&) {
            if (stayed.violation > 0) {
                throw;
            }
            return stayed;
        }
        std::uint64_t const unit = own_->input.unit;
        std::uint64_t const reached = scratch.result.quality.max_load / unit;
        bound_ = std::max(bound_, scratch.result.quality.lower_bound / unit);
        std::uint64_t const target = goal_of(std::max(bound_, reached), task_->tolerance);
        // The target was lower before, so home may be good enough by now.
        if (score home; staying_.stay_home(target, home)) {
            return home;
        }
        if (stayed.violation == 0 && stayed.busiest <= target) {
            return stayed;
        }
        if (auto const again = staying_.stay(target); again.violation == 0 && again.busiest <= target) {
            return again;
        }
        take_batches_of_plan();
        staying_.rate();
        staying_.come_home(target);
        room_->result.from_scratch = true;
        return staying_.rate();
    }

    void take_batches_of_plan() {
        write_ranks_of(room_->scratch.result.plan, room_->rank_of_item);
        for (std::size_t bundle = 0; bundle < problem_->size(); ++bundle) {
            own_->rank_of[bundle] = room_->rank_of_item[own_->input.firsts[bundle]];
        }
        if (!asked_->pinned.empty() || !asked_->speeds.empty()) {
            return;  // ranks that are not alike cannot change batches
        }
        room_->rank_of.assign(own_->rank_of.begin(), own_->rank_of.end());
        room_->seats(room_->items, room_->ranks, room_->rank_of, true);
        for (auto& rank : own_->rank_of) {
            rank = room_->seats.rank_of_batch()[rank];
        }
    }

    static void write_ranks_of(plan const& plan, std::vector<std::uint32_t>& rank_of_item) {
        rank_of_item.resize(plan.items.size());
        for (std::uint32_t rank = 0; rank < plan.ranks().value; ++rank) {
            for (auto const item : plan[rank_id{rank}]) {
                rank_of_item[to_index(item)] = rank;
            }
        }
    }

    void finish(std::uint64_t busiest) {
        auto& result = room_->result;
        auto& rank_of_item = room_->rank_of_item;
        rank_of_item.assign(task_->home_ranks.begin(), task_->home_ranks.end());
        own_->input.place_items(own_->rank_of, rank_of_item);
        result.total = result.moved = result.between_nodes = 0;
        for (std::size_t item = 0; item < rank_of_item.size(); ++item) {
            std::uint32_t const home = task_->home_ranks[item];
            std::uint32_t const rank = rank_of_item[item];
            std::uint64_t const size = task_->bytes[item];
            result.total += size;
            result.moved += rank == home ? 0 : size;
            result.between_nodes += task_->nodes_of_ranks[rank] == task_->nodes_of_ranks[home] ? 0 : size;
        }
        write_plan(rank_of_item, problem_->ranks(), result.plan);
        std::uint64_t const unit = own_->input.unit;
        result.quality = {.max_load = busiest * unit,
                          .total_load = fair_total(*problem_) * unit,
                          .lower_bound = bound_ * unit,
                          .ranks = {problem_->ranks()}};
        result.moved_bound.reset();
        result.between_nodes_bound.reset();
        if (task_->bounds) {
            bound_bytes(busiest);
        }
    }

    void bound_bytes(std::uint64_t busiest) {
        auto const& items = room_->items;
        auto const& homes = own_->homes;
        auto& result = room_->result;
        staying_.find_rooms(busiest, room_->rooms);
        auto const least =
            room_->bounds(items, room_->ranks, items.at_home.loads, room_->rooms, result.between_nodes - homes.between);
        result.between_nodes_bound = homes.between + least.between_nodes;
        // What a group costs on another rank of its home node is not known.
        result.moved_bound =
            std::max(*result.between_nodes_bound, homes.moved + (asked_->groups.empty() ? least.moved : 0));
    }

    stay_room* room_;
    wish_stay_room* own_;
    wish_problem const* problem_;
    stay_task const* task_;
    wishes const* asked_;
    wish_staying staying_;
    std::uint64_t bound_ = 0;
};

}  // namespace evenkeel::detail
