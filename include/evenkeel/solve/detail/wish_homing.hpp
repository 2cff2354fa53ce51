// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/bundle_homes.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// Brings bundles back to their nodes where that breaks no limit and makes no rank slower than the target: into room
/// that is left, or in exchange for a bundle that is there now and costs less to lose.
class wish_homing {
  public:
    void reserve(std::size_t bundles) { away_.reserve(bundles); }

    /// @param held  What each rank has; kept up.
    void operator()(wish_problem const& problem, bundle_homes const& homes, node_ranks const& ranks,
                    std::span<std::uint32_t const> node_of_rank, std::uint64_t target, std::span<std::uint32_t> rank_of,
                    std::span<holding> held, step_budget steps) {
        problem_ = &problem;
        homes_ = &homes;
        target_ = target;
        node_of_rank_ = node_of_rank;
        rank_of_ = rank_of;
        held_ = held;
        constexpr std::size_t most_sweeps = 4;
        bool improved = true;
        for (std::size_t sweep = 0; sweep < most_sweeps && improved && !steps.exhausted(); ++sweep) {
            improved = false;
            away_.clear();
            for (std::uint32_t bundle = 0; bundle < rank_of.size(); ++bundle) {
                if (homes.bytes[bundle] > 0 && is_away(bundle)) {
                    away_.push_back(bundle);
                }
            }
            std::sort(away_.begin(), away_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return homes.bytes[a] > homes.bytes[b] || (homes.bytes[a] == homes.bytes[b] && a < b);
            });
            for (std::size_t at = 0; at < away_.size() && !steps.exhausted(); ++at) {
                improved = (is_away(away_[at]) && bring_home(away_[at], ranks, steps)) || improved;
            }
        }
    }

  private:
    [[nodiscard]] std::uint32_t home_of(std::uint32_t bundle) const noexcept {
        return node_of_rank_[homes_->ranks[bundle]];
    }
    [[nodiscard]] bool is_away(std::uint32_t bundle) const noexcept {
        return node_of_rank_[rank_of_[bundle]] != home_of(bundle);
    }

    bool bring_home(std::uint32_t bundle, node_ranks const& ranks, step_budget& steps) {
        std::uint32_t const home = home_of(bundle);
        for (auto const rank : ranks[home]) {
            if (move(bundle, rank)) {
                return true;
            }
        }
        for (std::uint32_t other = 0; other < rank_of_.size(); ++other) {
            if (node_of_rank_[rank_of_[other]] == home && saves(bundle, other) && exchange(bundle, other)) {
                return true;
            }
        }
        steps.spend(rank_of_.size());
        return false;
    }

    /// Whether fewer bytes are away after an exchange.
    [[nodiscard]] bool saves(std::uint32_t bundle, std::uint32_t other) const noexcept {
        return home_of(other) != node_of_rank_[rank_of_[other]] || homes_->bytes[other] < homes_->bytes[bundle];
    }

    [[nodiscard]] bool allows(std::size_t rank, holding const& after) const noexcept {
        return problem_->limits.allow(held_[rank], after) &&
               after.load <= std::max(problem_->capacity(rank, target_), held_[rank].load);
    }

    bool move(std::uint32_t bundle, std::uint32_t to) {
        std::uint32_t const from = rank_of_[bundle];
        holding giver = held_[from];
        holding taker = held_[to];
        problem_->remove(giver, bundle);
        problem_->add(taker, bundle);
        return take_over(bundle, from, giver, to, taker);
    }

    bool exchange(std::uint32_t bundle, std::uint32_t other) {
        std::uint32_t const from = rank_of_[bundle];
        std::uint32_t const to = rank_of_[other];
        holding giver = held_[from];
        holding taker = held_[to];
        problem_->remove(giver, bundle);
        problem_->add(giver, other);
        problem_->remove(taker, other);
        problem_->add(taker, bundle);
        if (!take_over(bundle, from, giver, to, taker)) {
            return false;
        }
        rank_of_[other] = from;
        return true;
    }

    bool take_over(std::uint32_t bundle, std::uint32_t from, holding const& giver, std::uint32_t to,
                   holding const& taker) {
        if (!allows(from, giver) || !allows(to, taker)) {
            return false;
        }
        held_[from] = giver;
        held_[to] = taker;
        rank_of_[bundle] = to;
        return true;
    }

    wish_problem const* problem_ = nullptr;
    bundle_homes const* homes_ = nullptr;
    std::uint64_t target_ = 0;
    std::span<std::uint32_t const> node_of_rank_;
    std::span<std::uint32_t> rank_of_;
    std::span<holding> held_;
    std::vector<std::uint32_t> away_;
};

}  // namespace evenkeel::detail
