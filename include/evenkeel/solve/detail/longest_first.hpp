// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// The ranks by load, as a knock-out tournament: the winner is the least loaded, the first of several.
///
/// Node i plays the winners of nodes 2i and 2i + 1; the leaves are the ranks. To load the winner replays its matches
/// only, and each match meets an opponent that is already known, so that a replay is a short chain of comparisons.
class tournament {
  public:
    struct player {
        std::uint64_t load;
        std::uint32_t rank;
    };

    /// Starts with `ranks` idle ranks.
    void reset(std::size_t ranks) {
        leaves_ = std::bit_ceil(ranks);
        nodes_.resize(2 * leaves_);
        for (std::size_t leaf = 0; leaf < leaves_; ++leaf) {
            auto const load = leaf < ranks ? 0 : std::numeric_limits<std::uint64_t>::max();
            nodes_[leaves_ + leaf] = {load, static_cast<std::uint32_t>(leaf)};
        }
        for (std::size_t node = leaves_; node-- > 1;) {
            nodes_[node] = winner(nodes_[2 * node], nodes_[2 * node + 1]);
        }
    }

    [[nodiscard]] player const& least_loaded() const noexcept { return nodes_[1]; }

    /// Gives `weight` to the least loaded rank.
    void load(std::uint64_t weight) noexcept {
        player current = nodes_[1];
        current.load += weight;
        std::size_t node = leaves_ + current.rank;
        for (nodes_[node] = current; node > 1; node /= 2) {
            current = winner(current, nodes_[node ^ 1]);
            nodes_[node / 2] = current;
        }
    }

  private:
    [[nodiscard]] static player winner(player const& a, player const& b) noexcept {
        return b.load < a.load || (b.load == a.load && b.rank < a.rank) ? b : a;
    }

    std::size_t leaves_ = 0;
    std::vector<player> nodes_;
};

/// Longest first: each item, the heaviest first, to the rank with the least load so far, the first of several.
///
///     weights 5 4 3 3 3 on 2 ranks: 5 | 4, then 5 | 4 3, 5 3 | 4 3, 5 3 | 4 3 3; the optimum is 5 4 | 3 3 3
///
/// R. L. Graham, Bounds on multiprocessing timing anomalies (1969): at most 4/3 - 1/(3 * ranks) of the optimum, and
/// close to it when the lightest items are light.
///
/// @param weights   In falling order.
/// @param rank_of   Filled with the rank of each item.
/// @return          The load of the busiest rank.
/// @complexity O(items * log(ranks))
inline std::uint64_t longest_first(std::span<std::uint64_t const> weights, std::size_t ranks, tournament& loads,
                                   std::span<std::uint32_t> rank_of) {
    loads.reset(ranks);
    std::uint64_t busiest = 0;
    for (std::size_t item = 0; item < weights.size(); ++item) {
        auto const [load, rank] = loads.least_loaded();
        rank_of[item] = rank;
        busiest = std::max(busiest, load + weights[item]);
        loads.load(weights[item]);
    }
    return busiest;
}

}  // namespace evenkeel::detail
