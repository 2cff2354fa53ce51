// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <evenkeel/place/detail/gains.hpp>

namespace evenkeel::detail {

/// What bidders with a single entry bid for a place.
struct single_bids {
    std::uint64_t best = 0;
    std::uint64_t second = 0;
    std::uint32_t bidder = nobody;  ///< who bids best, the first of them
};

/// The memory of `best_matching`.
struct matching_room {
    std::vector<single_bids> bids;         ///< by place
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

/// Seats the bidders that have a single entry: each place goes to the one that gains most, at the price of the second.
inline void match_singles(gains const& gains, matching_room& room) {
    auto* const bids = room.bids.data();
    for (std::uint32_t bidder = 0; bidder < gains.bidders(); ++bidder) {
        std::uint32_t const entry = gains.offsets[bidder];
        if (gains.offsets[bidder + 1] - entry != 1) {
            continue;
        }
        auto& place = bids[gains.places[entry]];
        std::uint64_t const value = gains.values[entry];
        std::uint64_t const worse = value > place.best ? place.best : value;
        place.bidder = value > place.best ? bidder : place.bidder;
        place.best = value > place.best ? value : place.best;
        place.second = worse > place.second ? worse : place.second;
    }
    for (std::size_t place = 0; place < room.bidder_of.size(); ++place) {
        auto const& [best, second, bidder] = bids[place];
        room.bidder_of[place] = bidder;
        room.prices[place] = static_cast<std::int64_t>(second);
        // Written in any case, for nobody behind all others: whether a place is wanted is as good as random.
        std::size_t const who = bidder == nobody ? gains.bidders() : bidder;
        room.profits[who] = static_cast<std::int64_t>(best - second);
        room.won[who] = gains.offsets[who];
    }
}

/// Gives every place to one bidder at most, so that the sum of all gains is as large as possible, exactly.
///
/// Bidder after bidder by the shortest way to a free place or to a bidder that loses least by going without (Edmonds
/// and Karp 1972, Tomizawa 1971, with prices), those with a single entry all at once beforehand.
///
/// @param places  Up to `most_matched`.
/// @param room    The result is in `bidder_of` and `won`.
/// @complexity O(bidders * (entries + places^2)) at worst; O(entries) where few bidders want the same place.
inline void best_matching(gains const& gains, std::uint32_t places, matching_room& room) {
    auto const bidders = static_cast<std::uint32_t>(gains.bidders());
    room.bids.resize(places);
    room.bidder_of.resize(places);
    room.won.resize(bidders + 1);
    room.prices.resize(places);
    room.profits.resize(bidders + 1);
    room.distances.resize(places);
    room.before.resize(places);
    room.owners.resize(places);
    std::fill(room.bids.begin(), room.bids.end(), single_bids{});
    std::fill(room.won.begin(), room.won.end(), nobody);
    std::fill(room.profits.begin(), room.profits.end(), 0);
    match_singles(gains, room);
    auto const net = [&](std::uint32_t entry) {
        return static_cast<std::int64_t>(gains.values[entry]) - room.prices[gains.places[entry]];
    };

    for (std::uint32_t bidder = 0; bidder < bidders; ++bidder) {
        if (gains.offsets[bidder + 1] - gains.offsets[bidder] < 2) {
            continue;
        }
        std::int64_t best = 0;
        std::uint32_t favourite = nobody;
        for (std::uint32_t entry = gains.offsets[bidder]; entry < gains.offsets[bidder + 1]; ++entry) {
            std::int64_t const gain = net(entry);
            favourite = gain > best ? entry : favourite;
            best = gain > best ? gain : best;
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
