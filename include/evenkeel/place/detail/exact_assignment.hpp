// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/place/detail/auction.hpp>
#include <evenkeel/place/detail/gains.hpp>

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

/// A run of `assign_exactly`: bidder after bidder, each by the shortest way.
class exact_assignment {
  public:
    exact_assignment(gains const& gains, std::span<std::uint32_t const> offsets, assignment_room& room,
                     auction_room& result)
        : gains_{gains}, offsets_{offsets}, room_{room}, result_{result} {
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
    }

    void assign(std::uint32_t bidder) {
        for (std::uint32_t entry = gains_.offsets[bidder]; entry < gains_.offsets[bidder + 1]; ++entry) {
            room_.profits[bidder] = std::max(room_.profits[bidder], net(entry));
        }
        way const shortest = shortest_way(bidder);
        raise_prices(shortest.loss);
        room_.profits[bidder] -= shortest.loss;
        hand_on(bidder, shortest);
        forget();
    }

  private:
    /// What a bidder's coming costs, who goes without then, and the last place on the way there. `nobody` goes without
    /// where a slot was free.
    struct way {
        std::int64_t loss;
        std::uint32_t loser;
        std::uint32_t end;
    };

    [[nodiscard]] std::uint32_t size(std::uint32_t place) const { return offsets_[place + 1] - offsets_[place]; }

    [[nodiscard]] std::int64_t net(std::uint32_t entry) const {
        return static_cast<std::int64_t>(gains_.values[entry] - result_.prices[gains_.places[entry]]);
    }

    [[nodiscard]] std::size_t slot_of(std::uint32_t bidder, std::uint32_t place) const {
        auto const first = result_.bidders.begin() + offsets_[place];
        return static_cast<std::size_t>(std::find(first, first + size(place), bidder) - result_.bidders.begin());
    }

    [[nodiscard]] way shortest_way(std::uint32_t bidder) {
        // Going without is a way as well: for the bidder at hand, and for whomever another displaces.
        way best{.loss = room_.profits[bidder], .loser = bidder, .end = nobody};
        look_around(bidder, 0);
        while (!room_.reached.empty()) {
            auto const nearest =
                std::min_element(room_.reached.begin(), room_.reached.end(), [&](std::uint32_t a, std::uint32_t b) {
                    return std::pair{room_.distances[a], a} < std::pair{room_.distances[b], b};
                });
            std::uint32_t const place = *nearest;
            std::int64_t const so_far = room_.distances[place];
            if (so_far >= best.loss) {
                break;
            }
            *nearest = room_.reached.back();
            room_.reached.pop_back();
            room_.settled.push_back(place);
            room_.is_settled[place] = 1;
            if (result_.taken[place] < size(place)) {
                return {.loss = so_far, .loser = nobody, .end = place};
            }
            for (std::uint32_t slot = offsets_[place]; slot < offsets_[place + 1]; ++slot) {
                std::uint32_t const holder = result_.bidders[slot];
                if (std::int64_t const without = so_far + room_.profits[holder]; without < best.loss) {
                    best = {.loss = without, .loser = holder, .end = place};
                }
                look_around(holder, so_far);
            }
        }
        return best;
    }

    /// What nobody gains from is no way: to go without costs no more.
    void look_around(std::uint32_t from, std::int64_t so_far) {
        for (std::uint32_t entry = gains_.offsets[from]; entry < gains_.offsets[from + 1]; ++entry) {
            std::uint32_t const place = gains_.places[entry];
            std::int64_t const gain = net(entry);
            if (gain <= 0 || room_.is_settled[place] != 0) {
                continue;
            }
            std::int64_t const through = so_far + (room_.profits[from] - gain);
            if (room_.before[place] == nobody) {
                room_.reached.push_back(place);
            } else if (through >= room_.distances[place]) {
                continue;
            }
            room_.distances[place] = through;
            room_.before[place] = entry;
            room_.owners[place] = from;
        }
    }

    /// So that what every bidder has stays the best that it can have.
    void raise_prices(std::int64_t loss) {
        for (std::uint32_t const place : room_.settled) {
            if (std::int64_t const rise = loss - room_.distances[place]; rise > 0) {
                result_.prices[place] += static_cast<std::uint64_t>(rise);
                for (std::uint32_t slot = 0; slot < result_.taken[place]; ++slot) {
                    room_.profits[result_.bidders[offsets_[place] + slot]] -= rise;
                }
            }
        }
    }

    /// Everybody on the way takes the slot by which the next one was reached, and leaves the one held so far.
    void hand_on(std::uint32_t bidder, way const& shortest) {
        std::uint32_t end = shortest.end;
        std::size_t slot = 0;
        if (shortest.loser == nobody) {
            slot = offsets_[end] + result_.taken[end]++;
        } else if (shortest.loser != bidder) {
            slot = slot_of(shortest.loser, end);
            result_.won[shortest.loser] = nobody;
        }
        while (shortest.loser != bidder && end != nobody) {
            std::uint32_t const taker = room_.owners[end];
            std::uint32_t const left = std::exchange(result_.won[taker], room_.before[end]);
            end = left == nobody ? nobody : gains_.places[left];
            std::size_t const next = left == nobody ? 0 : slot_of(taker, end);
            result_.bidders[slot] = taker;
            slot = next;
        }
    }

    void forget() {
        for (auto* const list : {&room_.reached, &room_.settled}) {
            for (std::uint32_t const place : *list) {
                room_.before[place] = nobody;
                room_.is_settled[place] = 0;
            }
            list->clear();
        }
    }

    gains const& gains_;
    std::span<std::uint32_t const> offsets_;
    assignment_room& room_;
    auction_room& result_;
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
    exact_assignment run{gains, offsets, room, result};
    for (std::uint32_t bidder = 0; bidder < gains.bidders(); ++bidder) {
        run.assign(bidder);
    }
}

}  // namespace evenkeel::detail
