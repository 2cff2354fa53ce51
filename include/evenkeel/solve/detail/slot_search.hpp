// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/level_loads.hpp>
#include <evenkeel/solve/detail/meet_limits.hpp>
#include <evenkeel/solve/detail/roomiest_first.hpp>
#include <evenkeel/solve/detail/roster.hpp>
#include <evenkeel/solve/detail/slot_levels.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/options.hpp>

namespace evenkeel::detail {

/// Plans micro-batches as bins under a cap on tokens: bin `rank * slots + slot` is what a rank does in a micro-batch.
///
/// The bins of a micro-batch share a level, see `set_levels`. They are filled longest first, the levels are set anew by
/// what the cap has left of the heavy micro-batches, and exchanges bring bins within cap and level; levels that are
/// missed are raised halfway to what was reached.
class slot_search {
  public:
    void reserve(std::size_t items, std::size_t bins) {
        start_.reserve(bins);
        bins_.reserve(items, bins);
        limits_.reserve(bins);
        level_.reserve(items, bins);
        capacities_.reserve(bins);
        held_.reserve(bins);
        own_.reserve(items);
        levels_.reserve(bins);
        own_levels_.reserve(bins);
        most_.reserve(bins);
        slowest_.reserve(bins);
        sums_.reserve(bins);
        order_.reserve(bins);
        new_bin_.reserve(bins);
    }

    struct outcome {
        std::uint64_t violation = 0;
        std::uint64_t sum = 0;  ///< of the slowest
    };

    /// @param problem    With ranks * slots ranks.
    /// @param goal       A sum at which to stop.
    /// @param tolerance  Bins may be so much above the levels of their micro-batches.
    /// @param bin_of     A placement to start from if longest first breaks the cap; in the end, the best.
    /// @param fits       Whether that placement meets the cap.
    outcome operator()(wish_problem const& problem, std::size_t slots, std::uint64_t goal, double tolerance, bool fits,
                       std::span<std::uint32_t> bin_of, step_budget steps) {
        slots_ = slots;
        tolerance_ = tolerance;
        fill(problem, problem.ranks() / slots);
        outcome best = start(problem, own_);
        if (best.violation > 0) {
            step_budget half = steps.part(std::max<std::uint64_t>(steps.left() / 2, 1));
            limits_(bins_, half);
            steps.give_back(half);
            bins_.store(own_);
            best = start(problem, own_);
        }
        if (best.violation > 0 && fits) {
            best = start(problem, bin_of);
        }
        bins_.store(bin_of);
        improve(goal, best, bin_of, steps);
        best.sum = group(problem, bin_of);
        return best;
    }

  private:
    /// Of each micro-batch, the load of the slowest rank.
    [[nodiscard]] outcome now() {
        slowest_.assign(slots_, 0);
        outcome result;
        for (std::size_t bin = 0; bin < bins_.ranks(); ++bin) {
            auto const& own = bins_[bin];
            result.violation += bins_.problem().limits.violation(own);
            slowest_[bin % slots_] = std::max(slowest_[bin % slots_], own.load);
        }
        for (auto const load : slowest_) {
            result.sum += load;
        }
        return result;
    }

    struct loaded_bin {
        std::uint64_t load;
        std::uint32_t bin;
    };

    /// Groups the bins by their loads, the heaviest together, which for given bins is the best there is. A micro-batch
    /// is to be levelled at the mean of its bins, or at its heaviest item.
    ///
    /// @return  The sum of the slowest.
    std::uint64_t group(wish_problem const& problem, std::span<std::uint32_t> bin_of) {
        std::size_t const ranks = problem.ranks() / slots_;
        order_.clear();
        for (std::uint32_t bin = 0; bin < problem.ranks(); ++bin) {
            order_.push_back({0, bin});
        }
        for (std::size_t item = 0; item < bin_of.size(); ++item) {
            order_[bin_of[item]].load += problem.weights[item];
        }
        std::ranges::sort(order_, [](loaded_bin const& a, loaded_bin const& b) {
            return a.load > b.load || (a.load == b.load && a.bin < b.bin);
        });
        new_bin_.resize(problem.ranks());
        std::uint64_t slowest = 0;
        auto next = order_.begin();
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            slowest += next->load;
            std::uint64_t sum = 0;
            for (std::size_t rank = 0; rank < ranks; ++rank, ++next) {
                new_bin_[next->bin] = static_cast<std::uint32_t>(rank * slots_ + slot);
                sum += next->load;
            }
            levels_[slot] = sum / ranks + (sum % ranks != 0 ? 1U : 0U);
        }
        for (std::size_t item = 0; item < bin_of.size(); ++item) {
            bin_of[item] = new_bin_[bin_of[item]];
            auto& level = levels_[bin_of[item] % slots_];
            level = std::max(level, problem.weights[item]);
        }
        return slowest;
    }

