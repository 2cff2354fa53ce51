// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// Tries every placement of a few bundles that could break less, or break as little and be faster, than the best known.
///
/// As `complete_search`, with limits: what it ends with is the optimum, and if that breaks a limit, no plan meets them
/// all.
class wish_tree {
  public:
    static constexpr std::size_t most_bundles = 14;
    static constexpr std::size_t most_ranks = 64;

    /// @param best     The best known score, and its placement in `rank_of`; improved where possible.
    /// @param goal     A time at which to stop, if nothing is broken.
    /// @return         Whether everything was tried.
    bool operator()(wish_problem const& problem, std::uint64_t goal, wish_problem::score& best,
                    std::span<std::uint32_t> rank_of, step_budget& steps) {
        problem_ = &problem;
        goal_ = goal;
        best_ = &best;
        rank_of_ = rank_of;
        steps_ = &steps;
        std::ranges::copy(problem.base, held_.begin());
        left_ = {};
        for (std::size_t bundle = 0; bundle < problem.size(); ++bundle) {
            problem.add(left_, bundle);
        }
        return good_enough() || place(0) || !steps.exhausted();
    }

  private:
    [[nodiscard]] bool good_enough() const noexcept { return best_->violation == 0 && best_->busiest <= goal_; }

    /// Returns true when there is no need to go on.
    bool place(std::size_t bundle) {
        auto const& problem = *problem_;
        std::span<holding> const held{held_.data(), problem.ranks()};
        steps_->spend(2 * held.size());
        if (steps_->exhausted()) {
            return false;
        }
        if (bundle == problem.size()) {
            if (auto const reached = problem.score_of(held); reached < *best_) {
                *best_ = reached;
                std::copy_n(chosen_.begin(), bundle, rank_of_.begin());
            }
            return good_enough();
        }
        if (!promising(held)) {
            return false;
        }
        problem.remove(left_, bundle);
        bool stop = false;
        for (std::size_t rank = 0; rank < held.size() && !stop && !steps_->exhausted(); ++rank) {
            if (alike_before(held, rank)) {
                continue;
            }
            auto const before = held[rank];
            problem.add(held[rank], bundle);
            chosen_[bundle] = static_cast<std::uint32_t>(rank);
            stop = place(bundle + 1);
            held[rank] = before;
        }
        problem.add(left_, bundle);
        return stop;
    }

    /// What has been tried on a rank need not be tried on one that is like it.
    [[nodiscard]] bool alike_before(std::span<holding const> held, std::size_t rank) const noexcept {
        for (std::size_t other = 0; other < rank; ++other) {
            if (held[other].load == held[rank].load && held[other].quantity == held[rank].quantity &&
                held[other].count == held[rank].count && held[other].working == held[rank].working &&
                (problem_->speeds.empty() || problem_->speeds[other] == problem_->speeds[rank])) {
                return true;
            }
        }
        return false;
    }

    /// Whether what is left can still make a placement better than the best.
    [[nodiscard]] bool promising(std::span<holding const> held) const noexcept {
        auto const& limits = problem_->limits;
        std::uint64_t over = 0;
        std::uint64_t lacking = 0;
        std::uint64_t idle = 0;
        std::uint64_t busiest = 0;
        std::uint64_t homeless = left_.load;
        std::uint64_t quantity_room = 0;
        for (std::size_t rank = 0; rank < held.size(); ++rank) {
            auto const& own = held[rank];
            over += own.quantity - std::min(own.quantity, limits.quantity);
            over += own.count - std::min(own.count, limits.most_items);
            lacking += limits.least_items - std::min(own.count, limits.least_items);
            idle += own.working == 0 ? 1U : 0U;
            busiest = std::max(busiest, problem_->time(rank, own.load));
            if (best_->busiest > 0) {
                std::uint64_t const capacity = problem_->capacity(rank, best_->busiest - 1);
                homeless -= std::min(homeless, capacity - std::min(capacity, own.load));
            }
            std::uint64_t const room = limits.quantity - std::min(own.quantity, limits.quantity);
            quantity_room = room > rank_limits::none - quantity_room ? rank_limits::none : quantity_room + room;
        }
        over += left_.quantity - std::min(left_.quantity, quantity_room);
        over += lacking - std::min(lacking, left_.count);
        if (limits.nobody_idle) {
            std::uint64_t const at_best = idle - std::min(idle, left_.working);
            over += at_best - std::min(at_best, limits.idle_allowed);
        }
        return over < best_->violation || (over == best_->violation && homeless == 0 && busiest < best_->busiest);
    }

    wish_problem const* problem_ = nullptr;
    std::uint64_t goal_ = 0;
    wish_problem::score* best_ = nullptr;
    std::span<std::uint32_t> rank_of_;
    step_budget* steps_ = nullptr;
    std::array<holding, most_ranks> held_{};
    std::array<std::uint32_t, most_bundles> chosen_{};
    holding left_;
};

}  // namespace evenkeel::detail
