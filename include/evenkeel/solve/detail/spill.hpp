// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Lets what the ranks of a node have too much flow to those with room, in one pass over the items of the node.
///
/// Heaviest first, an item leaves if both the excess of its rank and the room of the roomiest one hold it. It leaves as
/// well if it has no place beside the heavier ones that stay, and then lighter ones make room where it goes: a rank
/// with two items that cannot stay together does not lose all its light ones first. Many items per rank end all but
/// even; what is left of excess is no more than the lightest items weigh.
class spill {
  public:
    struct move {
        std::uint32_t position;
        std::uint32_t rank;
    };

    void reserve(std::size_t items, std::size_t ranks) {
        ranks_.reserve(ranks);
        moves_.reserve(items);
    }

    /// Begins with a node of no ranks.
    void clear() noexcept { ranks_.clear(); }

    /// @param load     What the next rank has,
    /// @param ballast  and what of that is no item.
    void add_rank(std::uint64_t load, std::uint64_t ballast) { ranks_.push_back({load, ballast}); }

    /// @param weights  Of the items of the node, in falling order.
    /// @param rank_of  The rank of each in the order in which ranks were added; what leaves is renamed.
    /// @return         Whether every rank is at the target or below.
    bool operator()(std::span<std::uint64_t const> weights, std::span<std::uint32_t> rank_of, std::uint64_t target,
                    step_budget& steps) {
        target_ = target;
        moves_.clear();
        // Copies, so that what is written does not have them read anew.
        auto* const ranks = ranks_.data();
        bool over = look_around();
        std::size_t position = 0;
        for (; position < weights.size() && over; ++position) {
            std::uint32_t const rank = rank_of[position];
            std::uint64_t const weight = weights[position];
            auto& own = ranks[rank];
            bool const flows = (weight <= room_) & (own.load - weight >= target);
            if (!flows && own.kept <= target && weight <= target - own.kept) {
                own.kept += weight;
                continue;
            }
            std::uint32_t const to = flows ? roomiest_ : roomiest_place(rank, weight);
            ranks[to].kept += weight;
            if (to != rank) {
                own.load -= weight;
                ranks[to].load += weight;
                rank_of[position] = to;
                moves_.push_back({static_cast<std::uint32_t>(position), to});
                over = look_around();
            }
        }
        steps.spend(position + ranks_.size() * moves_.size());
        return !over;
    }

    /// What left, in the order of the items.
    [[nodiscard]] std::span<move const> moves() const noexcept { return moves_; }

  private:
    struct rank_state {
        std::uint64_t load;
        std::uint64_t kept;  ///< what of the load does not leave any more
    };

    [[nodiscard]] bool has_place(std::size_t rank, std::uint64_t weight) const noexcept {
        return ranks_[rank].kept <= target_ && weight <= target_ - ranks_[rank].kept;
    }

    /// Finds the roomiest rank; whether any is above the target.
    bool look_around() noexcept {
        std::uint64_t most = 0;
        std::uint64_t least = ranks_.front().load;
        std::uint32_t roomiest = 0;
        for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
            std::uint64_t const load = ranks_[rank].load;
            most = std::max(most, load);
            // Without a branch, which would be foreseen wrongly half of the time.
            std::uint32_t const lower = 0U - static_cast<std::uint32_t>(load < least);
            roomiest = (rank & lower) | (roomiest & ~lower);
            least = std::min(least, load);
        }
        roomiest_ = roomiest;
        room_ = target_ - std::min(target_, least);
        return most > target_;
    }

    /// Of the ranks that have a place for an item, the one with least load; the item's own if there is none.
    [[nodiscard]] std::uint32_t roomiest_place(std::uint32_t own, std::uint64_t weight) const noexcept {
        std::uint32_t best = own;
        for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
            if (has_place(rank, weight) && (best == own || ranks_[rank].load < ranks_[best].load)) {
                best = rank;
            }
        }
        return best;
    }

    std::uint64_t target_ = 0;
    std::uint32_t roomiest_ = 0;
    std::uint64_t room_ = 0;  ///< of the roomiest rank
    std::vector<rank_state> ranks_;
    std::vector<move> moves_;
};

}  // namespace evenkeel::detail
