// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/solve/detail/complete_search.hpp>
#include <evenkeel/solve/detail/crowded_ranks.hpp>
#include <evenkeel/solve/detail/crowded_start.hpp>
#include <evenkeel/solve/detail/dual_feasible.hpp>
#include <evenkeel/solve/detail/exact_fill.hpp>
#include <evenkeel/solve/detail/fine_loads.hpp>
#include <evenkeel/solve/detail/first_patterns.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/quick_starts.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Improves on longest first until the busiest rank is at the goal or the steps are spent.
///
/// Of a few items every placement is tried. Of few sizes patterns are chosen; of many items per rank the lightest are
/// placed anew, so that they fill ranks exactly, and what is uneven after that is repaired; nearly always that is all.
/// Otherwise one target load after the other is aimed at: one close to the goal, where most batches succeed at little
/// cost; the goal itself, or where loads are fine, halfway to it; then halfway between the best placement and the
/// highest target that was missed. With many items per rank each try goes on from the placement at hand. With fewer
/// than five, exchanges have too little to choose from, so each try starts anew by filling ranks exactly; in between,
/// both ways are gone on many ranks. After the first miss, a closer look may raise the bound, and the goal with it, and
/// patterns are chosen of more sizes, too.
class search {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        placement_.reserve(items, ranks);
        repair_.reserve(items, ranks);
        fill_.reserve(items, ranks);
        quick_.reserve(items, ranks);
        complete_.reserve(ranks);
        crowd_.reserve(items);
        share_crowd_.reserve(items, ranks);
        prove_.reserve(items);
        start_.reserve(items);
        given_.reserve(ranks);
    }

    /// @param rank_of  The placement of longest first; improved where possible.
    void operator()(sorted_items const& items, std::size_t ranks, std::uint64_t goal, std::span<std::uint32_t> rank_of,
                    standing& best, step_budget steps) {
        (*this)(items, add_up(items, ranks, rank_of), goal, rank_of, best, steps);
    }

    /// @param loads  Of the ranks in that placement.
    void operator()(sorted_items const& items, std::span<std::uint64_t const> loads, std::uint64_t goal,
                    std::span<std::uint32_t> rank_of, standing& best, step_budget steps) {
        std::size_t const ranks = loads.size();
        if (best.busiest <= goal || steps.exhausted()) {
            return;
        }
        if (items.size() <= complete_search::most_items) {
            step_budget half = steps.part(steps.left() / 2);
            if (complete_(items.weights, ranks, goal, best.busiest, rank_of, half)) {
                best.bound = best.busiest;
                return;
            }
            steps.give_back(half);
            if (best.busiest <= goal) {
                return;
            }
            loads = add_up(items, ranks, rank_of);
        }
        if (quick_.fill_patterns(items, ranks, goal, placement_, repair_, rank_of, best, steps)) {
            return;
        }
        bool const dense = items.size() >= 5 * ranks;
        if (dense && quick_.finish(items, loads, goal, placement_, repair_, rank_of, best, steps)) {
            return;
        }
        proved_ = best.bound == 0;
        for_patterns_ = quick_starts::steps_to_mix(items.size(), ranks, steps.left());
        placement_.reset(items.weights, rank_of, ranks);
        bool const both = dense && items.size() < 13 * ranks && ranks > 256;
        if (dense) {
            step_budget part = steps.part(both ? steps.left() / 4 * 3 : steps.left());
            aim(&search::go_on, items, goal, rank_of, best, part);
            steps.give_back(part);
        }
        if (!dense || both) {
            aim(&search::start_anew, items, goal, rank_of, best, steps);
        }
    }

  private:
    /// A try at a target load: whether it reaches it.
    using attempt = bool (search::*)(sorted_items const& items, std::uint64_t target, std::size_t turn,
                                     std::span<std::uint32_t> rank_of, standing& best, step_budget& steps);

    /// Aims at one target load after the other, until the goal is reached or nothing is left to try.
    void aim(attempt reach, sorted_items const& items, std::uint64_t& goal, std::span<std::uint32_t> rank_of,
             standing& best, step_budget& steps) {
        std::uint64_t const share = steps.left() / 4;
        std::uint64_t missed = goal - 1;
        bool last = false;
        for (std::size_t turn = 0; best.busiest > goal && !last && !steps.exhausted(); ++turn) {
            std::uint64_t const target = next_target(turn, goal, missed, best.busiest);
            last = target == missed;
            step_budget part = steps.part(last ? steps.left() : share);
            bool const reached = (this->*reach)(items, target, turn, rank_of, best, part);
            steps.give_back(part);
            if (!reached) {
                if (std::uint64_t const raised = raise_bound(items, placement_.ranks(), best, steps); raised > 0) {
                    goal += raised;
                    start_crowded(items, goal, rank_of, best, steps);
                }
                mix_patterns(items, goal, rank_of, best, steps);
                missed = std::max({missed, target, goal - 1});
            }
            if (best.busiest <= missed) {
                // With other partners or more steps, what was missed is met after all; so may be what is lower.
                missed = goal - 1;
                last = false;
            }
        }
    }

    /// The loads of the ranks.
    [[nodiscard]] std::span<std::uint64_t const> add_up(sorted_items const& items, std::size_t ranks,
                                                        std::span<std::uint32_t const> rank_of) {
        given_.assign(ranks, 0);
        for (std::size_t item = 0; item < items.size(); ++item) {
            given_[rank_of[item]] += items.weights[item];
        }
        return given_;
    }

    /// Repairs the placement at hand; whether it reaches the target.
    bool go_on(sorted_items const& items, std::uint64_t target, std::size_t turn, std::span<std::uint32_t> rank_of,
               standing& best, step_budget& steps) {
        std::uint64_t const waste = target - mean_load(items, placement_.ranks());
        bool const reached = repair_(placement_, target, waste / 4, turn, steps);
        if (std::uint64_t const busiest = placement_.busiest_load(); busiest < best.busiest) {
            best.busiest = busiest;
            placement_.store(rank_of);
        }
        return reached;
    }

    /// The same after filling the ranks anew.
    bool start_anew(sorted_items const& items, std::uint64_t target, std::size_t turn, std::span<std::uint32_t> rank_of,
                    standing& best, step_budget& steps) {
        std::size_t const ranks = placement_.ranks();
        start_.resize(items.size());
        // Of two or three items per rank many starts lead nowhere.
        bool const few = few_per_rank(items.size(), ranks);
        for (std::size_t const last : {8U, 4U, 16U}) {
            step_budget part = steps.part(few ? steps.left() / 2 : steps.left());
            if (!fill_(items.weights, items.total, ranks, target, last, start_, part)) {
                return false;
            }
            placement_.reset(items.weights, start_, ranks);
            part.spend(items.size());
            bool const reached = go_on(items, target, turn, rank_of, best, part);
            steps.give_back(part);
            if (reached || !few || steps.exhausted()) {
                return reached;
            }
        }
        return false;
    }

    /// The same after giving ranks of their own to the items that raised the bound, if that is how it was raised.
    void start_crowded(sorted_items const& items, std::uint64_t target, std::span<std::uint32_t> rank_of,
                       standing& best, step_budget& steps) {
        std::size_t const ranks = placement_.ranks();
        if (best.busiest <= target || crowd_.number() == 0 || crowd_.number() == ranks) {
            return;
        }
        start_.resize(items.size());
        step_budget part = steps.part(steps.left() / 2);
        share_crowd_(items.weights, items.total, ranks, crowd_, target, placement_, repair_, start_, part);
        placement_.reset(items.weights, start_, ranks);
        part.spend(2 * items.size());
        go_on(items, target, 0, rank_of, best, part);
        steps.give_back(part);
    }

    /// Lets ranks hold patterns of many sizes, the first time. Where that gets close to the goal, it is as good as one.
    void mix_patterns(sorted_items const& items, std::uint64_t& goal, std::span<std::uint32_t> rank_of, standing& best,
                      step_budget& left) {
        std::size_t const ranks = placement_.ranks();
        std::uint64_t const all = for_patterns_.left();
        if (best.busiest <= goal + goal / 1024 || all == 0) {
            return;
        }
        bool const fits = quick_.mix_patterns(items, ranks, goal, placement_, repair_, rank_of, best, for_patterns_);
        if (fits && quick_starts::is_final(items.size(), best.busiest, goal)) {
            goal = best.busiest;
        } else if (for_patterns_.left() < all) {
            placement_.reset(items.weights, rank_of, ranks);
            left = quick_starts::steps_after_mixing(items.size(), left);
        }
        for_patterns_ = step_budget{0};
    }

    /// By how much a closer look at what ranks can hold raises the bound, the first time.
    std::uint64_t raise_bound(sorted_items const& items, std::size_t ranks, standing& best, step_budget& steps) {
        if (std::exchange(proved_, true)) {
            return 0;
        }
        steps.spend(items.size());
        std::uint64_t const crowded = crowd_(items.weights, ranks, best.bound, best.busiest);
        step_budget part = steps.part(steps.left() / 2);
        std::uint64_t const raised = prove_(items.weights, ranks, crowded, best.busiest, part);
        steps.give_back(part);
        return raised - std::exchange(best.bound, raised);
    }

    [[nodiscard]] static std::uint64_t next_target(std::size_t turn, std::uint64_t goal, std::uint64_t missed,
                                                   std::uint64_t busiest) noexcept {
        assert(goal < busiest && missed < busiest);
        std::uint64_t const close = std::max<std::uint64_t>(1, goal / 1024);
        if (turn == 0 && busiest - goal > close) {
            return goal + close;
        }
        if (missed < goal) {
            return goal < fine_load || busiest - goal <= goal / 8192 ? goal : goal + (busiest - goal) / 2;
        }
        return missed + (busiest - missed) / 2;
    }

    placement placement_;
    repair repair_;
    exact_fill fill_;
    quick_starts quick_;
    complete_search complete_;
    crowded_ranks crowd_;
    crowded_start share_crowd_;
    dual_feasible prove_;
    bool proved_ = false;
    step_budget for_patterns_{0};
    std::vector<std::uint32_t> start_;
    std::vector<std::uint64_t> given_;
};

}  // namespace evenkeel::detail
