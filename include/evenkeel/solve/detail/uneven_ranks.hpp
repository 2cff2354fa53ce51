// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// The ranks that are above a target load or well below it, and their items, as a smaller batch of its own.
class uneven_ranks {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        number_of_.reserve(ranks);
        ranks_.reserve(ranks);
        weights_.reserve(items);
        items_.reserve(items);
        rank_of_.reserve(items);
    }

    /// @param waste  Up to this, the room of a rank is of no use.
    void gather(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of,
                std::span<std::uint64_t const> loads, std::uint64_t target, std::uint64_t waste) {
        constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
        number_of_.assign(loads.size(), none);
        ranks_.clear();
        busiest_even_ = 0;
        for (std::uint32_t rank = 0; rank < loads.size(); ++rank) {
            if (loads[rank] <= target && target - loads[rank] <= waste) {
                busiest_even_ = std::max(busiest_even_, loads[rank]);
            } else {
                number_of_[rank] = static_cast<std::uint32_t>(ranks_.size());
                ranks_.push_back(rank);
            }
        }
        weights_.resize(weights.size());
        items_.resize(weights.size());
        rank_of_.resize(weights.size());
        std::size_t place = 0;
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            // Overwritten by the next one unless it counts: a branch would be mispredicted.
            std::uint32_t const number = number_of_[rank_of[item]];
            weights_[place] = weights[item];
            items_[place] = item;
            rank_of_[place] = number;
            place += number != none ? 1U : 0U;
        }
        weights_.resize(place);
        items_.resize(place);
        rank_of_.resize(place);
    }

    /// The load of the busiest of the other ranks.
    [[nodiscard]] std::uint64_t busiest_even() const noexcept { return busiest_even_; }

    [[nodiscard]] std::size_t ranks() const noexcept { return ranks_.size(); }
    [[nodiscard]] std::span<std::uint64_t const> weights() const noexcept { return weights_; }
    [[nodiscard]] std::span<std::uint32_t> rank_of() noexcept { return rank_of_; }

    /// Tells the whole batch where the items are now.
    void scatter(std::span<std::uint32_t> rank_of) const noexcept {
        for (std::size_t index = 0; index < items_.size(); ++index) {
            rank_of[items_[index]] = ranks_[rank_of_[index]];
        }
    }

  private:
    std::vector<std::uint32_t> number_of_;  ///< of each rank among the uneven ones
    std::vector<std::uint32_t> ranks_;
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint32_t> items_;
    std::vector<std::uint32_t> rank_of_;
    std::uint64_t busiest_even_ = 0;
};

}  // namespace evenkeel::detail
