// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/rounds.hpp>
#include <evenkeel/solve/detail/tournament.hpp>

namespace evenkeel::detail {

/// Longest first: each item, the heaviest first, to the rank with the least load so far, the first of several.
///
///     weights 5 4 3 3 3 on 2 ranks: 5 3 | 4 3 3, so the busiest has 10; the optimum is 9, 5 4 | 3 3 3
///
/// R. L. Graham, Bounds on multiprocessing timing anomalies (1969): at most 4/3 - 1/(3 * ranks) of the optimum, and
/// close to it when the lightest items are light.
class longest_first {
  public:
    void reserve(std::size_t ranks) {
        loads_.reserve(ranks);
        narrow_.reserve(ranks);
        wide_.reserve(ranks);
        rounds_.reserve(ranks);
    }

    /// @param weights  In falling order.
    /// @param total    Their sum.
    /// @param rank_of  Filled with the rank of each item.
    /// @return         The load of the busiest rank.
    /// @complexity O(items * log(ranks))
    std::uint64_t operator()(std::span<std::uint64_t const> weights, std::uint64_t total, std::size_t ranks,
                             std::span<std::uint32_t> rank_of) {
        bool const narrow = std::bit_width(total) + std::bit_width(ranks) < 64;
        loads_.resize(ranks);
        if (!narrow) {
            place(weights, rank_of, wide_);
        } else if (ranks < fewest_for_rounds) {
            place(weights, rank_of, narrow_);
        } else {
            rounds_(weights, rank_of, loads_);
        }
        return *std::ranges::max_element(loads_);
    }

    /// Of all ranks, until the next use.
    [[nodiscard]] std::span<std::uint64_t const> loads() const noexcept { return loads_; }

  private:
    static constexpr std::size_t fewest_for_rounds = 128;

    // nvcc takes __extension__ before a typedef, not before an alias.
    __extension__ typedef unsigned __int128 wide_player;

    template <class Player>
    void place(std::span<std::uint64_t const> weights, std::span<std::uint32_t> rank_of, tournament<Player>& order) {
        std::ranges::fill(loads_, 0);
        order.reset(loads_.size());
        for (std::size_t item = 0; item < weights.size(); ++item) {
            std::uint32_t const rank = order.least_loaded();
            rank_of[item] = rank;
            loads_[rank] += weights[item];
            order.load(weights[item]);
        }
    }

    std::vector<std::uint64_t> loads_;
    tournament<std::uint64_t> narrow_;
    tournament<wide_player> wide_;
    rounds rounds_;
};

}  // namespace evenkeel::detail
