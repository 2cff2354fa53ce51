// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// The ranks by load, as a knock-out tournament: the winner is the least loaded, the first of several.
///
/// A player is one number, the load with the rank in its lowest bits, so a match is a minimum. Matches are of four:
/// loading the winner replays six of them among 4096 ranks, and in each the other three are known beforehand, so that
/// the chain of dependent steps, which is what takes the time, is short and without branches.
///
/// @tparam Player  An unsigned integer with room for a load and a rank.
template <class Player>
class tournament {
  public:
    void reserve(std::size_t ranks) {
        // A third for the levels above, and each may need three more to complete a match.
        players_.reserve(ranks + ranks / 3 + 4 * std::size(starts_));
    }

    /// Starts with `ranks` idle ranks, at least one.
    void reset(std::size_t ranks) {
        start(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            players_[rank] = rank;
        }
        play();
    }

    /// Starts with the players given, in the order of their ranks.
    void reset(std::span<Player const> players) {
        start(players.size());
        std::ranges::copy(players, players_.begin());
        play();
    }

    /// All players as they are now.
    void store(std::span<Player> players) const { std::copy_n(players_.begin(), players.size(), players.begin()); }

    [[nodiscard]] std::uint32_t least_loaded() const noexcept {
        return static_cast<std::uint32_t>(winner_ & ((Player{1} << rank_bits_) - 1));
    }

    [[nodiscard]] std::uint64_t least_load() const noexcept {
        return static_cast<std::uint64_t>(winner_ >> rank_bits_);
    }

    /// Gives `weight` to the least loaded rank.
    void load(std::uint64_t weight) noexcept {
        std::size_t position = least_loaded();
        Player player = winner_ + (Player{weight} << rank_bits_);
        for (std::size_t level = 0; level < levels_; ++level) {
            Player* const players = players_.data() + starts_[level];
            players[position] = player;
            player = std::min(player, best_of_others(players, position));
            position /= 4;
        }
        winner_ = player;
    }

  private:
    void start(std::size_t ranks) {
        rank_bits_ = static_cast<unsigned>(std::bit_width(ranks - 1));
        levels_ = 0;
        std::size_t size = ranks;
        std::size_t players = 0;
        do {
            starts_[levels_++] = players;
            size = (size + 3) / 4;
            players += 4 * size;
        } while (size > 1);
        players_.assign(players, std::numeric_limits<Player>::max());
    }

    void play() {
        for (std::size_t level = 1; level < levels_; ++level) {
            for (std::size_t match = 0; starts_[level - 1] + 4 * match < starts_[level]; ++match) {
                auto const first = players_.begin() + static_cast<std::ptrdiff_t>(starts_[level - 1] + 4 * match);
                players_[starts_[level] + match] = *std::min_element(first, first + 4);
            }
        }
        // The last level is one match.
        auto const final = players_.end() - 4;
        winner_ = *std::min_element(final, players_.end());
    }

    /// Flipping the last bits of a position leads to the others of its match.
    [[nodiscard]] static Player best_of_others(Player const* players, std::size_t position) noexcept {
        return std::min(std::min(players[position ^ 1], players[position ^ 2]), players[position ^ 3]);
    }

    std::vector<Player> players_;  ///< level by level, the ranks first
    std::size_t starts_[16] = {};  ///< of the levels: four to the power of 16 is 2^32
    std::size_t levels_ = 0;
    unsigned rank_bits_ = 0;
    Player winner_ = 0;
};

}  // namespace evenkeel::detail
