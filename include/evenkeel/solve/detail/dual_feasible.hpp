// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Proves that loads cannot all be at most some capacity, by dual feasible functions: for few items per rank.
///
///     6 6 6 4 4 on three ranks weigh 26, so 9 each; but no rank of 9 holds two of these five
///
/// A function f is dual feasible for a capacity C if weights that are C together at most have values that are F
/// together at most. If the values of all items are more than ranks * F, some rank has more than C. Two families are
/// tried, each with a number of limits l: the one counts what is lighter than l for nothing and what leaves less than l
/// free as C (S. Martello and P. Toth 1990), the other counts in steps of l (J. Carlier, F. Clautiaux and A. Moukrim
/// 2007).
class dual_feasible {
  public:
    void reserve(std::size_t items) {
        classes_.reserve(items);
        limits_.reserve(2 * items);
    }

    /// The largest bound that the functions prove between `bound`, which is returned otherwise, and `best`.
    ///
    /// @param weights  In falling order; a rank has some load of `best`.
    [[nodiscard]] std::uint64_t operator()(std::span<std::uint64_t const> weights, std::size_t ranks,
                                           std::uint64_t bound, std::uint64_t best, step_budget& steps) {
        // The values of all items must not wrap.
        if (best <= bound || std::bit_width(2 * best) + std::bit_width(std::max(weights.size(), ranks)) > 63) {
            return bound;
        }
        classes_.clear();
        for (auto const weight : weights) {
            if (classes_.empty() || classes_.back().weight != weight) {
                classes_.push_back({weight, 0});
            }
            ++classes_.back().count;
        }
        std::uint64_t step = 1;
        // Most often nothing is refuted, so that this is all; and what is refuted is close to the bound.
        while (bound < best && !steps.exhausted()) {
            std::uint64_t const capacity = bound + std::min(step, best - bound) - 1;
            if (refuted(capacity, ranks, steps)) {
                bound = capacity + 1;
                step *= 2;
            } else if (step == 1) {
                break;
            } else {
                step = std::max<std::uint64_t>(1, step / 4);
            }
        }
        return bound;
    }

  private:
    static constexpr std::size_t most_limits = 200;

    struct size_class {
        std::uint64_t weight;
        std::uint64_t count;
    };

    [[nodiscard]] bool refuted(std::uint64_t capacity, std::size_t ranks, step_budget& steps) {
        limits_.clear();
        for (auto const& [weight, count] : classes_) {
            if (2 * weight <= capacity) {
                limits_.push_back(weight);
            }
            if (weight <= capacity && 2 * (capacity - weight + 1) <= capacity) {
                limits_.push_back(capacity - weight + 1);
            }
        }
        std::size_t const tried = std::min(limits_.size(), most_limits);
        for (std::size_t index = 0; index < tried; ++index) {
            steps.spend(classes_.size());
            std::uint64_t const limit = limits_[index * limits_.size() / tried];
            if (cut_off(capacity, limit) > capacity * ranks ||
                in_steps(capacity, limit) > 2 * (capacity / limit) * ranks) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::uint64_t cut_off(std::uint64_t capacity, std::uint64_t limit) const noexcept {
        std::uint64_t sum = 0;
        for (auto const& [weight, count] : classes_) {
            if (weight < limit) {
                break;
            }
            sum += count * (weight > capacity - limit ? capacity : weight);
        }
        return sum;
    }

    [[nodiscard]] std::uint64_t in_steps(std::uint64_t capacity, std::uint64_t limit) const noexcept {
        std::uint64_t const all = capacity / limit;
        std::uint64_t sum = 0;
        for (auto const& [weight, count] : classes_) {
            if (weight < limit) {
                break;
            }
            if (2 * weight > capacity) {
                sum += count * 2 * (all - (capacity - std::min(weight, capacity)) / limit);
            } else {
                sum += count * (2 * weight == capacity ? all : 2 * (weight / limit));
            }
        }
        return sum;
    }

    std::vector<size_class> classes_;  ///< heaviest first
    std::vector<std::uint64_t> limits_;
};

}  // namespace evenkeel::detail
