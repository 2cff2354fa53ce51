// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/bargain.hpp>
#include <evenkeel/solve/detail/roster.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Brings every rank down to its capacity by exchanges that break no limit.
///
/// As `repair`, for ranks that differ in what they may carry and exchanges that have more to respect: one bundle
/// against one or none, then two of the lightest against up to two. An exchange moves the whole excess and as little
/// more as possible, or fills the partner's room nearly; it lifts no rank above its capacity and breaks no limit
/// further, so a placement never gets worse.
class level_loads {
  public:
    void reserve(std::size_t bundles, std::size_t ranks) {
        gives_.reserve(bundles);
        takes_.reserve(bundles);
        over_.reserve(ranks);
        heap_.reserve(most_entries_ = 2 * ranks + 2);
    }

    /// @param capacities  Of the ranks.
    /// @param turn        Differs from try to try, so that other partners are met.
    /// @return            Whether every rank is within its capacity.
    bool operator()(roster& ranks, std::span<std::uint64_t const> capacities, std::size_t turn, step_budget& steps) {
        ranks_ = &ranks;
        capacities_ = capacities;
        turn_ = turn;
        steps_ = &steps;
        waste_ = spare() / (4 * ranks.ranks());
        fill_heap();
        constexpr std::array<way, 4> ways{{{.light = 0, .roomiest = 16, .strided = 0, .share = 1},
                                           {.light = 8, .roomiest = 16, .strided = 16, .share = 1},
                                           {.light = 16, .roomiest = 24, .strided = 40, .share = 1},
                                           {.light = 16, .roomiest = 16, .strided = 16, .share = 4}}};
        return std::ranges::any_of(ways, [&](way const& means) { return relieve_all(means); });
    }

  private:
    struct way {
        std::size_t light;     ///< how many of the lightest bundles are paired
        std::size_t roomiest;  ///< how many of the roomiest ranks are tried,
        std::size_t strided;   ///< and how many at a stride through all
        std::uint64_t share;   ///< above 1: also an exchange is taken that moves but this part of what should move
    };

    struct entry {
        std::uint64_t room;
        std::uint32_t rank;
    };

    [[nodiscard]] static bool less_room(entry const& a, entry const& b) noexcept {
        return a.room < b.room || (a.room == b.room && a.rank > b.rank);
    }

    [[nodiscard]] std::uint64_t load(std::size_t rank) const noexcept { return (*ranks_)[rank].load; }
    [[nodiscard]] bool over(std::size_t rank) const noexcept { return load(rank) > capacities_[rank]; }
    [[nodiscard]] std::uint64_t excess(std::size_t rank) const noexcept { return load(rank) - capacities_[rank]; }
    [[nodiscard]] std::uint64_t room(std::size_t rank) const noexcept { return capacities_[rank] - load(rank); }

    /// The room of all ranks that would be left if all were within their capacities.
    [[nodiscard]] std::uint64_t spare() const noexcept {
        std::uint64_t rooms = 0;
        std::uint64_t excesses = 0;
        for (std::size_t rank = 0; rank < ranks_->ranks(); ++rank) {
            if (over(rank)) {
                excesses += excess(rank);
            } else if (__builtin_add_overflow(rooms, room(rank), &rooms)) {
                rooms = rank_limits::none;
            }
        }
        return rooms - std::min(rooms, excesses);
    }

    /// Whether it is worth asking a rank first: one that is nearly at its cap takes next to nothing, whatever its room.
    [[nodiscard]] bool offers_room(std::size_t rank) const noexcept {
        std::uint64_t const cap = ranks_->problem().limits.quantity;
        return load(rank) < capacities_[rank] &&
               (cap == rank_limits::none || (*ranks_)[rank].quantity <= cap - cap / 128);
    }

    void fill_heap() {
        heap_.clear();
        for (std::size_t rank = 0; rank < ranks_->ranks(); ++rank) {
            if (offers_room(rank)) {
                heap_.push_back({room(rank), static_cast<std::uint32_t>(rank)});
            }
        }
        std::ranges::make_heap(heap_, less_room);
    }

    void push(std::uint32_t rank) {
        if (!offers_room(rank)) {
            return;
        }
        if (heap_.size() == most_entries_) {
            fill_heap();
            return;
        }
        heap_.push_back({room(rank), rank});
        std::ranges::push_heap(heap_, less_room);
    }

    /// The rank with most room; entries that are out of date are dropped.
    [[nodiscard]] std::optional<std::uint32_t> pop() {
        while (!heap_.empty()) {
            auto const best = heap_.front();
            std::ranges::pop_heap(heap_, less_room);
            heap_.pop_back();
            if (load(best.rank) < capacities_[best.rank] && room(best.rank) == best.room) {
                return best.rank;
            }
        }
        return std::nullopt;
    }

