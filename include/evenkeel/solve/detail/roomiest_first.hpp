// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/room_tree.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// Longest first under limits: each bundle, the heaviest first, to the rank with most room left that may take it.
///
/// Room is what is left of a rank's capacity, so that ranks of different speed, or with something pinned to them, end up
/// equally full. Where no rank may take a bundle, or not one of the roomiest, it breaks a limit, for exchanges to mend.
class roomiest_first {
  public:
    void reserve(std::size_t ranks) {
        numbers_.reserve(ranks);
        tree_.reserve(ranks);
    }

    /// @param capacities  Of the ranks, for their loads.
    /// @param held        What ranks have: starts as what is pinned.
    /// @param rank_of     Filled with the rank of each bundle.
    void operator()(wish_problem const& problem, std::span<std::uint64_t const> capacities, std::vector<holding>& held,
                    std::span<std::uint32_t> rank_of) {
        held = problem.base;
        std::uint64_t const roomiest = *std::ranges::max_element(capacities);
        auto const number = [&](std::size_t rank) { return roomiest - capacities[rank] + held[rank].load; };
        numbers_.clear();
        std::uint64_t largest = 0;
        for (std::size_t rank = 0; rank < problem.ranks(); ++rank) {
            numbers_.push_back(number(rank));
            largest = std::max(largest, numbers_.back());
        }
        tree_.reset(numbers_, largest + problem.total);
        remainder_ = problem.limits.least_items == 0 ? rank_limits::none : problem.items % problem.ranks();
        for (auto const& own : held) {
            take_remainder(problem, own.count);
        }

        std::array<std::uint32_t, 32> passed_over;
        for (std::size_t bundle = 0; bundle < problem.size(); ++bundle) {
            std::size_t passed = 0;
            while (!tree_.empty() && passed < passed_over.size() && !may_take(problem, held, tree_.winner(), bundle)) {
                std::uint32_t const rank = tree_.winner();
                tree_.take_out(rank);
                if (!full(problem, held[rank].count)) {
                    passed_over[passed++] = rank;
                }
            }
            bool const found = !tree_.empty() && passed < passed_over.size();
            std::uint32_t const rank = found        ? tree_.winner()
                                       : passed > 0 ? passed_over[0]
                                                    : least_broken(problem, held, bundle);
            rank_of[bundle] = rank;
            std::uint64_t const before = held[rank].count;
            problem.add(held[rank], bundle);
            if (before <= problem.limits.least_items) {
                take_remainder(problem, held[rank].count);
            }
            if (found) {
                tree_.set(rank, number(rank));
            }
            for (std::size_t place = 0; place < passed; ++place) {
                tree_.set(passed_over[place], number(passed_over[place]));
            }
        }
    }

  private:
    /// Of equal counts, only so many ranks may have one more than the others.
    void take_remainder(wish_problem const& problem, std::uint64_t count) {
        if (remainder_ != rank_limits::none && remainder_ > 0 && count > problem.limits.least_items) {
            --remainder_;
        }
    }

    [[nodiscard]] std::uint64_t most(wish_problem const& problem) const noexcept {
        return remainder_ == 0 ? std::min(problem.limits.least_items, problem.limits.most_items)
                               : problem.limits.most_items;
    }

    [[nodiscard]] bool full(wish_problem const& problem, std::uint64_t count) const noexcept {
        return count >= most(problem);
    }

    [[nodiscard]] bool may_take(wish_problem const& problem, std::span<holding const> held, std::size_t rank,
                                std::size_t bundle) const noexcept {
        auto const& own = held[rank];
        auto const& limits = problem.limits;
        return own.count + problem.counts[bundle] <= most(problem) && problem.quantities[bundle] <= limits.quantity &&
               own.quantity <= limits.quantity - problem.quantities[bundle];
    }

    [[nodiscard]] static std::uint32_t least_broken(wish_problem const& problem, std::span<holding const> held,
                                                    std::size_t bundle) {
        std::uint32_t best = 0;
        std::uint64_t least = rank_limits::none;
        for (std::uint32_t rank = 0; rank < problem.ranks(); ++rank) {
            auto after = held[rank];
            problem.add(after, bundle);
            if (auto const broken = problem.limits.violation(after); broken < least) {
                least = broken;
                best = rank;
            }
        }
        return best;
    }

    std::vector<std::uint64_t> numbers_;
    room_tree tree_;
    std::uint64_t remainder_ = 0;
};

}  // namespace evenkeel::detail
