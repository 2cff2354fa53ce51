// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/solve/detail/exact_finish.hpp>
#include <evenkeel/solve/detail/few_sizes.hpp>
#include <evenkeel/solve/detail/many_sizes.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/uneven_ranks.hpp>

namespace evenkeel::detail {

/// What a search knows: the load of the busiest rank in the best placement so far, and what no placement can beat.
struct standing {
    std::uint64_t busiest = 0;
    std::uint64_t bound = 0;
};

/// The mean load, rounded up.
[[nodiscard]] inline std::uint64_t mean_load(sorted_items const& items, std::size_t ranks) noexcept {
    return items.total / ranks + (items.total % ranks != 0 ? 1 : 0);
}

/// Starts that are even but for a few ranks, so that repairing these is all that is left to do.
class quick_starts {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        finish_.reserve(items, ranks);
        few_.reserve(items);
        many_.reserve(items, ranks);
        uneven_.reserve(items, ranks);
        start_.reserve(items);
        loads_.reserve(ranks);
    }

    /// Lets ranks hold patterns of few sizes, which also may raise the bound, and the goal with it.
    ///
    /// @return  Whether that is as good as it gets.
    bool fill_patterns(sorted_items const& items, std::size_t ranks, std::uint64_t& goal, placement& loads,
                       repair& even, std::span<std::uint32_t> rank_of, standing& best, step_budget& steps) {
        if (!few_.suits(items.weights, best.bound, best.busiest, steps)) {
            return false;
        }
        few_.start(ranks, best.bound);
        step_budget part = steps.part(steps.left() / 4 * 3);
        bool const fits = few_.improve(part);
        steps.give_back(part);
        goal += few_.bound() - best.bound;
        best.bound = few_.bound();
        if (best.busiest <= goal) {
            return true;
        }
        for (std::uint64_t above = 0; fits && above <= best.bound / 1024 && goal + above < best.busiest;
             above += above / 2 + 1) {
            start_.resize(items.size());
            loads_.resize(ranks);
            few_.place(loads_, start_);
            if (even_out(items, goal + above, loads, even, start_, best, steps)) {
                std::ranges::copy(start_, rank_of.begin());
                return true;
            }
        }
        return false;
    }

    /// What mixing patterns of many sizes may take, if a search has so many steps. It takes hardly longer for many
    /// ranks than for few.
    [[nodiscard]] static step_budget steps_to_mix(std::size_t items, std::size_t ranks, std::uint64_t steps) noexcept {
        std::uint64_t const more =
            few_per_rank(items, ranks) ? steps / 4 : std::min(steps / 2 * 5, std::uint64_t{1} << 21);
        return step_budget{steps / 2 + more};
    }

    /// Whether no other means are likely to come closer to the goal than mixed patterns have. Of few items, patterns
    /// lose much by being rounded to whole ranks.
    [[nodiscard]] static bool is_final(std::size_t items, std::uint64_t busiest, std::uint64_t goal) noexcept {
        return busiest <= goal + goal / (items < many ? 512 : 128);
    }

    /// What is left to other means where they are; with many items these take long and seldom get closer.
    [[nodiscard]] static step_budget steps_after_mixing(std::size_t items, step_budget left) noexcept {
        return items < many ? left : step_budget{std::min(left.left(), std::uint64_t{1} << 20)};
    }