    bool relieve_all(way const& means) {
        over_.clear();
        for (std::uint32_t rank = 0; rank < ranks_->ranks(); ++rank) {
            if (over(rank)) {
                over_.push_back(rank);
            }
        }
        steps_->spend(ranks_->ranks() / 4 + 1);
        std::ranges::sort(over_, [&](std::uint32_t a, std::uint32_t b) {
            return excess(a) > excess(b) || (excess(a) == excess(b) && a < b);
        });
        std::size_t failures = 0;
        for (auto const rank : over_) {
            while (over(rank) && !steps_->exhausted() && relieve(rank, means)) {
            }
            push(rank);
            failures += over(rank) ? 1U : 0U;
            // A lost cause is not worth the dear means on every rank.
            constexpr std::size_t most_failures = 24;
            if (steps_->exhausted() || (failures >= most_failures && means.light > 8)) {
                return false;
            }
        }
        return failures == 0;
    }

    bool relieve(std::uint32_t rank, way const& means) {
        if (means.light > 0) {
            gives_.open(*ranks_, rank, means.light);
            steps_->spend(cost(gives_));
        }
        std::array<std::uint32_t, 32> tried;
        std::size_t size = 0;
        bool found = false;
        while (!found && size < std::min(means.roomiest, tried.size()) && !steps_->exhausted()) {
            auto const partner = pop();
            if (!partner) {
                break;
            }
            tried[size++] = *partner;
            found = bargain_with(rank, *partner, means);
        }
        std::size_t const stride = std::max<std::size_t>(1, ranks_->ranks() / (means.strided + 1));
        for (std::size_t number = 0; !found && number < means.strided && !steps_->exhausted(); ++number) {
            auto const partner = static_cast<std::uint32_t>((rank + 1 + turn_ + number * stride) % ranks_->ranks());
            if (partner != rank && load(partner) < capacities_[partner]) {
                found = bargain_with(rank, partner, means);
                if (found) {
                    push(partner);
                }
            }
        }
        for (auto const partner : std::span{tried}.first(size)) {
            push(partner);
        }
        return found;
    }

    bool bargain_with(std::uint32_t rank, std::uint32_t partner, way const& means) {
        std::uint64_t const need = excess(rank);
        std::uint64_t const most = room(partner);
        bargain best{*ranks_, rank, partner};
        if (need <= most) {
            for_each_choice(best, means, rank, partner, [&](auto const& gives, auto const& takes) {
                best.seek_smallest(gives, takes, need, most);
            });
        } else {
            for_each_choice(best, means, rank, partner, [&](auto const& gives, auto const& takes) {
                best.seek_largest(gives, takes, most - std::min(most - 1, waste_), most);
            });
        }
        if (best.amount == 0 && means.share > 1) {
            std::uint64_t const moved = std::min(need, most);
            for_each_choice(best, means, rank, partner, [&](auto const& gives, auto const& takes) {
                best.seek_largest(gives, takes, moved / means.share + 1, moved);
            });
        }
        if (best.amount == 0) {
            return false;
        }
        ranks_->exchange(rank, best.give, partner, best.take);
        return true;
    }

    /// Single bundles, then pairs, too: fewer against fewer first.
    template <class Visit>
    void for_each_choice(bargain const& of, way const& means, std::uint32_t rank, std::uint32_t partner, Visit visit) {
        if (means.light == 0) {
            bool const with_nothing = of.may_move(1, 0);
            steps_->spend(32 + 2 * (ranks_->bundles(rank).size() + ranks_->bundles(partner).size()));
            visit(single_hands{*ranks_, rank, false}, single_hands{*ranks_, partner, with_nothing});
            return;
        }
        takes_.open(*ranks_, partner, means.light);
        steps_->spend(32 + cost(takes_) + 4 * (gives_.size() + takes_.size()));
        for (std::size_t give = 1; give <= 2; ++give) {
            for (std::size_t take = 0; take <= 2; ++take) {
                if (of.may_move(give, take)) {
                    visit(menu_hands{gives_.of(give)}, menu_hands{takes_.of(take)});
                }
            }
        }
    }

    /// Steps to open a menu.
    [[nodiscard]] static std::uint64_t cost(hand_menu const& menu) noexcept {
        return 2 * menu.of(1).size() + 16 * menu.of(2).size();
    }

    roster* ranks_ = nullptr;
    std::span<std::uint64_t const> capacities_;
    std::uint64_t waste_ = 0;
    std::size_t turn_ = 0;
    step_budget* steps_ = nullptr;

    std::vector<std::uint32_t> over_;
    std::vector<entry> heap_;
    std::size_t most_entries_ = 0;  ///< not the room that an earlier, larger batch has left
    hand_menu gives_;
    hand_menu takes_;
};

}  // namespace evenkeel::detail
