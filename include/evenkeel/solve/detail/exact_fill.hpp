// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/remaining_items.hpp>
#include <evenkeel/solve/detail/room_filler.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// A start for batches with few items per rank: fills one rank after the other exactly to a target load.
///
/// Each rank gets the heaviest item left and then, while sizes are still plentiful, the fewest others that fill it. So
/// the room that the target leaves over all ends up with the last ranks, an eighth of all or so, which get the rest
/// longest first. They will be uneven, but pool much room: `repair` does the rest.
class exact_fill {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        items_.reserve(items);
        rest_.reserve(items);
        rest_weights_.reserve(items);
        rest_ranks_.reserve(items);
        longest_.reserve(ranks);
    }

    /// @param weights  In falling order.
    /// @param total    Their sum, at most ranks * target.
    /// @param part     One out of so many ranks is one of the last.
    /// @param rank_of  Filled with the rank of each item.
    /// @return         Whether it came to an end before the steps did; if not, none are left to even out the last
    ///                 ranks.
    bool operator()(std::span<std::uint64_t const> weights, std::uint64_t total, std::size_t ranks,
                    std::uint64_t target, std::size_t part, std::span<std::uint32_t> rank_of, step_budget& steps) {
        items_.reset(weights);
        std::ranges::fill(rank_of, unplaced);
        std::size_t const last = ranks - std::min(ranks, std::max<std::size_t>(4, ranks / part));
        std::uint32_t rank = 0;
        for (; rank < last && !items_.empty(); ++rank) {
            if (steps.exhausted()) {
                return false;
            }
            std::uint32_t const heaviest = items_.first_from(0);
            std::uint64_t load = items_.weight(heaviest);
            rank_of[items_.take(heaviest)] = rank;
            // The room is for all ranks that are left, in equal shares.
            std::uint64_t const left = ranks - rank;
            std::uint64_t const mean = total / left + (total % left != 0 ? 1 : 0);
            for (auto const number : fill_(items_, target - load, target - std::min(target, mean), steps)) {
                load += items_.weight(number);
                rank_of[items_.take(number)] = rank;
            }
            total -= load;
        }
        place_rest(weights, total, rank, ranks, rank_of);
        return true;
    }

  private:
    static constexpr std::uint32_t unplaced = std::numeric_limits<std::uint32_t>::max();

    /// Longest first for what is left, over the ranks that are left.
    void place_rest(std::span<std::uint64_t const> weights, std::uint64_t total, std::uint32_t first_rank,
                    std::size_t ranks, std::span<std::uint32_t> rank_of) {
        rest_.clear();
        rest_weights_.clear();
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            if (rank_of[item] == unplaced) {
                rest_.push_back(item);
                rest_weights_.push_back(weights[item]);
            }
        }
        rest_ranks_.resize(rest_.size());
        longest_(rest_weights_, total, ranks - first_rank, rest_ranks_);
        for (std::size_t index = 0; index < rest_.size(); ++index) {
            rank_of[rest_[index]] = first_rank + rest_ranks_[index];
        }
    }

    remaining_items items_;
    room_filler fill_;

    std::vector<std::uint32_t> rest_;
    std::vector<std::uint64_t> rest_weights_;
    std::vector<std::uint32_t> rest_ranks_;
    longest_first longest_;
};

}  // namespace evenkeel::detail
