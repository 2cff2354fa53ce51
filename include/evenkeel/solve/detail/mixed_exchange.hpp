// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Lowers the busiest rank by moving one of its items to another rank, or exchanging it for another item, as long as
/// that leaves both below what it had.
class mixed_exchange {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        packed_.reserve(items);
        placement_.reserve(items, ranks);
        loads_.reserve(ranks);
        partners_.reserve(ranks);
    }

    /// @param rank_of  Of each sorted item; improved where possible.
    /// @return         The load of the busiest rank.
    std::uint64_t operator()(mixed_sizes const& sizes, std::size_t ranks, std::uint64_t goal,
                             std::span<std::uint32_t> rank_of, step_budget& steps) {
        sizes_ = &sizes;
        packed_.resize(sizes.items());
        for (std::size_t item = 0; item < sizes.items(); ++item) {
            packed_[item] = sizes.packed[sizes.of_item[item]];
        }
        placement_.reset(packed_, rank_of, ranks);
        loads_.resize(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            loads_[rank] = load(rank);
        }
        steps.spend(sizes.items());
        bool better = true;
        std::size_t busiest = 0;
        while (better && !steps.exhausted()) {
            busiest = static_cast<std::size_t>(std::ranges::max_element(loads_) - loads_.begin());
            better = loads_[busiest] > goal && relieve(busiest, steps);
        }
        placement_.store(rank_of);
        return *std::ranges::max_element(loads_);
    }

  private:
    /// The partners that are tried: the least loaded.
    static constexpr std::size_t most_partners = 64;

    /// An item that leaves the busiest rank, and the one that it is exchanged for, or nothing.
    struct change {
        std::size_t out = 0;
        std::size_t in = 0;
        std::uint64_t load = 0;  ///< the greater of both ranks' afterwards
    };

    bool relieve(std::size_t busiest, step_budget& steps) {
        partners_.resize(loads_.size());
        std::iota(partners_.begin(), partners_.end(), 0U);
        std::size_t const count = std::min(most_partners, partners_.size());
        std::partial_sort(partners_.begin(), partners_.begin() + static_cast<std::ptrdiff_t>(count), partners_.end(),
                          [&](auto a, auto b) { return loads_[a] != loads_[b] ? loads_[a] < loads_[b] : a < b; });
        steps.spend(2 * loads_.size());
        for (std::size_t i = 0; i < count && !steps.exhausted(); ++i) {
            std::size_t const partner = partners_[i];
            if (partner == busiest) {
                continue;
            }
            change const best = best_change(busiest, partner);
            steps.spend((placement_.items(busiest).size() + 1) * (placement_.items(partner).size() + 1));
            if (best.load < loads_[busiest]) {
                perform(busiest, partner, best);
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] change best_change(std::size_t from, std::size_t to) const {
        auto const given = placement_.items(from);
        auto const taken = placement_.items(to);
        change best{.load = loads_[from]};
        for (std::size_t out = 0; out < given.size(); ++out) {
            for (std::size_t in = 0; in <= taken.size(); ++in) {
                std::uint64_t const from_load = load_after(from, out, to, in);
                // Ranks that pad wide are often over already.
                if (from_load < best.load) {
                    std::uint64_t const both = std::max(from_load, load_after(to, in, from, out));
                    if (both < best.load) {
                        best = {.out = out, .in = in, .load = both};
                    }
                }
            }
        }
        return best;
    }

    /// The load of `rank` without its item at `out`, with that at `in` of `other`; beyond the last means none.
    [[nodiscard]] std::uint64_t load_after(std::size_t rank, std::size_t out, std::size_t other, std::size_t in) const {
        auto const own = placement_.items(rank);
        auto const others = placement_.items(other);
        std::uint64_t packed = placement_.load(rank);
        std::size_t count = own.size();
        std::size_t longest = out == 0 ? 1 : 0;
        if (out < own.size()) {
            packed -= packed_[own[out]];
            --count;
        }
        std::uint64_t padded = longest < own.size() ? padded_of(own[longest]) : 0;
        if (in < others.size()) {
            packed += packed_[others[in]];
            ++count;
            padded = std::max(padded, padded_of(others[in]));
        }
        return total(count, padded, packed);
    }

    [[nodiscard]] std::uint64_t load(std::size_t rank) const {
        auto const own = placement_.items(rank);
        return own.empty() ? 0 : total(own.size(), padded_of(own.front()), placement_.load(rank));
    }

    /// Saturates: what does not fit is no improvement.
    [[nodiscard]] static std::uint64_t total(std::uint64_t count, std::uint64_t padded, std::uint64_t packed) noexcept {
        std::uint64_t result = 0;
        bool const wraps =
            __builtin_mul_overflow(count, padded, &result) || __builtin_add_overflow(result, packed, &result);
        return wraps ? std::numeric_limits<std::uint64_t>::max() : result;
    }

    [[nodiscard]] std::uint64_t padded_of(std::uint32_t item) const noexcept {
        return sizes_->padded[sizes_->of_item[item]];
    }

    void perform(std::size_t from, std::size_t to, change const& chosen) {
        std::uint32_t const out = placement_.items(from)[chosen.out];
        bool const exchanged = chosen.in < placement_.items(to).size();
        std::uint32_t const in = exchanged ? placement_.items(to)[chosen.in] : 0;
        placement_.remove(from, chosen.out);
        if (exchanged) {
            placement_.remove(to, chosen.in);
            placement_.insert(from, in, packed_[in]);
        }
        placement_.insert(to, out, packed_[out]);
        loads_[from] = load(from);
        loads_[to] = load(to);
    }

    mixed_sizes const* sizes_ = nullptr;
    std::vector<std::uint64_t> packed_;  ///< of each sorted item
    placement placement_;
    std::vector<std::uint64_t> loads_;
    std::vector<std::uint32_t> partners_;
};

}  // namespace evenkeel::detail