    /// Mixes patterns of many sizes, for few items per rank; this, too, may raise the bound, and the goal with it.
    ///
    /// One capacity after the other is tried; patterns and prices of one serve the next.
    ///
    /// @return  Whether that is as good as it gets, for a batch of so few items per rank.
    bool mix_patterns(sorted_items const& items, std::size_t ranks, std::uint64_t& goal, placement& loads, repair& even,
                      std::span<std::uint32_t> rank_of, standing& best, step_budget& steps) {
        // Rounding takes a part of an item or two.
        bool const few = few_per_rank(items.size(), ranks);
        std::uint64_t margin = std::max(goal / 2048 + goal / items.size() * 5 / 2, goal / (few ? 512 : 1366));
        std::uint64_t capacity = goal + margin;
        if (capacity >= best.busiest || !many_.suits(items.weights, ranks, best.busiest)) {
            return false;
        }
        many_.start(items, ranks, capacity, steps);
        std::int64_t spare = 0;
        // Exchanges do better than patterns that are far from the goal, but where they have too little to choose from.
        std::uint64_t const far = few ? best.busiest : goal / 512;
        while (many_.in_range() && capacity < std::min(best.busiest, goal + far + 1) && steps.left() > items.size()) {
            step_budget part = steps.part(steps.left() / 8 * 7);
            auto const found = many_.improve(spare, part);
            steps.give_back(part);
            if (found == many_sizes::outcome::fits) {
                start_.resize(items.size());
                loads_.resize(ranks);
                many_.place(loads_, start_);
                if (even_out(items, capacity, loads, even, start_, best, steps) ||
                    even_out_all(items, capacity, loads, even, best, steps)) {
                    std::ranges::copy(start_, rank_of.begin());
                    return true;
                }
                // With more left over there is more choice.
                spare += wide_mixture::whole / 4;
                continue;
            }
            if (found == many_sizes::outcome::no_better && spare == 0) {
                std::uint64_t const proved = many_.prove(best.bound, best.busiest, steps);
                goal += proved - std::exchange(best.bound, proved);
            }
            margin = std::max<std::uint64_t>(1, 2 * margin);
            capacity = std::max(capacity + 1, goal + margin);
            many_.raise(capacity);
        }
        return false;
    }

    /// Places the lightest items anew.
    ///
    /// @param given    The loads of the ranks.
    /// @param rank_of  The placement; changed if the new one reaches the target.
    /// @return         Whether it does.
    bool finish(sorted_items const& items, std::span<std::uint64_t const> given, std::uint64_t target, placement& loads,
                repair& even, std::span<std::uint32_t> rank_of, standing& best, step_budget& steps) {
        auto const lightest = rank_of.subspan(exact_finish::first_taken_back(items.size(), given.size()));
        start_.assign(lightest.begin(), lightest.end());
        loads_.assign(given.begin(), given.end());
        finish_(items.weights, items.total, target, loads_, rank_of, steps);
        bool const reached = even_out(items, target, loads, even, rank_of, best, steps);
        if (!reached) {
            std::ranges::copy(start_, lightest.begin());
        }
        return reached;
    }

  private:
    static constexpr std::size_t many = 1280;

    /// Repairs those ranks of a start that are uneven; whether that reaches the target. If not, the start stays.
    bool even_out(sorted_items const& items, std::uint64_t target, placement& loads, repair& even,
                  std::span<std::uint32_t> start, standing& best, step_budget& steps) {
        std::uint64_t busiest = *std::ranges::max_element(loads_);
        if (busiest > target) {
            std::uint64_t const waste = target - mean_load(items, loads_.size());
            uneven_.gather(items.weights, start, loads_, target, waste);
            loads.reset(uneven_.weights(), uneven_.rank_of(), uneven_.ranks());
            step_budget part = steps.part(steps.left() / 8);
            bool const reached = even(loads, target, waste / 4, 0, part);
            steps.give_back(part);
            if (!reached) {
                return false;
            }
            loads.store(uneven_.rank_of());
            uneven_.scatter(start);
            busiest = std::max(uneven_.busiest_even(), loads.busiest_load());
        }
        best.busiest = busiest;
        return true;
    }

    /// The same for what is in `start_`, with all ranks: dearer, and finds more.
    bool even_out_all(sorted_items const& items, std::uint64_t target, placement& loads, repair& even, standing& best,
                      step_budget& steps) {
        constexpr std::size_t tries = 3;
        std::uint64_t const waste = target - mean_load(items, loads_.size());
        loads.reset(items.weights, start_, loads_.size());
        steps.spend(items.size());
        for (std::size_t turn = 0; turn < tries; ++turn) {
            step_budget part = steps.part(steps.left() / 8);
            bool const reached = even(loads, target, waste / 4, turn, part);
            steps.give_back(part);
            if (reached) {
                loads.store(start_);
                best.busiest = loads.busiest_load();
                return true;
            }
        }
        return false;
    }

    exact_finish finish_;
    few_sizes few_;
    many_sizes many_;
    uneven_ranks uneven_;
    std::vector<std::uint32_t> start_;
    std::vector<std::uint64_t> loads_;
};

}  // namespace evenkeel::detail
