// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Brings the items of padded batches back to their nodes, then to their ranks, where that costs nothing.
///
/// A rank of `count` items may have any item up to bound / count among them, so two items change places freely as long
/// as neither is above what the other's rank allows; and an item may come in addition where one more of the then
/// longest fits. No rank rises above the bound, and every step saves bytes.
class padded_homing {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        away_.reserve(items);
        next_.reserve(items);
        before_.reserve(items);
        first_.reserve(ranks);
        counts_.reserve(ranks);
    }

    /// @param rank_of  Of the whole batch; no rank is above the bound.
    void operator()(stay_items const& items, node_ranks const& ranks, std::span<std::uint32_t const> nodes_of_ranks,
                    std::uint64_t bound, std::span<std::uint32_t> rank_of, step_budget steps) {
        items_ = &items;
        nodes_ = nodes_of_ranks;
        rank_of_ = rank_of;
        bound_ = bound;
        steps_ = &steps;
        first_.assign(nodes_.size(), no_rank);
        counts_.assign(nodes_.size(), 0);
        next_.resize(rank_of.size());
        before_.resize(rank_of.size());
        for (std::size_t place = items.size(); place-- > 0;) {
            insert(items.order()[place], rank_of[items.order()[place]]);
        }
        sweep([&](std::uint32_t item) { return node_of(item) != items.home_node(item); },
              [&](std::uint32_t item) { return ranks[items.home_node(item)]; },
              [&](std::uint32_t item, std::uint32_t rank) { return items.home_node(item) == nodes_[rank]; });
        sweep(
            [&](std::uint32_t item) {
                return items.home_rank(item) != rank_of_[item] && items.home_rank(item) != no_rank &&
                       node_of(item) == items.home_node(item);
            },
            [&](std::uint32_t item) { return items.home_ranks().subspan(item, 1); },
            [&](std::uint32_t item, std::uint32_t rank) { return items.home_rank(item) == rank; });
        steps_ = nullptr;
    }

  private:
    [[nodiscard]] std::uint32_t node_of(std::uint32_t item) const noexcept { return nodes_[rank_of_[item]]; }

    /// What the heaviest item of a rank may weigh as long as it has no more items.
    [[nodiscard]] std::uint64_t limit_of(std::uint32_t rank) const noexcept {
        return bound_ / std::max<std::uint32_t>(counts_[rank], 1);
    }

    /// Lets the items that are away come to the ranks where they are wanted, most bytes first, as long as many do.
    template <class IsAway, class Wanted, class IsHome>
    void sweep(IsAway is_away, Wanted wanted, IsHome is_home) {
        constexpr std::size_t most_sweeps = 8;
        bool worthwhile = true;
        for (std::size_t turn = 0; turn < most_sweeps && worthwhile && !steps_->exhausted(); ++turn) {
            away_.clear();
            for (auto const item : items_->order()) {
                if (is_away(item) && items_->bytes_of(item) > 0) {
                    away_.push_back(item);
                }
            }
            if (!items_->proportional) {
                std::sort(away_.begin(), away_.end(), [&](std::uint32_t a, std::uint32_t b) {
                    return items_->bytes_of(a) != items_->bytes_of(b) ? items_->bytes_of(a) > items_->bytes_of(b)
                                                                      : items_->precedes(a, b);
                });
            }
            std::size_t came = 0;
            for (auto const item : away_) {
                if (is_away(item) && !steps_->exhausted()) {
                    came += come_alone(item, wanted(item)) || exchange(item, wanted(item), is_home) ? 1U : 0U;
                }
            }
            // The last few are as much work as the many before them.
            worthwhile = came > away_.size() / 32;
        }
    }

    bool come_alone(std::uint32_t item, std::span<std::uint32_t const> ranks) {
        for (auto const rank : ranks) {
            std::uint64_t const count = counts_[rank] + std::uint64_t{1};
            if (items_->weight(item) > bound_ / count) {
                continue;
            }
            std::uint64_t heaviest = items_->weight(item);
            for (auto other = first_[rank]; other != no_rank; other = next_[other]) {
                heaviest = std::max(heaviest, items_->weight(other));
            }
            steps_->spend(count);
            if (heaviest <= bound_ / count) {
                remove(item);
                insert(item, rank);
                return true;
            }
        }
        return false;
    }

    template <class IsHome>
    bool exchange(std::uint32_t item, std::span<std::uint32_t const> ranks, IsHome is_home) {
        std::uint32_t const here = rank_of_[item];
        std::uint64_t const limit = limit_of(here);
        std::uint64_t saved = 0;
        std::uint32_t best = no_rank;
        for (auto const rank : ranks) {
            if (items_->weight(item) > limit_of(rank)) {
                continue;
            }
            steps_->spend(counts_[rank] + std::uint64_t{1});
            for (auto other = first_[rank]; other != no_rank; other = next_[other]) {
                if (items_->weight(other) > limit) {
                    continue;
                }
                std::uint64_t gain = items_->bytes_of(item);
                if (is_home(other, here)) {
                    gain += items_->bytes_of(other);
                } else if (is_home(other, rank)) {
                    gain -= std::min(gain, items_->bytes_of(other));
                }
                // Of several the heaviest: it leaves most room to those that come after.
                if (gain > saved || (gain == saved && gain > 0 && items_->precedes(other, best))) {
                    saved = gain;
                    best = other;
                }
            }
        }
        if (best == no_rank) {
            return false;
        }
        std::uint32_t const there = rank_of_[best];
        remove(item);
        remove(best);
        insert(item, there);
        insert(best, here);
        return true;
    }

    void insert(std::uint32_t item, std::uint32_t rank) noexcept {
        rank_of_[item] = rank;
        ++counts_[rank];
        before_[item] = no_rank;
        next_[item] = first_[rank];
        if (next_[item] != no_rank) {
            before_[next_[item]] = item;
        }
        first_[rank] = item;
    }

    void remove(std::uint32_t item) noexcept {
        std::uint32_t const rank = rank_of_[item];
        --counts_[rank];
        (before_[item] == no_rank ? first_[rank] : next_[before_[item]]) = next_[item];
        if (next_[item] != no_rank) {
            before_[next_[item]] = before_[item];
        }
    }

    stay_items const* items_ = nullptr;
    std::span<std::uint32_t const> nodes_;
    std::span<std::uint32_t> rank_of_;
    std::uint64_t bound_ = 0;
    step_budget* steps_ = nullptr;
    std::vector<std::uint32_t> away_;
    std::vector<std::uint32_t> first_;   ///< by rank: one of its items; `no_rank` ends
    std::vector<std::uint32_t> counts_;  ///< by rank
    std::vector<std::uint32_t> next_;    ///< by item
    std::vector<std::uint32_t> before_;
};

}  // namespace evenkeel::detail
