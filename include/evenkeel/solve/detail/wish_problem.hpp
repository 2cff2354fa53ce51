// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// What a rank has taken on.
struct holding {
    std::uint64_t load = 0;
    std::uint64_t quantity = 0;
    std::uint64_t count = 0;    ///< items
    std::uint64_t working = 0;  ///< bundles that weigh something

    friend bool operator==(holding const&, holding const&) = default;
};

/// What a rank must respect besides its load.
struct rank_limits {
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t quantity = none;
    std::uint64_t most_items = none;
    std::uint64_t least_items = 0;
    bool nobody_idle = false;
    /// As many ranks stay idle whatever one does, for want of items.
    std::uint64_t idle_allowed = 0;

    [[nodiscard]] bool counts() const noexcept { return most_items != none || least_items != 0; }
    [[nodiscard]] bool any() const noexcept { return counts() || quantity != none || nobody_idle; }

    /// How far a rank is from what it must respect. Units are added up: only zero and progress matter.
    [[nodiscard]] std::uint64_t violation(holding const& of) const noexcept {
        std::uint64_t result = of.quantity > quantity ? of.quantity - quantity : 0;
        std::uint64_t const items = of.count > most_items    ? of.count - most_items
                                    : of.count < least_items ? least_items - of.count
                                                             : 0;
        std::uint64_t const idle = nobody_idle && of.working == 0 ? 1U : 0U;
        return __builtin_add_overflow(result, items + idle, &result) ? none : result;
    }

    /// Whether a rank that was `before` may become `after`: no limit is broken, or broken further.
    [[nodiscard]] bool allow(holding const& before, holding const& after) const noexcept {
        return after.quantity <= std::max(quantity, before.quantity) &&
               after.count <= std::max(most_items, before.count) &&
               after.count >= std::min(least_items, before.count) &&
               (!nobody_idle || after.working > 0 || before.working == 0);
    }
};

/// Bundles to be placed: items, or groups of items that stay together. Heaviest first; those that weigh nothing last.
struct wish_problem {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> quantities;
    std::vector<std::uint32_t> counts;  ///< items of each

    std::vector<holding> base;  ///< of each rank: what is pinned there
    rank_limits limits;
    std::vector<std::uint64_t> speeds;  ///< empty if all are alike
    std::uint64_t fastest = 1;
    std::uint64_t grain = 1;  ///< every weight is a multiple

    std::uint64_t total = 0;           ///< weight to be placed
    std::uint64_t items = 0;           ///< all, also those that are pinned
    std::uint64_t total_quantity = 0;  ///< of all, too
    bool single = true;                ///< every bundle is one item

    void reserve(std::size_t count, std::size_t ranks) {
        weights.reserve(count);
        quantities.reserve(count);
        counts.reserve(count);
        base.reserve(ranks);
        speeds.reserve(ranks);
    }

    void clear(std::size_t ranks) {
        weights.clear();
        quantities.clear();
        counts.clear();
        base.assign(ranks, {});
        limits = {};
        speeds.clear();
        fastest = grain = 1;
        total = items = total_quantity = 0;
        single = true;
    }

    [[nodiscard]] std::size_t size() const noexcept { return weights.size(); }
    [[nodiscard]] std::size_t ranks() const noexcept { return base.size(); }

    /// What `rank` may carry if nobody is to take longer than `time` of the fastest.
    [[nodiscard]] std::uint64_t capacity(std::size_t rank, std::uint64_t time) const noexcept {
        return speeds.empty() ? time : static_cast<std::uint64_t>(wide{time} * speeds[rank] / fastest);
    }

    /// How long `rank` takes for a load, rounded up; `capacity` of it is the load at least. The caller knows that it
    /// fits.
    [[nodiscard]] std::uint64_t time(std::size_t rank, std::uint64_t load) const noexcept {
        return speeds.empty() ? load
                              : static_cast<std::uint64_t>((wide{load} * fastest + (speeds[rank] - 1)) / speeds[rank]);
    }

    void capacities(std::uint64_t time, std::vector<std::uint64_t>& of) const {
        of.resize(ranks());
        for (std::size_t rank = 0; rank < of.size(); ++rank) {
            of[rank] = capacity(rank, time);
        }
    }

    void add(holding& to, std::size_t bundle) const noexcept {
        to.load += weights[bundle];
        to.quantity += quantities[bundle];
        to.count += counts[bundle];
        to.working += weights[bundle] > 0 ? 1U : 0U;
    }

    void remove(holding& from, std::size_t bundle) const noexcept {
        from.load -= weights[bundle];
        from.quantity -= quantities[bundle];
        from.count -= counts[bundle];
        from.working -= weights[bundle] > 0 ? 1U : 0U;
    }

    /// How far a placement is from the limits, and how long its slowest rank takes.
    struct score {
        std::uint64_t violation = 0;
        std::uint64_t busiest = 0;

        friend bool operator==(score const&, score const&) = default;
        friend bool operator<(score const& a, score const& b) noexcept {
            return a.violation < b.violation || (a.violation == b.violation && a.busiest < b.busiest);
        }
    };

    [[nodiscard]] score score_of(std::span<holding const> held) const noexcept {
        score result;
        std::uint64_t idle = 0;
        for (std::size_t rank = 0; rank < held.size(); ++rank) {
            result.busiest = std::max(result.busiest, time(rank, held[rank].load));
            auto const broken = limits.violation(held[rank]);
            if (__builtin_add_overflow(result.violation, broken, &result.violation)) {
                result.violation = rank_limits::none;
            }
            idle += held[rank].working == 0 ? 1U : 0U;
        }
        if (limits.nobody_idle && result.violation != rank_limits::none) {
            result.violation -= std::min(idle, limits.idle_allowed);
        }
        return result;
    }

  private:
    // nvcc takes __extension__ before a typedef, not before an alias.
    __extension__ typedef unsigned __int128 wide;
};

}  // namespace evenkeel::detail
