// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_room.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/detail/wish_stay_room.hpp>

namespace evenkeel::detail {

/// Plans with wishes that start from home.
///
/// What is pinned and what a slower rank cannot take is a load that cannot be given away; so the search without limits
/// can run. The limits are then met by exchanges, first inside nodes, then between any ranks, and what can come home
/// for nothing comes home.
class wish_staying {
  public:
    using score = wish_problem::score;

    wish_staying(stay_room& room, wish_stay_room& own, stay_task const& task)
        : room_{&room}, own_{&own}, problem_{&own.input.problem}, task_{&task} {}

    /// How good the plan at hand is.
    score rate() {
        own_->held.assign(problem_->base.begin(), problem_->base.end());
        for (std::size_t bundle = 0; bundle < problem_->size(); ++bundle) {
            problem_->add(own_->held[own_->rank_of[bundle]], bundle);
        }
        return problem_->score_of(own_->held);
    }

    /// Goes from home to the target, moving little.
    score stay(std::uint64_t target) {
        go_home();
        auto left = steps();
        bool const found = stay_without_limits(target, left);
        auto best = meet_limits_from(target, left);
        if (!found) {
            own_->other_rank_of = own_->rank_of;
            std::uint64_t const cost = cost_between_nodes();
            go_home();
            auto const again = meet_limits_from(target, left);
            if (again.violation > 0 || again.busiest > target ||
                (best.violation == 0 && best.busiest <= target && cost_between_nodes() >= cost)) {
                own_->rank_of.swap(own_->other_rank_of);
                best = rate();
            } else {
                best = again;
            }
        }
        return best;
    }

    /// Whether home itself meets the target; if so, it becomes the plan at hand.
    bool stay_home(std::uint64_t target, score& at_hand) {
        own_->other_rank_of = own_->rank_of;
        go_home();
        auto const home = rate();
        if (home.violation > 0 || home.busiest > target) {
            own_->rank_of.swap(own_->other_rank_of);
            return false;
        }
        at_hand = home;
        return true;
    }

    void come_home(std::uint64_t target) {
        own_->homing(*problem_, own_->homes, room_->ranks, task_->nodes_of_ranks, target, own_->rank_of, own_->held,
                     steps());
    }

    /// What each rank can take at most of what can move, in the units of the sorted items.
    void find_rooms(std::uint64_t time, std::vector<std::uint64_t>& rooms) const {
        rooms.resize(problem_->ranks());
        for (std::size_t rank = 0; rank < rooms.size(); ++rank) {
            std::uint64_t const capacity = problem_->capacity(rank, time);
            rooms[rank] = (capacity - std::min(capacity, problem_->base[rank].load)) / room_->items.unit();
        }
    }

  private:
    [[nodiscard]] step_budget steps() const noexcept {
        std::uint64_t all = 0;
        if (__builtin_mul_overflow(std::max<std::uint64_t>(task_->weights.size(), 1024), task_->effort, &all)) {
            all = rank_limits::none;
        }
        return step_budget{all};
    }

    /// Goes from home towards the target as if there were no limits; whether it gets there.
    bool stay_without_limits(std::uint64_t time, step_budget& steps) {
        auto const& sorted = room_->items.sorted();
        find_rooms(time, own_->ballast);
        auto const& rooms = own_->ballast;
        std::uint64_t const target = *std::max_element(rooms.begin(), rooms.end());
        std::uint64_t all = 0;
        if (sorted.size() == 0 || __builtin_mul_overflow(target, 2 * rooms.size(), &all) ||
            std::accumulate(rooms.begin(), rooms.end(), std::uint64_t{0}) < sorted.total) {
            return true;  // nothing else to start from
        }
        bool any = false;
        for (auto& ballast : own_->ballast) {
            ballast = target - ballast;
            any = any || ballast > 0;
        }
        auto& staying = room_->staying;
        staying.start(room_->items, room_->ranks, target,
                      any ? std::span<std::uint64_t const>{own_->ballast} : std::span<std::uint64_t const>{});
        staying.try_once(task_->slack_tenths, steps);
        staying.try_more(steps);
        // Where the last try is not all it should be, it is still closer than home.
        if (staying.found()) {
            staying.finish();
        }
        for (auto const item : room_->items.order()) {
            own_->rank_of[item] = staying.ranks_of()[item];
        }
        return staying.found();
    }

    void go_home() { own_->rank_of.assign(own_->homes.ranks.begin(), own_->homes.ranks.end()); }

    score meet_limits_from(std::uint64_t target, step_budget& steps) {
        auto best = rate();
        if (best.violation > 0 || best.busiest > target) {
            own_->nodes_first(*problem_, room_->ranks, task_->nodes_of_ranks, target, own_->held, own_->searching,
                              task_->effort / 8, own_->rank_of);
            best = rate();
        }
        if (best.violation > 0 || best.busiest > target) {
            own_->searching(*problem_, target, own_->rank_of, steps.part(steps.left() / 8));
            rate();
        }
        come_home(target);
        return rate();
    }

    [[nodiscard]] std::uint64_t cost_between_nodes() const noexcept {
        std::uint64_t cost = 0;
        for (std::size_t bundle = 0; bundle < problem_->size(); ++bundle) {
            std::uint32_t const home = task_->nodes_of_ranks[own_->homes.ranks[bundle]];
            cost += task_->nodes_of_ranks[own_->rank_of[bundle]] == home ? 0 : own_->homes.bytes[bundle];
        }
        return cost;
    }

    stay_room* room_;
    wish_stay_room* own_;
    wish_problem const* problem_;
    stay_task const* task_;
};

}  // namespace evenkeel::detail
