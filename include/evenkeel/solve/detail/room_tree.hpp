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

/// The ranks by a number, as a knock-out tournament: the winner has the smallest, the first of several.
///
/// As `tournament`, but any rank's number can be set, and a rank can be taken out. A number that is too wide to be kept
/// together with a rank loses its lowest bits: who wins is a matter of quality, not of right.
class room_tree {
  public:
    void reserve(std::size_t ranks) { players_.reserve(ranks + ranks / 3 + 4 * std::size(starts_)); }

    /// @param numbers  Of all ranks, at least one.
    /// @param largest  No number will ever be larger.
    void reset(std::span<std::uint64_t const> numbers, std::uint64_t largest) {
        rank_bits_ = static_cast<unsigned>(std::bit_width(numbers.size()));
        auto const width = static_cast<unsigned>(std::bit_width(largest)) + rank_bits_;
        drop_ = width > 63 ? width - 63 : 0;
        levels_ = 0;
        std::size_t size = numbers.size();
        std::size_t players = 0;
        do {
            starts_[levels_++] = players;
            size = (size + 3) / 4;
            players += 4 * size;
        } while (size > 1);
        players_.assign(players, nobody);
        for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
            players_[rank] = player(rank, numbers[rank]);
        }
        for (std::size_t level = 1; level < levels_; ++level) {
            for (std::size_t match = 0; starts_[level - 1] + 4 * match < starts_[level]; ++match) {
                auto const first = players_.begin() + static_cast<std::ptrdiff_t>(starts_[level - 1] + 4 * match);
                players_[starts_[level] + match] = *std::min_element(first, first + 4);
            }
        }
        std::uint64_t const* const last = players_.data() + starts_[levels_ - 1];
        winner_ = *std::min_element(last, last + 4);
    }

    [[nodiscard]] bool empty() const noexcept { return winner_ == nobody; }
    [[nodiscard]] std::uint32_t winner() const noexcept {
        return static_cast<std::uint32_t>(winner_ & ((std::uint64_t{1} << rank_bits_) - 1));
    }

    void set(std::size_t rank, std::uint64_t number) noexcept { replay(rank, player(rank, number)); }
    void take_out(std::size_t rank) noexcept { replay(rank, nobody); }

  private:
    static constexpr std::uint64_t nobody = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] std::uint64_t player(std::size_t rank, std::uint64_t number) const noexcept {
        return number >> drop_ << rank_bits_ | rank;
    }

    void replay(std::size_t position, std::uint64_t player) noexcept {
        for (std::size_t level = 0; level < levels_; ++level) {
            std::uint64_t* const players = players_.data() + starts_[level];
            players[position] = player;
            // Flipping the last bits of a position leads to the others of its match.
            player = std::min(std::min(player, players[position ^ 1]),
                              std::min(players[position ^ 2], players[position ^ 3]));
            position /= 4;
        }
        winner_ = player;
    }

    std::vector<std::uint64_t> players_;  ///< level by level, the ranks first
    std::size_t starts_[17] = {};
    std::size_t levels_ = 0;
    unsigned rank_bits_ = 0;
    unsigned drop_ = 0;
    std::uint64_t winner_ = nobody;
};

}  // namespace evenkeel::detail
