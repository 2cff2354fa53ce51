// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/room_tree.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// Longest first under limits: each bundle, the heaviest first, to the rank with most room left that may take it.
///
/// Room is what is left of a rank's capacity, so that ranks of different speed, or with something pinned to them, end
/// up equally full. Where no rank may take a bundle, it breaks a limit, for exchanges to mend.
class roomiest_first {
  public:
    void reserve(std::size_t ranks) {
        numbers_.reserve(ranks);
        parked_.reserve(ranks);
        passed_over_.reserve(most_passed_over);
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

        parked_.clear();
        for (std::size_t bundle = 0; bundle < problem.size(); ++bundle) {
            unpark(problem.quantities[bundle], number);
            passed_over_.clear();
            while (!tree_.empty() && passed_over_.size() < most_passed_over &&
                   !may_take(problem, held, tree_.winner(), bundle)) {
                std::uint32_t const rank = tree_.winner();
                tree_.take_out(rank);
                if (full(problem, held[rank].count)) {
                    continue;
                }
                std::uint64_t const room = limits_room(problem, held[rank]);
                if (room < problem.quantities[bundle]) {
                    parked_.push_back({room, rank});
                    std::ranges::push_heap(parked_, less_room);
                } else {
                    passed_over_.push_back(rank);
                }
            }
            bool const found = !tree_.empty();
            std::uint32_t const rank = found ? tree_.winner() : least_broken(problem, held, bundle);
            rank_of[bundle] = rank;
            std::uint64_t const before = held[rank].count;
            problem.add(held[rank], bundle);
            if (before <= problem.limits.least_items) {
                take_remainder(problem, held[rank].count);
            }
            if (found) {
                tree_.set(rank, number(rank));
            }
            for (auto const other : passed_over_) {
                tree_.set(other, number(other));
            }
        }
    }

  private:
    /// Of ranks that a group would give too many items: after so many, it does.
    static constexpr std::size_t most_passed_over = 64;

    struct parked_rank {
        std::uint64_t room;
        std::uint32_t rank;
    };

    [[nodiscard]] static bool less_room(parked_rank const& a, parked_rank const& b) noexcept {
        return a.room < b.room || (a.room == b.room && a.rank > b.rank);
    }

    [[nodiscard]] static std::uint64_t limits_room(wish_problem const& problem, holding const& of) noexcept {
        return problem.limits.quantity - std::min(problem.limits.quantity, of.quantity);
    }

    /// Lets those play again that were taken out for a larger quantity.
    template <class Number>
    void unpark(std::uint64_t quantity, Number number) {
        while (!parked_.empty() && parked_.front().room >= quantity) {
            std::uint32_t const rank = parked_.front().rank;
            std::ranges::pop_heap(parked_, less_room);
            parked_.pop_back();
            tree_.set(rank, number(rank));
        }
    }

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
    std::vector<parked_rank> parked_;
    std::vector<std::uint32_t> passed_over_;
    room_tree tree_;
    std::uint64_t remainder_ = 0;
};

}  // namespace evenkeel::detail
