// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/longest_first.hpp>
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
        longest_.reserve(ranks);
    }

    /// @param capacities  Of the ranks, for their loads.
    /// @param held        What ranks have: starts as what is pinned.
    /// @param rank_of     Filled with the rank of each bundle.
    void operator()(wish_problem const& problem, std::span<std::uint64_t const> capacities, std::vector<holding>& held,
                    std::span<std::uint32_t> rank_of) {
        held = problem.base;
        remainder_ = problem.limits.least_items == 0 ? rank_limits::none : problem.items % problem.ranks();
        for (auto const& own : held) {
            take_remainder(problem, own.count);
        }
        std::size_t const weighing = counting_alone(problem);
        std::size_t const begun = begin_without_limits(problem, capacities, weighing, held, rank_of);

        std::uint64_t const roomiest = *std::ranges::max_element(capacities);
        auto const number = [&](std::size_t rank) { return roomiest - capacities[rank] + held[rank].load; };
        numbers_.clear();
        std::uint64_t largest = 0;
        for (std::size_t rank = 0; rank < problem.ranks(); ++rank) {
            numbers_.push_back(number(rank));
            largest = std::max(largest, numbers_.back());
        }
        tree_.reset(numbers_, largest + problem.total);
        parked_.clear();
        for (std::size_t bundle = begun; bundle < weighing; ++bundle) {
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
        deal_out(problem, weighing, held, rank_of);
    }

  private:
    /// So many bundles per rank are worth a start without limits.
    static constexpr std::size_t fewest_to_begin = 4;

    /// Of ranks that a group would give too many items: after so many, it does.
    static constexpr std::size_t most_passed_over = 64;

    struct parked_rank {
        std::uint64_t room;
        std::uint32_t rank;
    };

    /// Where ranks are alike, limits do not matter until the first one is met: up to there, longest first is quicker.
    ///
    /// @return  How many bundles are placed.
    std::size_t begin_without_limits(wish_problem const& problem, std::span<std::uint64_t const> capacities,
                                     std::size_t weighing, std::span<holding> held, std::span<std::uint32_t> rank_of) {
        bool const alike = std::ranges::all_of(capacities, [&](auto one) { return one == capacities.front(); }) &&
                           std::ranges::all_of(held, [](auto const& own) { return own == holding{}; });
        if (!alike || weighing < fewest_to_begin * problem.ranks()) {
            return 0;
        }
        // A cap that binds is met about halfway.
        std::size_t const most = problem.limits.quantity == rank_limits::none ? weighing : weighing / 2;
        auto const weights = std::span{problem.weights}.first(most);
        longest_(weights, problem.total, problem.ranks(), rank_of.first(most));
        std::size_t bundle = 0;
        for (; bundle < most && may_take(problem, held, rank_of[bundle], bundle); ++bundle) {
            auto& own = held[rank_of[bundle]];
            problem.add(own, bundle);
            if (own.count <= problem.limits.least_items + 1) {
                take_remainder(problem, own.count);
            }
        }
        return bundle;
    }

    /// The first of the bundles, if any, that are items without weight or a quantity that matters: all they do is
    /// count.
    [[nodiscard]] static std::size_t counting_alone(wish_problem const& problem) {
        if (!problem.single || problem.limits.quantity != rank_limits::none) {
            return problem.size();
        }
        auto const first = std::ranges::lower_bound(problem.weights, 0U, std::ranges::greater{});
        return static_cast<std::size_t>(first - problem.weights.begin());
    }

    /// Fills rank after rank up with the bundles from `first` on.
    void deal_out(wish_problem const& problem, std::size_t first, std::span<holding> held,
                  std::span<std::uint32_t> rank_of) {
        std::uint32_t rank = 0;
        for (std::size_t bundle = first; bundle < problem.size(); ++bundle) {
            while (rank < problem.ranks() && full(problem, held[rank].count)) {
                ++rank;
            }
            rank_of[bundle] = rank < problem.ranks() ? rank : least_broken(problem, held, bundle);
            if (++held[rank_of[bundle]].count <= problem.limits.least_items + 1) {
                take_remainder(problem, held[rank_of[bundle]].count);
            }
        }
    }

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
    longest_first longest_;
    std::uint64_t remainder_ = 0;
};

}  // namespace evenkeel::detail
