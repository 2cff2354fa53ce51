// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

inline constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// What bidders gain from places, as far as it is more than nothing: bidder j from `places[e]` the value `values[e]`,
/// for e in `offsets[j] .. offsets[j + 1])`. Values stay below 2^62.
struct gains {
    std::span<std::uint32_t const> places;
    std::span<std::uint64_t const> values;
    std::span<std::uint32_t const> offsets;

    [[nodiscard]] std::size_t bidders() const noexcept { return offsets.size() - 1; }
};

/// The state of an auction. Place k has the slots `offsets[k] .. offsets[k + 1])`, of which `taken[k]` are filled.
struct auction_room {
    std::vector<std::uint32_t> bidders;   ///< by slot
    std::vector<std::uint64_t> bids;      ///< by slot
    std::vector<std::uint32_t> taken;     ///< by place
    std::vector<std::uint64_t> prices;    ///< by place: of its cheapest slot; 0 as long as one is free
    std::vector<std::uint32_t> cheapest;  ///< by place, once all slots are taken
    std::vector<std::uint32_t> won;       ///< by bidder: its entry; `nobody`: it gains next to nothing anywhere
};

/// The price of a place without slots: above all values, and far enough from the end for signed differences.
inline constexpr std::uint64_t prohibitive = std::uint64_t{1} << 62;

/// All bits if `a` is below `b`, else none, of numbers that differ by less than 2^63.
///
/// Which of two gains is larger is as good as random, and compilers make a branch of every comparison, even of a mask
/// made of one.
[[nodiscard]] constexpr std::int64_t below(std::int64_t a, std::int64_t b) noexcept { return (a - b) >> 63; }

/// The best of the entries seen so far, the gain from it, and the gain from the second best.
struct choice {
    std::uint32_t entry = nobody;
    std::int64_t best = 0;
    std::int64_t second = 0;

    void see(std::uint32_t other, std::uint64_t net) noexcept {
        auto const here = static_cast<std::int64_t>(net);
        std::int64_t const better = below(best, here);
        std::int64_t const rise = (here - best) & better;
        std::int64_t const worse = here - rise;
        entry ^= (entry ^ other) & static_cast<std::uint32_t>(better);
        best += rise;
        second += (worse - second) & below(second, worse);
    }
};

/// What a bidder chooses, where an entry gains `net(entry)`; nothing where that is negative.
template <class Net>
[[nodiscard]] choice choose(std::span<std::uint32_t const> offsets, std::size_t bidder, Net net) {
    choice result;
    std::uint32_t const last = offsets[bidder + 1];
    for (std::uint32_t entry = offsets[bidder]; entry < last; ++entry) {
        result.see(entry, net(entry));
    }
    return result;
}

/// What every bidder chooses as long as all places are free.
struct wish_list {
    std::vector<std::uint32_t> entries;  ///< `nobody`: it gains nothing anywhere
    std::vector<std::uint64_t> margins;  ///< by how much the entry is better than the second best
    std::uint64_t sum = 0;               ///< what all would gain

    void resize(std::size_t bidders) {
        entries.resize(bidders);
        margins.resize(bidders);
        sum = 0;
    }
    void set(std::size_t bidder, choice const& first) noexcept {
        entries[bidder] = first.entry;
        margins[bidder] = static_cast<std::uint64_t>(first.best - first.second);
        sum += static_cast<std::uint64_t>(first.best);
    }
};

/// Gives every bidder a slot of the place that is best for it at the prices that come about, or none where it gains
/// no more than `increment`.
///
/// The auction with similar objects of Bertsekas and Castanon (1989): a bidder offers for the cheapest slot of its best
/// place as much as makes its second best place as good, and a little more; whom it displaces bids next. Prices start
/// at 0 and a slot once taken stays taken, so a place with a free slot costs nothing throughout and a bidder never has
/// to look at places that it gains nothing from. Every bidder ends within `increment` of the best for it, so the sum of
/// all gains ends within bidders * increment of the largest possible.
///
/// @param offsets    Slots of each place; there may be none.
/// @param increment  From 1 to the largest value, or 1.
/// @param wishes     In units of which one is `unit` values.
/// @complexity O(entries * largest value / increment) at worst; about 2 bids per bidder at 1 % of the mean gain.
inline void hold_auction(gains const& gains, std::span<std::uint32_t const> offsets, std::uint64_t increment,
                         wish_list const& wishes, std::uint64_t unit, auction_room& room) {
    std::size_t const places = offsets.size() - 1;
    room.bidders.resize(offsets.back());
    room.bids.resize(offsets.back());
    room.taken.assign(places, 0);
    room.cheapest.resize(places);
    room.prices.resize(places);
    for (std::size_t place = 0; place < places; ++place) {
        room.prices[place] = offsets[place] == offsets[place + 1] ? prohibitive : 0;
    }
    room.won.assign(gains.bidders(), nobody);

    // Puts `bidder` on a slot; returns whom that displaces.
    auto const seat = [&](std::uint32_t bidder, std::uint32_t entry, std::uint64_t bid) {
        std::uint32_t const place = gains.places[entry];
        std::uint32_t const first = offsets[place];
        std::uint32_t const size = offsets[place + 1] - first;
        bool const free = room.taken[place] < size;
        std::uint32_t const slot = first + (free ? room.taken[place]++ : room.cheapest[place]);
        std::uint32_t const displaced = free ? nobody : room.bidders[slot];
        room.won[bidder] = entry;
        room.bidders[slot] = bidder;
        room.bids[slot] = bid;
        if (room.taken[place] == size) {
            std::uint64_t const* const bids = &room.bids[first];
            std::uint32_t lowest = 0;
            std::uint64_t price = bids[0];
            for (std::uint32_t other = 1; other < size; ++other) {
                std::int64_t const lower =
                    below(static_cast<std::int64_t>(bids[other]), static_cast<std::int64_t>(price));
                lowest ^= (lowest ^ other) & static_cast<std::uint32_t>(lower);
                price ^= (price ^ bids[other]) & static_cast<std::uint64_t>(lower);
            }
            room.cheapest[place] = lowest;
            room.prices[place] = price;
        }
        return displaced;
    };

    for (std::uint32_t next = 0; next < gains.bidders(); ++next) {
        std::uint32_t const wish = wishes.entries[next];
        if (wish == nobody) {
            continue;
        }
        // While the best place is free no other can be better. The second best may have become dearer since, and a bid
        // that is lower for that is a good one as well.
        std::uint32_t bidder = next;
        if (room.prices[gains.places[wish]] == 0 && gains.values[wish] > increment) {
            bidder = seat(next, wish, wishes.margins[next] * unit + increment);
        }
        while (bidder != nobody) {
            auto const [entry, best, second] = choose(
                gains.offsets, bidder, [&](auto one) { return gains.values[one] - room.prices[gains.places[one]]; });
            if (static_cast<std::uint64_t>(best) <= increment) {
                room.won[bidder] = nobody;
                break;
            }
            bidder = seat(bidder, entry, gains.values[entry] - static_cast<std::uint64_t>(second) + increment);
        }
    }
}

/// What no assignment can gain more than, by the prices of an auction: each bidder's best at these prices, and what the
/// slots cost (linear programming duality; it holds for any prices).
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
