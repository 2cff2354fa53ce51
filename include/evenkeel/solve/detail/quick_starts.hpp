// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/exact_finish.hpp>
#include <evenkeel/solve/detail/few_sizes.hpp>
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

    exact_finish finish_;
    few_sizes few_;
    uneven_ranks uneven_;
    std::vector<std::uint32_t> start_;
    std::vector<std::uint64_t> loads_;
};

}  // namespace evenkeel::detail
