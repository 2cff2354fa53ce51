// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace evenkeel::detail {

/// Evens out the last per mille of a phase with a few heavy items per rank: two ranks at a time share their items anew.
///
/// The busiest rank tries all splits of its items and those of another, in its node before elsewhere, and takes the one
/// that leaves least above the target, then the one that moves fewest bytes between nodes. Where none helps, it swaps
/// an item at random, from a generator that only knows the round.
class polisher {
  public:
    /// @param rank_of     Of each item; changed for the better, and only where the target is reached.
    /// @param splits      How many may be tried in all, about a nanosecond each.
    /// @param home_nodes  Of each item: where its bytes are.
    /// @return            Whether no rank has more than `target`.
    bool operator()(std::span<std::uint64_t const> weights, std::span<std::uint64_t const> bytes,
                    std::span<std::uint32_t const> home_nodes, std::span<std::uint32_t const> nodes_of_ranks,
                    std::uint64_t target, std::uint64_t splits, std::span<std::uint32_t> rank_of) {
        weights_ = weights;
        bytes_ = bytes;
        home_nodes_ = home_nodes;
        nodes_ = nodes_of_ranks;
        target_ = target;
        splits_ = splits;
        items_.assign(nodes_.size(), {});
        loads_.assign(nodes_.size(), 0);
        for (std::uint32_t item = 0; item < rank_of.size(); ++item) {
            if (weights[item] > 0) {
                items_[rank_of[item]].push_back(item);
                loads_[rank_of[item]] += weights[item];
            }
        }
        std::size_t const rounds = 400 + 8 * nodes_.size();
        for (std::size_t round = 0; round < rounds && splits_ > 0; ++round) {
            auto const worst = static_cast<std::uint32_t>(std::ranges::max_element(loads_) - loads_.begin());
            if (loads_[worst] <= target_) {
                for (std::uint32_t rank = 0; rank < items_.size(); ++rank) {
                    for (auto const item : items_[rank]) {
                        rank_of[item] = rank;
                    }
                }
                return true;
            }
            best_ = {};
            for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
                if (other != worst && nodes_[other] == nodes_[worst]) {
                    consider(worst, other);
                }
            }
            if (!best_.found) {
                std::size_t const tried = std::min<std::size_t>(nodes_.size(), 256);
                for (std::size_t step = 0; step < tried; ++step) {
                    auto const other = static_cast<std::uint32_t>((round * 61 + step) % nodes_.size());
                    if (nodes_[other] != nodes_[worst]) {
                        consider(worst, other);
                    }
                }
            }
            if (best_.found) {
                split(worst, best_.other, best_.mask);
            } else if (!swap_at_random(worst, round)) {
                return false;
            }
        }
        return false;
    }

    [[nodiscard]] std::uint64_t busiest() const noexcept { return *std::ranges::max_element(loads_); }

  private:
    static constexpr std::size_t most_items = 14;
    static constexpr std::uint64_t full_gain = ~std::uint64_t{0};

    struct candidate {
        bool found = false;
        std::uint64_t gain = 0;  ///< by how much what is above the target falls
        std::int64_t cost = 0;   ///< bytes between nodes
        std::uint32_t other = 0;
        std::uint32_t mask = 0;  ///< which of the two ranks' items the busiest one keeps
    };

    [[nodiscard]] std::uint64_t above(std::uint64_t load) const noexcept { return load > target_ ? load - target_ : 0; }

    void consider(std::uint32_t worst, std::uint32_t other) {
        union_.assign(items_[worst].begin(), items_[worst].end());
        union_.insert(union_.end(), items_[other].begin(), items_[other].end());
        if (union_.size() > most_items) {
            return;
        }
        std::uint64_t const total = loads_[worst] + loads_[other];
        std::uint64_t const before = above(loads_[worst]) + above(loads_[other]);
        std::uint32_t const masks = std::uint32_t{1} << union_.size();
        splits_ -= std::min<std::uint64_t>(splits_, masks);
        sums_.resize(masks);
        sums_[0] = 0;
        for (std::uint32_t mask = 1; mask < masks; ++mask) {
            sums_[mask] = sums_[mask & (mask - 1)] + weights_[union_[static_cast<std::size_t>(std::countr_zero(mask))]];
            std::uint64_t const after = above(sums_[mask]) + above(total - sums_[mask]);
            // A split that leaves nothing above the target is as good as any other that does.
            std::uint64_t const gain = after == 0 ? full_gain : before - std::min(after, before);
            if (gain == 0 || (best_.found && gain < best_.gain)) {
                continue;
            }
            std::int64_t const cost = cost_of(worst, other, mask);
            if (!best_.found || gain > best_.gain || cost < best_.cost) {
                best_ = {.found = true, .gain = gain, .cost = cost, .other = other, .mask = mask};
            }
        }
    }

    [[nodiscard]] std::int64_t cost_of(std::uint32_t worst, std::uint32_t other, std::uint32_t mask) const noexcept {
        std::int64_t cost = 0;
        for (std::size_t at = 0; nodes_[worst] != nodes_[other] && at < union_.size(); ++at) {
            std::uint32_t const item = union_[at];
            std::uint32_t const was = nodes_[at < items_[worst].size() ? worst : other];
            std::uint32_t const is = nodes_[(mask >> at & 1U) != 0 ? worst : other];
            auto const size = static_cast<std::int64_t>(bytes_[item]);
            cost += (is != home_nodes_[item] ? size : 0) - (was != home_nodes_[item] ? size : 0);
        }
        return cost;
    }

    void split(std::uint32_t worst, std::uint32_t other, std::uint32_t mask) {
        union_.assign(items_[worst].begin(), items_[worst].end());
        union_.insert(union_.end(), items_[other].begin(), items_[other].end());
        items_[worst].clear();
        items_[other].clear();
        loads_[worst] = loads_[other] = 0;
        for (std::size_t at = 0; at < union_.size(); ++at) {
            std::uint32_t const rank = (mask >> at & 1U) != 0 ? worst : other;
            items_[rank].push_back(union_[at]);
            loads_[rank] += weights_[union_[at]];
        }
    }

    /// @return  Whether there was anything to swap.
    bool swap_at_random(std::uint32_t worst, std::size_t round) {
        std::uint64_t random = (round + 1) * 0x9e3779b97f4a7c15U;
        for (int attempt = 0; attempt < 64; ++attempt) {
            random = random * 0xbf58476d1ce4e5b9U + 0x94d049bb133111ebU;
            auto const other = static_cast<std::uint32_t>((random >> 33U) % nodes_.size());
            bool const near = nodes_[other] == nodes_[worst];
            if (other == worst || items_[other].empty() || items_[worst].empty() || (!near && attempt < 48)) {
                continue;
            }
            auto& mine = items_[worst][(random >> 13U) % items_[worst].size()];
            auto& theirs = items_[other][(random >> 23U) % items_[other].size()];
            loads_[worst] += weights_[theirs] - weights_[mine];
            loads_[other] += weights_[mine] - weights_[theirs];
            std::swap(mine, theirs);
            return true;
        }
        return false;
    }

    std::span<std::uint64_t const> weights_;
    std::span<std::uint64_t const> bytes_;
    std::span<std::uint32_t const> home_nodes_;
    std::span<std::uint32_t const> nodes_;
    std::uint64_t target_ = 0;
    std::uint64_t splits_ = 0;                       ///< how many may still be tried
    std::vector<std::vector<std::uint32_t>> items_;  ///< of each rank, those that weigh something
    std::vector<std::uint64_t> loads_;
    std::vector<std::uint32_t> union_;
    std::vector<std::uint64_t> sums_;
    candidate best_;
};

}  // namespace evenkeel::detail
