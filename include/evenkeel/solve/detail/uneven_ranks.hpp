// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// The ranks that are above a target load or well below it, and their items, as a smaller batch of its own.
class uneven_ranks {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        is_uneven_.reserve(ranks);
        number_of_.reserve(ranks);
        ranks_.reserve(ranks);
        weights_.reserve(items);
        items_.reserve(items);
        rank_of_.reserve(items);
    }

    /// @param waste  Up to this, the room of a rank is of no use.
    void gather(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of,
                std::span<std::uint64_t const> loads, std::uint64_t target, std::uint64_t waste) {
        is_uneven_.assign(loads.size(), 0);
        number_of_.resize(loads.size());
        ranks_.clear();
        busiest_even_ = 0;
        for (std::uint32_t rank = 0; rank < loads.size(); ++rank) {
            if (loads[rank] <= target && target - loads[rank] <= waste) {
                busiest_even_ = std::max(busiest_even_, loads[rank]);
            } else {
                is_uneven_[rank] = 1;
                number_of_[rank] = static_cast<std::uint32_t>(ranks_.size());
                ranks_.push_back(rank);
            }
        }
        // Of a large batch all but a few items are passed over, so nothing else is read for each; nor does the list
        // shrink, for what grows again is filled anew.
        items_.resize(std::max(items_.size(), rank_of.size()));
        std::size_t found = 0;
        for (std::uint32_t item = 0; item < rank_of.size(); ++item) {
            // Overwritten by the next one unless it counts: a branch would be mispredicted.
            items_[found] = item;
            found += is_uneven_[rank_of[item]];
        }
        weights_.resize(found);
        rank_of_.resize(found);
        for (std::size_t index = 0; index < found; ++index) {
            weights_[index] = weights[items_[index]];
            rank_of_[index] = number_of_[rank_of[items_[index]]];
        }
    }

    /// The load of the busiest of the other ranks.
    [[nodiscard]] std::uint64_t busiest_even() const noexcept { return busiest_even_; }

    [[nodiscard]] std::size_t ranks() const noexcept { return ranks_.size(); }
    [[nodiscard]] std::span<std::uint64_t const> weights() const noexcept { return weights_; }
    [[nodiscard]] std::span<std::uint32_t> rank_of() noexcept { return rank_of_; }

    /// Tells the whole batch where the items are now.
    void scatter(std::span<std::uint32_t> rank_of) const noexcept {
        for (std::size_t index = 0; index < rank_of_.size(); ++index) {
            rank_of[items_[index]] = ranks_[rank_of_[index]];
        }
    }

  private:
    std::vector<std::uint8_t> is_uneven_;   ///< each rank: small, so that it stays in the nearest cache
    std::vector<std::uint32_t> number_of_;  ///< of each uneven rank among these
    std::vector<std::uint32_t> ranks_;
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint32_t> items_;  ///< as many as there are weights; what follows has no meaning
    std::vector<std::uint32_t> rank_of_;
    std::uint64_t busiest_even_ = 0;
};

}  // namespace evenkeel::detail
