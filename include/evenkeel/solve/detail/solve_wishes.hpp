// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/core/not_found.hpp>
#include <evenkeel/solve/detail/solve.hpp>
#include <evenkeel/solve/detail/wish_arguments.hpp>
#include <evenkeel/solve/detail/wish_buffers.hpp>
#include <evenkeel/solve/detail/wish_proofs.hpp>
#include <evenkeel/solve/detail/wish_times.hpp>
#include <evenkeel/solve/detail/wish_turns.hpp>
#include <evenkeel/solve/detail/write_plan.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/options.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// `balance` with wishes: solves for the weights in `buffers.weights`; the result is in `buffers.result`.
class wish_solver {
  public:
    wish_solver(buffers& buffers, rank_count ranks, balance_options const& options, std::string_view function)
        : buffers_{&buffers}, own_{&buffers.wishes}, ranks_{ranks}, options_{&options}, function_{function} {}

    void operator()() {
        auto const& asked = options_->wishes;
        std::size_t const items = buffers_->weights.size();
        require_wishes(asked, items, ranks_.value, function_);
        buffers_->reserve(items, ranks_.value);
        own_->reserve(items, ranks_.value);
        // Where ranks are alike but for limits, the plan without limits is the best there can be, and mostly meets
        // them.
        bool const same = asked.speeds.empty() && asked.pinned.empty();
        bool const alike = same && !asked.equal_counts;
        bool const grouped = !asked.groups.empty();
        if (same && !grouped && !counts_bind() && !cap_binds() && meets_limits_without_trying()) {
            return;
        }
        auto& input = own_->input;
        input.read(buffers_->weights, ranks_.value, asked, buffers_->items, function_);
        auto const& problem = input.problem;
        require_times(problem, function_);
        require_possible(input, asked, function_);
        std::uint64_t bound = own_->bounds(problem);
        if (problem.speeds.empty()) {
            bound = std::max(bound, lower_bound(buffers_->items, ranks_.value) * problem.grain);
        }
        if (alike && grouped) {
            input.loads().swap(buffers_->weights);
            solve_plain();
            input.loads().swap(buffers_->weights);
            bound = std::max(bound, buffers_->result.quality.lower_bound / input.unit);
            input.take_over(buffers_->rank_of_item, own_->rank_of);
        } else {
            problem.capacities(bound, own_->capacities);
            own_->rank_of.resize(problem.size());
            own_->start(problem, own_->capacities, own_->held, own_->rank_of);
        }
        std::uint64_t const goal = goal_of(bound, options_->tolerance);
        wish_search::outcome found{.best = {.violation = rank_limits::none, .busiest = 0}, .complete = false};
        if (!(alike && grouped)) {
            found.best = problem.score_of(own_->held);
        }
        if (found.best.violation > 0 || found.best.busiest > goal) {
            // As many steps as without wishes, and all of the batch counts.
            found = own_->searching(problem, goal, own_->rank_of, steps_for(items * 7 / 4, *options_));
        }
        auto const [best, complete] = found;
        if (best.violation > 0) {
            fail(best, complete);
        }
        if (complete && best.busiest > goal) {
            bound = best.busiest;
        }
        finish(best.busiest, bound);
    }

  private:
    /// Makes the plan without wishes, and leaves where each item is in `rank_of_item` as well.
    void solve_plain() {
        balance_options plain = *options_;
        plain.wishes = {};
        own_->weights = buffers_->weights;
        solve(*buffers_, ranks_, plain);
        own_->weights.swap(buffers_->weights);
        auto const& made = buffers_->result.plan;
        buffers_->rank_of_item.resize(made.items.size());
        for (std::size_t rank = 0; rank < ranks_.value; ++rank) {
            for (auto const item : made[to_id<rank_id>(rank)]) {
                buffers_->rank_of_item[to_index(item)] = static_cast<std::uint32_t>(rank);
            }
        }
    }

    /// Whether equal counts are probably out of reach without trying: where little weighs nothing, ranks with many
    /// light items have too many. A guess, too.
    [[nodiscard]] bool counts_bind() const {
        auto const& weights = buffers_->weights;
        return options_->wishes.equal_counts &&
               static_cast<std::size_t>(std::ranges::count(weights, 0U)) < weights.size() / 4;
    }

