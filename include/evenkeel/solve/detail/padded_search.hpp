// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <evenkeel/solve/detail/padded_reach.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/options.hpp>

namespace evenkeel::detail {

/// What is known of the least load of the busiest rank when batches are padded.
struct padded_bracket {
    std::uint64_t bound = 0;  ///< no plan is below
    std::uint64_t load = 0;   ///< a plan has this
};

/// A load that no partition of padded batches is below: the mean, the heaviest item, and some rank's share of the
/// heaviest items, of which k + 1 are on one rank where there are more than k for each.
[[nodiscard]] inline std::uint64_t padded_bound(std::span<std::uint64_t const> weights, std::uint64_t total,
                                                std::size_t ranks) {
    std::uint64_t bound = std::max(total / ranks + (total % ranks != 0 ? 1 : 0), weights.front());
    std::uint64_t count = 2;
    for (std::size_t last = ranks; last < weights.size(); last += ranks, ++count) {
        std::uint64_t load = 0;
        if (__builtin_mul_overflow(count, weights[last + 1 - count], &load)) {
            return std::numeric_limits<std::uint64_t>::max();
        }
        bound = std::max(bound, load);
    }
    return bound;
}

/// The least load of the busiest rank, between bounds that close in on it.
///
/// A bound that suffices gives way to the largest load under it, one that does not to the first under which anything
/// changes, so the last two meet exactly. Four bounds are checked at a time. How many batches a bound takes tells where
/// the optimum should be; where a guess fails, the interval is cut in equal parts.
class padded_search {
  public:
    padded_search(std::span<std::uint64_t const> weights, std::size_t ranks) : weights_{weights}, ranks_{ranks} {}

    /// @return  Nothing if the load of every plan exceeds 64 bits.
    std::optional<padded_bracket> operator()(std::uint64_t total, double tolerance, step_budget steps) {
        constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        low_ = padded_bound(weights_, total, ranks_);
        std::uint64_t const per_rank = weights_.size() / ranks_ + (weights_.size() % ranks_ != 0 ? 1 : 0);
        if (__builtin_mul_overflow(per_rank, weights_.front(), &high_)) {
            auto const last = check_padded<1>(weights_, ranks_, {most}).front();
            if (!last.feasible) {
                return std::nullopt;
            }
            high_ = last.reach.largest;
        }
        bool met = true;
        for (std::size_t round = 0; high_ > goal_of(low_, tolerance) && (round == 0 || !steps.exhausted()); ++round) {
            std::uint64_t const width = high_ - low_;
            check(round == 0 ? first_bounds() : met || !enough_ ? likely_bounds() : even_bounds());
            met = !met || high_ - low_ <= width / 5;
            steps.spend(ranks_);
        }
        return padded_bracket{.bound = low_, .load = high_};
    }

  private:
    using four_bounds = std::array<std::uint64_t, 4>;

    /// A bound that was checked, and by how many ranks it was off, in 256ths.
    struct probe {
        std::uint64_t bound = 0;
        std::uint64_t distance = 0;
    };

    void check(four_bounds const& bounds) {
        for (auto const& check : check_padded(weights_, ranks_, bounds)) {
            std::uint64_t const bound = check.reach.bound;
            if (check.feasible) {
                if (!enough_ || bound < enough_->bound) {
                    enough_ = probe{bound, static_cast<std::uint64_t>(-check.excess)};
                }
                high_ = std::min(high_, check.reach.largest);
            } else {
                if (bound > short_.bound) {
                    short_ = probe{bound, static_cast<std::uint64_t>(std::max<std::int64_t>(check.excess, 1))};
                }
                low_ = std::max(low_, check.reach.next);
            }
        }
    }

    /// The lower bound and what is a little above it: padding mostly costs some percent.
    [[nodiscard]] four_bounds first_bounds() const noexcept {
        return {low_, above(low_ / 64), above(low_ / 24), above(low_ / 12)};
    }

    [[nodiscard]] four_bounds even_bounds() const noexcept {
        std::uint64_t const part = std::max<std::uint64_t>((high_ - low_) / 5, 1);
        return {above(part - 1), above(2 * part - 1), above(3 * part - 1), above(4 * part - 1)};
    }

    /// Around where ranks suffice if their number goes with the reciprocal of the bound, or, as soon as bounds on both
    /// sides are known, along a straight line between these; then halfway from there to both sides.
    [[nodiscard]] four_bounds likely_bounds() const noexcept {
        std::uint64_t const start = short_.bound;
        std::uint64_t const behind = low_ - start;
        if (!enough_) {
            std::uint64_t const more = part_of(start, short_.distance, 256 * std::uint64_t{ranks_});
            std::uint64_t const guess = more - std::min(more, behind);
            return {above(guess - guess / 4), above(guess), above(guess + guess / 4), above(2 * guess + 1)};
        }
        std::uint64_t const offset =
            part_of(enough_->bound - start, short_.distance, short_.distance + enough_->distance);
        std::uint64_t const width = high_ - low_;
        std::uint64_t const guess = std::min(offset - std::min(offset, behind), width);
        std::uint64_t const spread = width / 32;
        return {above((guess - std::min(guess, spread)) / 2), above(guess - std::min(guess, spread)),
                above(guess + spread), above(guess + (width - guess) / 2)};
    }

    /// A bound that is worth a check: below what is known to suffice.
    [[nodiscard]] std::uint64_t above(std::uint64_t offset) const noexcept {
        return low_ + std::min(offset, high_ - low_ - 1);
    }

    /// whole * part / parts, with as many digits of `whole` as there is room for.
    [[nodiscard]] static std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t parts) noexcept {
        auto const bits = static_cast<unsigned>(std::bit_width(whole));
        unsigned const both = bits + static_cast<unsigned>(std::bit_width(part));
        unsigned const shift = both > 64 ? std::min(both - 64, bits) : 0;
        return ((whole >> shift) * part / parts) << shift;
    }

    std::span<std::uint64_t const> weights_;
    std::size_t ranks_;
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
    probe short_;
    std::optional<probe> enough_;
};

}  // namespace evenkeel::detail
