// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// What the sum of the slowest ranks over the micro-batches cannot fall below.
class slot_bound {
  public:
    void reserve(std::size_t items) { order_.reserve(items); }

    /// Consider the micro-batches by their slowest ranks, the slowest first. With items that take more than half the
    /// cap, of which a rank's micro-batch has one at most, the slowest of the i-th has the ((i - 1) * ranks + 1)-th
    /// heaviest of them at least; the first has the heaviest item of all. For each j, the first j micro-batches take on
    /// no more than what weighs most for its tokens within j * ranks caps, and the others share the rest.
    ///
    /// @param problem  Its quantities are tokens; its limit on them is the cap. Weights in falling order.
    /// @param from     What is known already.
    [[nodiscard]] std::uint64_t operator()(wish_problem const& problem, std::size_t ranks, std::size_t slots,
                                           std::uint64_t from) {
        std::uint64_t bound = from;
        if (problem.size() == 0) {
            return bound;
        }
        std::uint64_t const cap = problem.limits.quantity;
        sort_by_density(problem);
        std::uint64_t slowest = problem.weights.front();
        std::size_t next_large = 0;  // items up to here have been looked at,
        std::size_t large = 0;       // and so many of them take more than half the cap
        std::size_t next = 0;        // items up to here, by density, fit into the first micro-batches
        std::uint64_t taken = 0;
        std::uint64_t room = 0;
        for (std::size_t slot = 1; slot <= slots; ++slot) {
            std::uint64_t more = 0;
            bool const endless = __builtin_mul_overflow(cap, ranks, &more) || __builtin_add_overflow(room, more, &room);
            room = endless ? rank_limits::none : room;
            while (next < order_.size() && problem.quantities[order_[next]] <= room) {
                room -= problem.quantities[order_[next]];
                taken += problem.weights[order_[next++]];
            }
            std::uint64_t const most = taken + (next < order_.size() ? part(problem, order_[next], room) : 0);
            std::uint64_t const rest = problem.total - std::min(problem.total, most);
            bound = std::max(bound, slowest + rest / ranks + (rest % ranks != 0 ? 1 : 0));
            for (; next_large < problem.size() && large <= slot * ranks; ++next_large) {
                std::uint64_t const tokens = problem.quantities[next_large];
                large += tokens > cap / 2 ? 1U : 0U;
                if (large == slot * ranks + 1) {
                    slowest += problem.weights[next_large];
                }
            }
            if (large <= slot * ranks && rest == 0) {
                break;
            }
        }
        return bound;
    }

  private:
    __extension__ typedef unsigned __int128 product;

    void sort_by_density(wish_problem const& problem) {
        order_.clear();
        for (std::uint32_t item = 0; item < problem.size() && problem.weights[item] > 0; ++item) {
            order_.push_back(item);
        }
        auto const denser = [&](std::uint32_t a, std::uint32_t b) {
            product const left = product{problem.weights[a]} * problem.quantities[b];
            product const right = product{problem.weights[b]} * problem.quantities[a];
            return left > right || (left == right && a < b);
        };
        // Attention makes the heaviest the densest.
        if (!std::ranges::is_sorted(order_, denser)) {
            std::ranges::sort(order_, denser);
        }
    }

    /// What the part of an item weighs that fits into `room`, rounded up.
    [[nodiscard]] static std::uint64_t part(wish_problem const& problem, std::size_t item, std::uint64_t room) {
        std::uint64_t const tokens = problem.quantities[item];
        return static_cast<std::uint64_t>((product{problem.weights[item]} * room + tokens - 1) / tokens);
    }

    std::vector<std::uint32_t> order_;
};

}  // namespace evenkeel::detail
