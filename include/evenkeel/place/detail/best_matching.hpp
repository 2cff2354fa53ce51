// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <evenkeel/place/detail/auction.hpp>

namespace evenkeel::detail {

/// The memory of `best_matching`.
struct matching_room {
    std::vector<std::uint32_t> bidder_of;  ///< by place; `nobody`
    std::vector<std::uint32_t> won;        ///< by bidder: its entry; `nobody`
    std::vector<std::int64_t> prices;      ///< by place
    std::vector<std::int64_t> profits;     ///< by bidder: the best that it can have at these prices, or 0
    std::vector<std::int64_t> distances;   ///< by place: profit lost on the way from the bidder at hand
    std::vector<std::uint32_t> before;     ///< by place: the entry by which it was reached
    std::vector<std::uint32_t> owners;     ///< by place: the bidder of that entry
};

/// As many places fit into a word of bits.
inline constexpr std::uint32_t most_matched = 64;

/// Gives every place to one bidder at most, so that the sum of all gains is as large as possible, exactly.
///
/// Bidder after bidder by the shortest way to a free place or to a bidder that loses least by going without (Edmonds
/// and Karp 1972, Tomizawa 1971, with prices). Ties fall to the entry and the place that come first.
///
/// @param places  Up to `most_matched`.
/// @param room    The result is in `bidder_of` and `won`.
/// @complexity O(bidders * (entries + places^2)) at worst; O(entries) where few bidders want the same place.
inline void best_matching(gains const& gains, std::uint32_t places, matching_room& room) {
    room.bidder_of.assign(places, nobody);
    room.won.assign(gains.bidders(), nobody);
    room.prices.assign(places, 0);
    room.profits.assign(gains.bidders(), 0);
    room.distances.resize(places);
    room.before.resize(places);
    room.owners.resize(places);
    auto const net = [&](std::uint32_t entry) {
        return static_cast<std::int64_t>(gains.values[entry]) - room.prices[gains.places[entry]];
    };

    for (std::uint32_t bidder = 0; bidder < gains.bidders(); ++bidder) {
        std::int64_t best = 0;
        std::uint32_t favourite = nobody;
        for (std::uint32_t entry = gains.offsets[bidder]; entry < gains.offsets[bidder + 1]; ++entry) {
            std::int64_t const better = below(best, net(entry));
            favourite ^= (favourite ^ entry) & static_cast<std::uint32_t>(better);
            best += (net(entry) - best) & better;
        }
        room.profits[bidder] = best;
        if (favourite == nobody) {
            continue;
        }
        if (room.bidder_of[gains.places[favourite]] == nobody) {
            room.bidder_of[gains.places[favourite]] = bidder;
            room.won[bidder] = favourite;
            continue;
        }

        std::uint64_t reached = 0;
        std::uint64_t settled = 0;
        // Going without is a way as well: for the bidder at hand, and for whomever another displaces.
        std::int64_t shortest = best;
        std::uint32_t loser = bidder;
        std::uint32_t end = nobody;
        std::int64_t so_far = 0;
        for (std::uint32_t from = bidder; from != nobody;) {
            for (std::uint32_t entry = gains.offsets[from]; entry < gains.offsets[from + 1]; ++entry) {
                std::uint32_t const place = gains.places[entry];
                std::uint64_t const bit = std::uint64_t{1} << place;
                std::int64_t const through = so_far + room.profits[from] - net(entry);
                if ((settled & bit) == 0 && ((reached & bit) == 0 || through < room.distances[place])) {
                    room.distances[place] = through;
                    room.before[place] = entry;
                    room.owners[place] = from;
                    reached |= bit;
                }
            }
            std::uint32_t nearest = nobody;
            for (std::uint64_t open = reached & ~settled; open != 0; open &= open - 1) {
                auto const place = static_cast<std::uint32_t>(std::countr_zero(open));
                nearest = nearest == nobody || room.distances[place] < room.distances[nearest] ? place : nearest;
            }
            if (nearest == nobody || room.distances[nearest] >= shortest) {
                break;
            }
            so_far = room.distances[nearest];
            settled |= std::uint64_t{1} << nearest;
            from = room.bidder_of[nearest];
            std::int64_t const without = so_far + (from == nobody ? 0 : room.profits[from]);
            if (without < shortest) {
                shortest = without;
                loser = from;
                end = nearest;
            }
        }

        for (; settled != 0; settled &= settled - 1) {
            auto const place = static_cast<std::uint32_t>(std::countr_zero(settled));
            if (std::int64_t const rise = shortest - room.distances[place]; rise > 0) {
                room.prices[place] += rise;
                room.profits[room.bidder_of[place]] -= rise;
            }
        }
        room.profits[bidder] -= shortest;
        if (loser != nobody) {
            room.won[loser] = nobody;
        }
        // Everybody on the way takes the place by which the next one was reached, and leaves the one held so far.
        while (end != nobody) {
            std::uint32_t const taker = room.owners[end];
            room.bidder_of[end] = taker;
            std::uint32_t const left = std::exchange(room.won[taker], room.before[end]);
            end = left == nobody ? nobody : gains.places[left];
        }
    }
}

}  // namespace evenkeel::detail
