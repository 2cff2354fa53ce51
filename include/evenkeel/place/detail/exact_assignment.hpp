// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/place/detail/auction.hpp>

namespace evenkeel::detail {

/// The memory of `assign_exactly`.
struct assignment_room {
    std::vector<std::int64_t> profits;     ///< by bidder: the best that it can have at the prices so far, or 0
    std::vector<std::int64_t> distances;   ///< by place: profit lost on the way from the bidder at hand
    std::vector<std::uint32_t> before;     ///< by place: the entry by which it was reached; `nobody`
    std::vector<std::uint32_t> owners;     ///< by place: the bidder of that entry
    std::vector<std::uint32_t> reached;    ///< places, and not yet settled
    std::vector<std::uint32_t> settled;    ///< places, by distance
    std::vector<std::uint8_t> is_settled;  ///< by place
};

/// Like `hold_auction`, with the largest possible sum of all gains, whatever the gains are.
///
/// Bidder after bidder by the shortest way to a free slot or to a bidder that loses least by going without (Edmonds and
/// Karp 1972, Tomizawa 1971, with prices). An auction with the smallest of increments ends with the same sum, but where
/// more bidders want places of equal gain than there are slots, it creeps there increment by increment.
///
/// @param result  As by `hold_auction`, but for bids. Prices prove the sum: `dual_bound` is equal to it.
/// @complexity O(bidders * (entries + places^2)) at worst; a hundredth of that as a rule
inline void assign_exactly(gains const& gains, std::span<std::uint32_t const> offsets, assignment_room& room,
                           auction_room& result) {
    std::size_t const places = offsets.size() - 1;
    result.bidders.resize(offsets.back());
    result.taken.assign(places, 0);
    result.prices.resize(places);
    for (std::size_t place = 0; place < places; ++place) {
        result.prices[place] = offsets[place] == offsets[place + 1] ? prohibitive : 0;
    }
    result.won.assign(gains.bidders(), nobody);
    room.profits.assign(gains.bidders(), 0);
    room.distances.resize(places);
    room.before.assign(places, nobody);
    room.owners.resize(places);
    room.is_settled.assign(places, 0);

    auto const size = [&](std::uint32_t place) { return offsets[place + 1] - offsets[place]; };
    auto const net = [&](std::uint32_t entry) {
        return static_cast<std::int64_t>(gains.values[entry] - result.prices[gains.places[entry]]);
    };
    auto const slot_of = [&](std::uint32_t bidder, std::uint32_t place) {
        auto const first = result.bidders.begin() + offsets[place];
        return static_cast<std::size_t>(std::find(first, first + size(place), bidder) - result.bidders.begin());
    };
    // What nobody gains from is no way: to go without costs no more.
    auto const look_around = [&](std::uint32_t from, std::int64_t so_far) {
        for (std::uint32_t entry = gains.offsets[from]; entry < gains.offsets[from + 1]; ++entry) {
            std::uint32_t const place = gains.places[entry];
            std::int64_t const gain = net(entry);
            if (gain <= 0 || room.is_settled[place] != 0) {
                continue;
            }
            std::int64_t const through = so_far + (room.profits[from] - gain);
            if (room.before[place] == nobody) {
                room.reached.push_back(place);
            } else if (through >= room.distances[place]) {
                continue;
            }
            room.distances[place] = through;
            room.before[place] = entry;
            room.owners[place] = from;
        }
    };
    auto const is_nearer = [&](std::uint32_t a, std::uint32_t b) {
        return std::pair{room.distances[a], a} < std::pair{room.distances[b], b};
    };

    for (std::uint32_t bidder = 0; bidder < gains.bidders(); ++bidder) {
        for (std::uint32_t entry = gains.offsets[bidder]; entry < gains.offsets[bidder + 1]; ++entry) {
            room.profits[bidder] = std::max(room.profits[bidder], net(entry));
        }
        // Going without is a way as well: for the bidder at hand, and for whomever another displaces.
        std::int64_t shortest = room.profits[bidder];
        std::uint32_t loser = bidder;
        std::uint32_t end = nobody;
        look_around(bidder, 0);
        while (!room.reached.empty()) {
            auto const nearest = std::min_element(room.reached.begin(), room.reached.end(), is_nearer);
            std::uint32_t const place = *nearest;
            std::int64_t const so_far = room.distances[place];
            if (so_far >= shortest) {
                break;
            }
            *nearest = room.reached.back();
            room.reached.pop_back();
            room.settled.push_back(place);
            room.is_settled[place] = 1;
            if (result.taken[place] < size(place)) {
                shortest = so_far;
                loser = nobody;
                end = place;
                break;
            }
            for (std::uint32_t slot = offsets[place]; slot < offsets[place + 1]; ++slot) {
                std::uint32_t const holder = result.bidders[slot];
                if (so_far + room.profits[holder] < shortest) {
                    shortest = so_far + room.profits[holder];
                    loser = holder;
                    end = place;
                }
                look_around(holder, so_far);
            }
        }

        for (std::uint32_t const place : room.settled) {
            if (std::int64_t const rise = shortest - room.distances[place]; rise > 0) {
                result.prices[place] += static_cast<std::uint64_t>(rise);
                for (std::uint32_t slot = 0; slot < result.taken[place]; ++slot) {
                    room.profits[result.bidders[offsets[place] + slot]] -= rise;
                }
            }
        }
        room.profits[bidder] -= shortest;
        // Everybody on the way takes the slot by which the next one was reached, and leaves the one held so far.
        std::size_t slot = 0;
        if (loser == nobody) {
            slot = offsets[end] + result.taken[end]++;
        } else if (loser != bidder) {
            slot = slot_of(loser, end);
            result.won[loser] = nobody;
        }
        while (loser != bidder && end != nobody) {
            std::uint32_t const taker = room.owners[end];
            std::uint32_t const left = std::exchange(result.won[taker], room.before[end]);
            end = left == nobody ? nobody : gains.places[left];
            std::size_t const next = left == nobody ? 0 : slot_of(taker, end);
            result.bidders[slot] = taker;
            slot = next;
        }
        for (auto* const list : {&room.reached, &room.settled}) {
            for (std::uint32_t const place : *list) {
                room.before[place] = nobody;
                room.is_settled[place] = 0;
            }
            list->clear();
        }
    }
}

}  // namespace evenkeel::detail
