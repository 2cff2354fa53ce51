// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/place/detail/gains.hpp>

namespace evenkeel::detail {

/// The state of an auction. Place k has the slots `offsets[k] .. offsets[k + 1])`, of which `taken[k]` are filled.
struct auction_room {
    std::vector<std::uint64_t> slots;     ///< of every place, cheapest first: bids with bidders, or 0 with nobody
    std::vector<std::uint64_t> prices;    ///< by place: of its cheapest slot; 0 as long as one is free
    std::vector<std::uint32_t> place_of;  ///< by bidder; `nobody`: it gains next to nothing anywhere
    std::vector<std::uint32_t> waiting;   ///< bidders, first come, first served: a ring

    std::vector<std::uint32_t> won;      ///< by bidder: its entry; `nobody`
    std::vector<std::uint32_t> bidders;  ///< by slot
    std::vector<std::uint32_t> taken;    ///< by place
};

/// The price of a place without slots: above all values, and far enough from the end for signed differences.
inline constexpr std::uint64_t prohibitive = std::uint64_t{1} << 62;

/// Gives every bidder a slot of the place that is best for it at the prices that come about, or none where it gains
/// no more than `increment`.
///
/// The auction with similar objects of Bertsekas and Castanon (1989): a bidder offers for the cheapest slot of its best
/// place as much as makes its second best place as good, and a little more; whom it displaces waits for its turn.
/// Prices start at 0 and a slot once taken stays taken, so a place with a free slot costs nothing throughout and a
/// bidder never has to look at places that it gains nothing from. Every bidder ends within `increment` of the best for
/// it, so the sum of all gains ends within bidders * increment of the largest possible.
///
/// @param offsets    Slots of each place; there may be none.
/// @param increment  At least 1, in units of the format's numbers: 0 in the bits of these.
/// @complexity O(entries * largest value / increment) at worst; about 2 bids per bidder at 1 % of the mean gain.
inline void hold_auction(ticketed_gains const& gains, std::span<std::uint32_t const> offsets, std::uint64_t increment,
                         auction_room& room) {
    auto const format = gains.format;
    std::size_t const places = offsets.size() - 1;
    auto const bidders = static_cast<std::uint32_t>(gains.bidders());
    room.slots.assign(offsets.back(), format.numbers);
    room.prices.resize(places);
    for (std::size_t place = 0; place < places; ++place) {
        room.prices[place] = offsets[place] == offsets[place + 1] ? prohibitive : 0;
    }
    room.place_of.assign(bidders, nobody);
    room.waiting.resize(std::bit_ceil(std::size_t{bidders} + 1));
    std::size_t const ring = room.waiting.size() - 1;
    std::size_t served = 0;
    std::size_t came = 0;
    // Stores to one of these would make the compiler read the addresses of the others anew.
    std::uint64_t* const prices = room.prices.data();
    std::uint64_t* const slots = room.slots.data();
    std::uint32_t* const place_of = room.place_of.data();
    std::uint32_t* const waiting = room.waiting.data();
    std::uint64_t const* const tickets = gains.tickets.data();

    // Puts a bidder on the cheapest slot of `place`; returns the number of whom that displaces.
    auto const seat = [&](std::uint32_t bidder, std::uint32_t place, std::uint64_t bid) {
        std::uint64_t ticket = bid | bidder;
        std::uint32_t const first = offsets[place];
        std::uint32_t const last = offsets[place + 1];
        std::uint32_t const displaced = format.number(slots[first]);
        for (std::uint32_t slot = first + 1; slot < last; ++slot) {
            std::uint64_t const held = slots[slot];
            slots[slot - 1] = ticket < held ? ticket : held;
            ticket = ticket < held ? held : ticket;
        }
        slots[last - 1] = ticket;
        prices[place] = format.value(slots[first]);
        place_of[bidder] = place;
        return displaced;
    };

    std::uint64_t const too_little = increment | format.numbers;
    for (std::uint32_t bidder = 0; bidder < bidders; ++bidder) {
        auto const& wish = gains.wishes[bidder];
        if (wish.best() <= too_little) {
            continue;
        }
        // While the best place is free no other can be better. The second best may have become dearer since, and a bid
        // that is lower for that is a good one as well.
        std::uint32_t const place = format.number(wish.best()) ^ bidder;
        if (prices[place] == 0) {
            seat(bidder, place, format.value(wish.best()) - format.value(wish.second()) + increment);
        } else {
            waiting[came++] = bidder;
        }
    }
    while (served != came) {
        std::uint32_t const bidder = waiting[served++ & ring];
        choice now;
        std::uint32_t const last = gains.offsets[bidder + 1];
        for (std::uint32_t entry = gains.offsets[bidder]; entry < last; ++entry) {
            std::uint64_t const ticket = tickets[entry];
            now.see(ticket - prices[format.number(ticket) ^ bidder]);
        }
        if (now.best() <= too_little) {
            place_of[bidder] = nobody;
            continue;
        }
        std::uint32_t const place = format.number(now.best()) ^ bidder;
        std::uint32_t const displaced =
            seat(bidder, place, format.value(now.best()) + prices[place] - format.value(now.second()) + increment);
        waiting[came & ring] = displaced;
        came += displaced != format.numbers ? 1U : 0U;
    }
}

/// Fills `won`, `bidders` and `taken` after `hold_auction`.
///
/// @return  What no assignment can gain more than, by the prices, as they count values: each bidder's best at these
///          prices, and what the slots cost (linear programming duality; it holds for any prices).
inline std::uint64_t close_auction(ticketed_gains const& gains, std::span<std::uint32_t const> offsets,
                                   auction_room& room) {
    auto const format = gains.format;
    std::size_t const places = offsets.size() - 1;
    room.bidders.resize(offsets.back());
    room.taken.assign(places, 0);
    room.won.resize(gains.bidders());
    std::uint64_t bound = 0;
    for (std::size_t place = 0; place < places; ++place) {
        std::uint64_t const slots = offsets[place + 1] - offsets[place];
        bound += slots == 0 ? 0 : room.prices[place] * slots;
    }
    std::uint64_t const* const prices = room.prices.data();
    std::uint64_t const* const tickets = gains.tickets.data();
    std::uint32_t* const won = room.won.data();
    for (std::uint32_t bidder = 0; bidder < gains.bidders(); ++bidder) {
        std::int64_t best = 0;
        std::uint32_t const own = room.place_of[bidder];
        std::uint32_t entry_won = nobody;
        std::uint32_t const last = gains.offsets[bidder + 1];
        for (std::uint32_t entry = gains.offsets[bidder]; entry < last; ++entry) {
            std::uint32_t const place = format.number(tickets[entry]) ^ bidder;
            best = std::max(best, static_cast<std::int64_t>(tickets[entry] - prices[place]));
            entry_won = place == own ? entry : entry_won;
        }
        bound += format.value(static_cast<std::uint64_t>(best));
        won[bidder] = entry_won;
        if (own != nobody) {
            room.bidders[offsets[own] + room.taken[own]++] = bidder;
        }
    }
    return bound;
}

/// What no assignment can gain more than, by the prices of one: see `close_auction`.
///
/// @param most  Known to be enough; returned where the sum would be more.
inline std::uint64_t dual_bound(gains const& gains, std::span<std::uint32_t const> offsets,
                                std::span<std::uint64_t const> prices, std::uint64_t most) {
    std::uint64_t bound = 0;
    for (std::size_t place = 0; place + 1 < offsets.size(); ++place) {
        std::uint64_t cost = 0;
        if (std::uint64_t const slots = offsets[place + 1] - offsets[place];
            slots > 0 &&
            (__builtin_mul_overflow(prices[place], slots, &cost) || __builtin_add_overflow(bound, cost, &bound))) {
            return most;
        }
    }
    for (std::size_t bidder = 0; bidder < gains.bidders(); ++bidder) {
        std::int64_t best = 0;
        for (std::size_t entry = gains.offsets[bidder]; entry < gains.offsets[bidder + 1]; ++entry) {
            best = std::max(best, static_cast<std::int64_t>(gains.values[entry] - prices[gains.places[entry]]));
        }
        if (__builtin_add_overflow(bound, static_cast<std::uint64_t>(best), &bound)) {
            return most;
        }
    }
    return std::min(bound, most);
}

}  // namespace evenkeel::detail