    /// Whether a rank at the mean load, if it has none of the heavy items, is probably above the cap; a guess saves
    /// time.
    [[nodiscard]] bool cap_binds() const {
        auto const& asked = options_->wishes;
        auto const& weights = buffers_->weights;
        if (!asked.cap || weights.empty()) {
            return false;
        }
        std::uint64_t all = 0;
        for (auto const weight : weights) {
            if (__builtin_add_overflow(all, weight, &all)) {
                return false;
            }
        }
        std::uint64_t const mean = all / ranks_.value;
        std::uint64_t load = 0;
        std::uint64_t quantity = 0;
        for (std::size_t item = 0; item < weights.size(); ++item) {
            bool const light = weights[item] <= mean / 2;
            load += light ? weights[item] : 0;
            quantity += light ? asked.quantities[item] : 0;
        }
        __extension__ typedef unsigned __int128 wide;
        return wide{mean} * quantity > wide{load} * *asked.cap;
    }

    /// Makes the plan without limits; whether it happens to meet them, so that it is the result.
    bool meets_limits_without_trying() {
        solve_plain();
        auto const& asked = options_->wishes;
        auto const& weights = buffers_->weights;
        auto const limits = limits_of(asked, weights.size(), ranks_.value);
        if (!own_->fitting(asked, limits, weights, ranks_.value, buffers_->rank_of_item)) {
            return false;
        }
        bool const turns = asked.step % ranks_.value != 0;
        if (turns) {
            for (std::size_t item = 0; item < weights.size(); ++item) {
                // What weighs nothing stays at home, unless it counts for something else.
                if (weights[item] > 0 || limits.counts() || (!asked.quantities.empty() && asked.quantities[item] > 0)) {
                    auto& rank = buffers_->rank_of_item[item];
                    rank = static_cast<std::uint32_t>((rank + asked.step % ranks_.value) % ranks_.value);
                }
            }
        }
        if (turns || own_->fitting.moved()) {
            write_plan(buffers_->rank_of_item, ranks_.value, buffers_->result.plan);
        }
        return true;
    }

    [[noreturn]] void fail(wish_problem::score const& best, bool complete) {
        auto const& problem = own_->input.problem;
        auto const& asked = options_->wishes;
        own_->held = problem.base;
        for (std::size_t bundle = 0; bundle < problem.size(); ++bundle) {
            problem.add(own_->held[own_->rank_of[bundle]], bundle);
        }
        auto const missed = find_missed(problem.limits, own_->held, asked, function_);
        if (complete) {
            throw infeasible{missed.name, std::nullopt, missed.amount};
        }
        require_packable(problem, buffers_->items, function_);
        finish(best.busiest, best.busiest);
        throw not_found{missed.name, missed.amount, buffers_->result.plan};
    }

    /// Writes the result: what was searched for, in turns, and the rest where it belongs.
    void finish(std::uint64_t busiest, std::uint64_t bound) {
        auto& rank_of_item = buffers_->rank_of_item;
        auto const& input = own_->input;
        auto const& problem = input.problem;
        rank_of_item.resize(buffers_->weights.size());
        deal_in_turn(rank_of_item, problem.ranks());
        take_turns(problem, options_->wishes, own_->order, own_->rank_of);
        send_home(input, rank_of_item, own_->idle_counts, own_->rank_of);
        input.place_items(own_->rank_of, rank_of_item);
        write_plan(rank_of_item, problem.ranks(), buffers_->result.plan);
        buffers_->result.quality = {.max_load = busiest * input.unit,
                                    .total_load = fair_total(problem) * input.unit,
                                    .lower_bound = bound * input.unit,
                                    .ranks = ranks_};
    }

    buffers* buffers_;
    wish_buffers* own_;
    rank_count ranks_;
    balance_options const* options_;
    std::string_view function_;
};

/// @param function  Whose wishes these are, for errors.
inline void solve_wishes(buffers& buffers, rank_count ranks, balance_options const& options,
                         std::string_view function = "balance") {
    wish_solver{buffers, ranks, options, function}();
}

}  // namespace evenkeel::detail
