// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// What no plan that meets the wishes can beat: the largest of several bounds, each of which drops some of the wishes.
class wish_bounds {
  public:
    void reserve(std::size_t items) {
        lightest_.reserve(items + 1);
        order_.reserve(items);
    }

    /// The time of the slowest rank, in units of the fastest.
    [[nodiscard]] std::uint64_t operator()(wish_problem const& problem) {
        std::uint64_t bound = std::max(pinned_bound(problem), heaviest_bound(problem));
        bound = std::max(bound, division_bound(problem, bound));
        if (problem.limits.counts()) {
            bound = std::max(bound, count_bound(problem));
        }
        if (problem.limits.quantity != rank_limits::none) {
            bound = std::max(bound, quantity_bound(problem));
        }
        return bound;
    }

  private:
    __extension__ typedef unsigned __int128 product;

    [[nodiscard]] static std::uint64_t pinned_bound(wish_problem const& problem) {
        std::uint64_t bound = 0;
        for (std::size_t rank = 0; rank < problem.ranks(); ++rank) {
            bound = std::max(bound, problem.time(rank, problem.base[rank].load));
        }
        return bound;
    }

    /// Some rank takes the heaviest bundle on top of what is pinned there.
    [[nodiscard]] static std::uint64_t heaviest_bound(wish_problem const& problem) {
        if (problem.size() == 0) {
            return 0;
        }
        std::uint64_t bound = rank_limits::none;
        for (std::size_t rank = 0; rank < problem.ranks(); ++rank) {
            bound = std::min(bound, problem.time(rank, problem.base[rank].load + problem.weights.front()));
        }
        return bound;
    }

    /// The least time from `from` on in which the ranks together can do everything, if all could be cut into grains.
    [[nodiscard]] static std::uint64_t division_bound(wish_problem const& problem, std::uint64_t from) {
        auto const suffices = [&](std::uint64_t time) {
            std::uint64_t left = problem.total;
            for (std::size_t rank = 0; rank < problem.ranks() && left > 0; ++rank) {
                std::uint64_t const capacity = problem.capacity(rank, time);
                std::uint64_t const room = capacity - std::min(capacity, problem.base[rank].load);
                left -= std::min(left, room - room % problem.grain);
            }
            return left == 0;
        };
        std::uint64_t all = problem.total;
        product speed = 0;
        for (std::size_t rank = 0; rank < problem.ranks(); ++rank) {
            all += problem.base[rank].load;
            speed += problem.speeds.empty() ? 1 : problem.speeds[rank];
        }
        auto const mean = static_cast<std::uint64_t>((product{all} * problem.fastest + (speed - 1)) / speed);
        std::uint64_t low = std::max(from, mean);
        if (suffices(low)) {
            return low;
        }
        // Doubling steps, then halving: what is lacking is rounding, unless much is pinned to one rank.
        std::uint64_t step = 1;
        std::uint64_t high = low;
        while (!suffices(high)) {
            low = high;
            high = step > rank_limits::none - high ? rank_limits::none : high + step;
            step *= 2;
        }
        while (high - low > 1) {
            std::uint64_t const middle = low + (high - low) / 2;
            (suffices(middle) ? high : low) = middle;
        }
        return high;
    }

    /// A rank must take `least` items, as the others cannot take more than they may: the heaviest comes with the
    /// lightest.
    ///
    /// For the j heaviest bundles: two of them share a rank, or j ranks have one each, and one of these ranks has the
    /// mean of them at least. For j = 1 this is the heaviest and the lightest. The slowest rank takes `least`, too.
    [[nodiscard]] std::uint64_t count_bound(wish_problem const& problem) {
        auto const& limits = problem.limits;
        std::uint64_t least = limits.least_items;
        std::uint64_t others = 0;
        if (limits.most_items != rank_limits::none &&
            !__builtin_mul_overflow(limits.most_items, problem.ranks() - 1, &others) && others < problem.items) {
            least = std::max(least, problem.items - others);
        }
        if (least < 2 || !problem.single || problem.size() < problem.items) {
            return 0;  // what is pinned may be lighter than all the others
        }
        lightest_.assign(1, 0);
        for (std::size_t place = problem.size(); place-- > 0;) {
            lightest_.push_back(lightest_.back() + problem.weights[place]);
        }
        std::uint64_t bound = problem.weights.front() + lightest_[least - 1];
        if (!problem.speeds.empty()) {
            auto const slowest = std::ranges::min_element(problem.speeds) - problem.speeds.begin();
            return std::max(bound, problem.time(static_cast<std::size_t>(slowest), lightest_[least]));
        }
        std::uint64_t sum = problem.weights.front();
        for (std::size_t heavy = 2; heavy <= std::min(problem.ranks(), problem.size()); ++heavy) {
            sum += problem.weights[heavy - 1];
            std::uint64_t const shared = problem.weights[heavy - 2] + problem.weights[heavy - 1] + lightest_[least - 2];
            std::uint64_t const all = sum + lightest_[heavy * (least - 1)];
            bound = std::max(bound, std::min(shared, all / heavy + (all % heavy != 0 ? 1 : 0)));
        }
        return bound;
    }

    /// The same for the second quantity: the heaviest bundle's rank has to take what the others' caps leave over, at
    /// best by what weighs least for it.
    [[nodiscard]] std::uint64_t quantity_bound(wish_problem const& problem) {
        std::uint64_t others = 0;
        if (problem.size() == 0 || __builtin_mul_overflow(problem.limits.quantity, problem.ranks() - 1, &others) ||
            others >= problem.total_quantity || problem.size() < problem.items) {
            return 0;
        }
        std::uint64_t const least = problem.total_quantity - others;
        std::uint64_t left = least - std::min(least, problem.quantities.front());
        order_.clear();
        for (std::uint32_t bundle = 1; bundle < problem.size(); ++bundle) {
            if (problem.quantities[bundle] > 0) {
                order_.push_back(bundle);
            }
        }
        std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
            product const left_side = product{problem.weights[a]} * problem.quantities[b];
            product const right_side = product{problem.weights[b]} * problem.quantities[a];
            return left_side < right_side || (left_side == right_side && a < b);
        });
        std::uint64_t bound = problem.weights.front();
        for (auto const bundle : order_) {
            std::uint64_t const quantity = problem.quantities[bundle];
            if (left < quantity) {
                // A part of the bundle: rounded up, as loads are whole.
                return bound +
                       static_cast<std::uint64_t>((product{problem.weights[bundle]} * left + quantity - 1) / quantity);
            }
            left -= quantity;
            bound += problem.weights[bundle];
        }
        return bound;
    }

    std::vector<std::uint64_t> lightest_;
    std::vector<std::uint32_t> order_;
};

}  // namespace evenkeel::detail
