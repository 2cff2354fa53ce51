// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/level_loads.hpp>
#include <evenkeel/solve/detail/meet_limits.hpp>
#include <evenkeel/solve/detail/roster.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/detail/wish_tree.hpp>

namespace evenkeel::detail {

/// Improves on a placement until it meets its limits and its slowest rank is at the goal, or the steps are spent.
///
/// First the limits, by exchanges; of a few bundles, every placement is tried. Then one target time after the other, as
/// in `search`: one close to the goal, the goal itself, then halfway between the best placement and what was missed.
class wish_search {
  public:
    void reserve(std::size_t bundles, std::size_t ranks) {
        ranks_.reserve(bundles, ranks);
        limits_.reserve(ranks);
        level_.reserve(bundles, ranks);
        capacities_.reserve(ranks);
    }

    struct outcome {
        wish_problem::score best;
        bool complete = false;  ///< nothing is better
    };

    /// @param rank_of  The placement to start from; improved where possible.
    outcome operator()(wish_problem const& problem, std::uint64_t goal, std::span<std::uint32_t> rank_of,
                       step_budget steps) {
        ranks_.reset(problem, rank_of);
        outcome result{.best = problem.score_of(ranks_.all()), .complete = false};
        if (result.best.violation > 0) {
            // A promise is worth more steps than an even load.
            step_budget most{std::max<std::uint64_t>(steps.left(), fewest_steps)};
            limits_(ranks_, most);
            keep_better(result.best, rank_of);
        }
        if (problem.size() <= wish_tree::most_bundles && problem.ranks() <= wish_tree::most_ranks) {
            step_budget most{std::max<std::uint64_t>(steps.left(), fewest_steps)};
            if (tree_(problem, goal, result.best, rank_of, most)) {
                result.complete = true;
                return result;
            }
            ranks_.reset(problem, rank_of);
        }
        improve(problem, goal, result.best, rank_of, steps);
        return result;
    }

  private:
    /// What meeting the limits, and trying all placements of a few bundles, may take whatever the effort.
    static constexpr std::uint64_t fewest_steps = 1U << 22;

    void keep_better(wish_problem::score& best, std::span<std::uint32_t> rank_of) {
        if (auto const reached = ranks_.problem().score_of(ranks_.all()); reached < best) {
            best = reached;
            ranks_.store(rank_of);
        }
    }

    void improve(wish_problem const& problem, std::uint64_t goal, wish_problem::score& best,
                 std::span<std::uint32_t> rank_of, step_budget& steps) {
        std::uint64_t const share = steps.left() / 4;
        std::uint64_t missed = goal - std::min<std::uint64_t>(goal, 1);
        bool last = false;
        for (std::size_t turn = 0; best.busiest > goal && !last && !steps.exhausted(); ++turn) {
            std::uint64_t const target = next_target(turn, goal, missed, best.busiest);
            last = target == missed;
            problem.capacities(target, capacities_);
            step_budget part = steps.part(last ? steps.left() : share);
            bool const reached = level_(ranks_, capacities_, turn, part);
            steps.give_back(part);
            if (!reached) {
                missed = std::max(missed, target);
            }
            keep_better(best, rank_of);
            if (best.busiest <= missed) {
                missed = goal - 1;
                last = false;
            }
        }
    }

    [[nodiscard]] static std::uint64_t next_target(std::size_t turn, std::uint64_t goal, std::uint64_t missed,
                                                   std::uint64_t busiest) noexcept {
        std::uint64_t const close = std::max<std::uint64_t>(1, goal / 1024);
        if (turn == 0 && busiest - goal > close) {
            return goal + close;
        }
        if (missed < goal || goal == 0) {
            return goal;
        }
        return missed + (busiest - std::min(missed, busiest)) / 2;
    }

    roster ranks_;
    meet_limits limits_;
    level_loads level_;
    wish_tree tree_;
    std::vector<std::uint64_t> capacities_;
};

}  // namespace evenkeel::detail
