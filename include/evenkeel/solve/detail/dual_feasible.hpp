// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Proves that loads cannot all be at most some capacity, by dual feasible functions: for few items per rank, or few
/// sizes.
///
///     6 6 6 4 4 on three ranks weigh 26, so 9 each; but no rank of 9 holds two of these five
///
/// A function f is dual feasible for a capacity C if weights that are C together at most have values that are F
/// together at most. If the values of all items are more than ranks * F, some rank has more than C. Three families are
/// tried, each with a number of limits l: the first counts what is lighter than l for nothing and what leaves less than
/// l free as C (S. Martello and P. Toth 1990); the second counts in steps of l (J. Carlier, F. Clautiaux and A. Moukrim
/// 2007); the third does so, too, and counts in part what a weight has beyond whole steps, as far as it is more than C
/// has (C. A. Burdett and E. L. Johnson 1977). Steps are also tried at which C is one more of them than before: images
/// are so many patches high and wide, so most sizes have a divisor in common that a few others hide from the greatest
/// one of all. What these few can make of the room beyond whole steps, the third family knows best. Where the square
/// of the length counts as well, such steps are a bit more than that divisor weighs: they are sought as whole parts of
/// the two most frequent weights.
class dual_feasible {
  public:
    void reserve(std::size_t items) {
        classes_.reserve(items);
        rules_.reserve(2 * items);
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
        if (classes_.size() > few_classes && weights.size() > 10 * ranks) {
            return bound;
        }
        while (bound < best && !steps.exhausted()) {
            auto const found = find(bound, ranks, steps);
            if (!found) {
                break;
            }
            ++bound;
            // What refutes one capacity refutes larger ones as well, as a rule.
            std::uint64_t step = 1;
            while (step > 0 && bound < best) {
                steps.spend(classes_.size());
                std::uint64_t const capacity = bound + std::min(step, best - bound) - 1;
                bool const refuted = refutes(*found, capacity, ranks);
                bound = refuted ? capacity + 1 : bound;
                step = refuted ? 2 * step : step / 4;
            }
        }
        return bound;
    }

  private:
    static constexpr std::size_t few_classes = 64;
    static constexpr std::size_t most_rules = 200;
    static constexpr std::size_t most_values = std::size_t{1} << 14;
    static constexpr std::uint64_t most_parts = 64;

    struct size_class {
        std::uint64_t weight;
        std::uint64_t count;
    };

    /// How a limit follows from the capacity.
    struct rule {
        enum class kind { weight, rest, steps } is;
        std::uint64_t value;

        /// The weight itself, the least that leaves less than the weight free, or the shortest steps of which no more
        /// than so many fit.
        [[nodiscard]] std::uint64_t limit(std::uint64_t capacity) const noexcept {
            switch (is) {
                case kind::weight: return value;
                case kind::rest: return capacity - value + 1;
                case kind::steps: break;
            }
            return capacity / (value + 1) + 1;
        }
    };

    enum class family { cut_off, in_steps, in_parts };

    struct function {
        family of;
        rule by;
    };

    /// A function that refutes the capacity, if there is one.
    [[nodiscard]] std::optional<function> find(std::uint64_t capacity, std::size_t ranks, step_budget& steps) {
        rules_.clear();
        for (auto const& [weight, count] : classes_) {
            if (2 * weight <= capacity) {
                rules_.push_back({rule::kind::weight, weight});
            }
            if (weight <= capacity && 2 * (capacity - weight + 1) <= capacity) {
                rules_.push_back({rule::kind::rest, weight});
            }
        }
        std::size_t const tried = std::min(rules_.size(), most_rules);
        for (std::size_t index = 0; index < tried; ++index) {
            auto const by = rules_[index * rules_.size() / tried];
            for (auto const of : {family::cut_off, family::in_steps}) {
                if (refutes({of, by}, capacity, ranks)) {
                    return function{of, by};
                }
            }
            steps.spend(classes_.size());
        }
        std::uint64_t const most = std::min<std::uint64_t>(capacity, most_values / classes_.size());
        // For weights up to half the capacity, parts count as much as steps at least.
        auto const of = 2 * classes_.front().weight > capacity ? family::in_steps : family::in_parts;
        for (std::uint64_t count = 2; count <= most; ++count) {
            function const in_steps{of, {rule::kind::steps, count}};
            if (refutes(in_steps, capacity, ranks)) {
                return in_steps;
            }
            steps.spend(classes_.size() / 2 + 1);
        }
        for (auto const weight : most_frequent()) {
            for (std::uint64_t parts = 1; parts <= std::min({weight, most, most_parts}); ++parts) {
                function const in_parts{family::in_parts, {rule::kind::weight, weight / parts}};
                if (refutes(in_parts, capacity, ranks)) {
                    return in_parts;
                }
            }
            steps.spend(std::min(most, most_parts) * classes_.size() / 2);
        }
        return std::nullopt;
    }

    /// The weights that most items have, the first of several; one twice if there is no other.
    [[nodiscard]] std::array<std::uint64_t, 2> most_frequent() const noexcept {
        auto most = classes_.front();
        auto next = most;
        for (auto const& some : std::span{classes_}.subspan(1)) {
            if (some.count > most.count) {
                next = std::exchange(most, some);
            } else if (some.count > next.count || next.weight == most.weight) {
                next = some;
            }
        }
        return {most.weight, next.weight};
    }

    [[nodiscard]] bool refutes(function const& f, std::uint64_t capacity, std::size_t ranks) const noexcept {
        std::uint64_t const limit = f.by.limit(capacity);
        switch (f.of) {
            case family::cut_off: return cut_off(capacity, limit) > capacity * ranks;
            case family::in_steps: return in_steps(capacity, limit) > 2 * (capacity / limit) * ranks;
            case family::in_parts: break;
        }
        return in_parts(capacity, limit) > capacity / limit * (limit - capacity % limit) * ranks;
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

    /// In parts of a step.
    [[nodiscard]] std::uint64_t in_parts(std::uint64_t capacity, std::uint64_t limit) const noexcept {
        std::uint64_t const beyond = capacity % limit;
        std::uint64_t const step = limit - beyond;
        std::uint64_t sum = 0;
        for (auto const& [weight, count] : classes_) {
            std::uint64_t const rest = weight % limit;
            sum += count * (weight / limit * step + rest - std::min(rest, beyond));
        }
        return sum;
    }

    std::vector<size_class> classes_;  ///< heaviest first
    std::vector<rule> rules_;
};

}  // namespace evenkeel::detail
