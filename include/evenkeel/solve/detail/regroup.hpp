// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/solve/detail/light_items.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/subset_sums.hpp>

namespace evenkeel::detail {

/// Shares the items of three ranks out anew so that none of the three is above a target load.
///
///     9 4 | 8 7 | 6 3 2 with a target of 13: 9 4 | 8 3 2 | 7 6
///
/// Three ranks that are fixed together pool their room: with four items each there are some 5,800 ways to share, where
/// two ranks have 35. What the first rank gets is found by meeting in the middle (E. Horowitz and S. Sahni 1974): every
/// subset whose sum leaves no more than two targets for the others, and for each of those, in the same way, what the
/// second one gets. Of more than 18 items only six light ones of each rank take part.
class regroup {
  public:
    /// @return  Whether it did; if not, the placement is as it was.
    bool operator()(placement& loads, std::array<std::uint32_t, 3> const& ranks, std::uint64_t target,
                    step_budget& steps) {
        steps.spend(4);
        if (!has_room(loads, ranks, target) || !gather(loads, ranks, target)) {
            return false;
        }
        if (!share(0, (std::uint32_t{1} << size_) - 1, target, steps)) {
            return false;
        }
        for (std::size_t part = 0; part < 3; ++part) {
            for (auto const position : free_[part].positions()) {
                loads.remove(ranks[part], position);
            }
        }
        for (std::size_t part = 0; part < 3; ++part) {
            for (std::uint32_t left = parts_[part]; left != 0; left &= left - 1) {
                auto const& [number, weight] = items_[static_cast<std::size_t>(std::countr_zero(left))];
                loads.insert(ranks[part], number, weight);
            }
        }
        return true;
    }

  private:
    static constexpr std::size_t most_items = 18;
    static constexpr std::size_t most_hits = 32;

    struct item {
        std::uint32_t number;
        std::uint64_t weight;
    };

    /// Whether the excess of some fits into the room of the others.
    [[nodiscard]] static bool has_room(placement const& loads, std::array<std::uint32_t, 3> const& ranks,
                                       std::uint64_t target) noexcept {
        std::uint64_t excess = 0;
        for (auto const rank : ranks) {
            excess += loads.load(rank) - std::min(target, loads.load(rank));
        }
        for (auto const rank : ranks) {
            excess -= std::min(excess, target - std::min(target, loads.load(rank)));
        }
        return excess == 0;
    }

    /// Collects the items that take part, heaviest first, and what each rank keeps in any case.
    [[nodiscard]] bool gather(placement const& loads, std::array<std::uint32_t, 3> const& ranks, std::uint64_t target) {
        std::size_t all = 0;
        for (auto const rank : ranks) {
            all += loads.items(rank).size();
        }
        size_ = 0;
        for (std::size_t part = 0; part < 3; ++part) {
            auto const weights = loads.weights(ranks[part]);
            auto const numbers = loads.items(ranks[part]);
            if (all <= most_items) {
                free_[part].choose(weights, most_items, light_items::any_number);
            } else {
                free_[part].choose(weights, most_items / 3, 2);
            }
            kept_[part] = loads.load(ranks[part]);
            for (auto const position : free_[part].positions()) {
                items_[size_++] = {numbers[position], weights[position]};
                kept_[part] -= weights[position];
            }
            if (kept_[part] > target) {
                return false;
            }
        }
        std::ranges::sort(std::span{items_}.first(size_), {}, &item::number);
        return true;
    }

    /// Finds what `part` and those after it get of the items `left`, a set of positions in `items_`.
    [[nodiscard]] bool share(std::size_t part, std::uint32_t left, std::uint64_t target, step_budget& steps) {
        std::uint64_t const sum = sum_of(left);
        if (part == 2) {
            parts_[2] = left;
            return sum <= target - kept_[2];
        }
        // This part takes at most its room, and at least what the room of the others leaves over.
        std::uint64_t at_most = target - kept_[part];
        std::uint64_t at_least = sum;
        bool alike = true;
        for (std::size_t other = part + 1; other < 3; ++other) {
            at_least -= std::min(at_least, target - kept_[other]);
            alike = alike && kept_[other] == kept_[part];
        }
        // Ranks that keep the same can change places, so the heaviest item may as well be here.
        std::uint32_t const fixed = alike ? left & (~left + 1) : 0;
        std::uint64_t const fixed_sum = sum_of(fixed);
        at_least -= std::min(at_least, fixed_sum);
        if (fixed_sum > at_most || at_least > at_most - fixed_sum) {
            return false;
        }
        at_most -= fixed_sum;

        half lower;
        half upper;
        for (std::uint32_t rest = left & ~fixed; rest != 0; rest &= rest - 1) {
            auto const position = static_cast<std::size_t>(std::countr_zero(rest));
            (lower.size <= upper.size ? lower : upper).add(position, items_[position].weight);
        }
        auto& [a, b] = sums_[part];
        a.assign(std::span{lower.weights}.first(lower.size));
        b.assign(std::span{upper.weights}.first(upper.size));
        steps.spend(2 * (a.size() + b.size()));

        // As the sum from `a` rises, the window of sums from `b` that go with it falls.
        std::size_t first = b.size();
        std::size_t last = b.size();
        std::size_t hits = 0;
        for (std::size_t i = 0; i < a.size() && a.sum(i) <= at_most; ++i) {
            while (last > 0 && b.sum(last - 1) > at_most - a.sum(i)) {
                --last;
            }
            while (first > 0 && b.sum(first - 1) + a.sum(i) >= at_least) {
                --first;
            }
            for (std::size_t j = last; j > first; --j) {
                parts_[part] = fixed | lower.positions_of(a.subset(i)) | upper.positions_of(b.subset(j - 1));
                if (share(part + 1, left & ~parts_[part], target, steps)) {
                    return true;
                }
                if (++hits == most_hits || steps.exhausted()) {
                    return false;
                }
            }
        }
        return false;
    }

    [[nodiscard]] std::uint64_t sum_of(std::uint32_t positions) const noexcept {
        std::uint64_t sum = 0;
        for (; positions != 0; positions &= positions - 1) {
            sum += items_[static_cast<std::size_t>(std::countr_zero(positions))].weight;
        }
        return sum;
    }

    /// Half of the items that are left: their weights, and where they are in `items_`.
    struct half {
        std::array<std::uint64_t, most_items / 2> weights;
        std::array<std::uint32_t, most_items / 2> bits;
        std::size_t size = 0;

        void add(std::size_t position, std::uint64_t weight) noexcept {
            weights[size] = weight;
            bits[size++] = std::uint32_t{1} << position;
        }

        [[nodiscard]] std::uint32_t positions_of(std::uint32_t subset) const noexcept {
            std::uint32_t result = 0;
            for (; subset != 0; subset &= subset - 1) {
                result |= bits[static_cast<std::size_t>(std::countr_zero(subset))];
            }
            return result;
        }
    };

    struct two_halves {
        subset_sums a;
        subset_sums b;
    };

    std::array<item, most_items> items_;
    std::size_t size_ = 0;
    std::array<light_items, 3> free_;      ///< the items of each rank that take part
    std::array<std::uint64_t, 3> kept_{};  ///< the load that each rank keeps
    std::array<std::uint32_t, 3> parts_{};
    std::array<two_halves, 2> sums_;
};

}  // namespace evenkeel::detail