    outcome start(wish_problem const& problem, std::span<std::uint32_t> bin_of) {
        static_cast<void>(group(problem, bin_of));
        bins_.reset(problem, bin_of);
        return now();
    }

    void fill(wish_problem const& problem, std::size_t ranks) {
        levels_.assign(slots_, 0);
        sums_.clear();
        own_.resize(problem.size());
        constexpr std::size_t rounds = 3;
        for (std::size_t round = 0; round < rounds; ++round) {
            own_levels_ = levels_;
            set_levels(problem.weights, problem.total, ranks, sums_, levels_);
            if (round > 0 && close(own_levels_, levels_)) {
                return;
            }
            set_capacities(problem.ranks());
            start_(problem, capacities_, held_, own_);
            sums_.assign(slots_, 0);
            for (std::size_t bin = 0; bin < held_.size(); ++bin) {
                sums_[bin % slots_] += std::min(held_[bin].load, capacities_[bin]);
            }
        }
    }

    /// Whether levels have changed by a thousandth at most.
    [[nodiscard]] static bool close(std::span<std::uint64_t const> a, std::span<std::uint64_t const> b) noexcept {
        for (std::size_t slot = 0; slot < a.size(); ++slot) {
            std::uint64_t const difference = std::max(a[slot], b[slot]) - std::min(a[slot], b[slot]);
            if (difference > a[slot] / 1024) {
                return false;
            }
        }
        return true;
    }

    void set_capacities(std::size_t bins) {
        most_.clear();
        for (auto const level : levels_) {
            most_.push_back(goal_of(level, tolerance_));
        }
        capacities_.resize(bins);
        for (std::size_t bin = 0; bin < bins; ++bin) {
            capacities_[bin] = most_[bin % slots_];
        }
    }

    void improve(std::uint64_t goal, outcome& best, std::span<std::uint32_t> bin_of, step_budget& steps) {
        constexpr std::size_t most_turns = 6;
        for (std::size_t turn = 0; turn < most_turns && best.sum > goal && !steps.exhausted(); ++turn) {
            set_capacities(bins_.ranks());
            step_budget part = steps.part(steps.left() / 2 + 1);
            bool const reached = level_(bins_, capacities_, turn, part);
            steps.give_back(part);
            auto const attempt = now();
            std::uint64_t const before = best.sum;
            if (attempt.violation < best.violation || (attempt.violation == best.violation && attempt.sum < best.sum)) {
                best = attempt;
                bins_.store(bin_of);
            }
            // What goes on in ever smaller steps is not worth the next.
            bool const slow = turn > 0 && before - best.sum <= before / 4096;
            if (reached || slow) {
                return;
            }
            for (std::size_t slot = 0; slot < slots_; ++slot) {
                if (slowest_[slot] > levels_[slot]) {
                    levels_[slot] += (slowest_[slot] - levels_[slot]) / 2;
                }
            }
        }
    }

    std::size_t slots_ = 1;
    double tolerance_ = 0;
    roomiest_first start_;
    roster bins_;
    meet_limits limits_;
    level_loads level_;
    std::vector<std::uint64_t> levels_;
    std::vector<std::uint64_t> own_levels_;
    std::vector<std::uint64_t> most_;
    std::vector<std::uint64_t> capacities_;
    std::vector<std::uint64_t> slowest_;
    std::vector<std::uint64_t> sums_;
    std::vector<holding> held_;
    std::vector<loaded_bin> order_;
    std::vector<std::uint32_t> new_bin_;
    std::vector<std::uint32_t> own_;
};

}  // namespace evenkeel::detail
