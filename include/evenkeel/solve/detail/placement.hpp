// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/solve/detail/item_lists.hpp>

namespace evenkeel::detail {

/// Which items each rank has while a search moves them about: one list per rank, heaviest item first, of equal weights
/// the one with the lower number.
class placement {
  public:
    void reserve(std::size_t items, std::size_t ranks) { lists_.reserve(items, ranks); }

    /// @param weights  Of all items, in falling order.
    /// @param rank_of  The rank that has each.
    void reset(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of, std::size_t ranks) {
        lists_.clear(ranks);
        for (auto const rank : rank_of) {
            ++lists_[rank].capacity;
        }
        start(weights.size());
        if (ranks > most_at_once && !weights.empty() && weights.front() >> 32 == 0) {
            fill_packed(weights, rank_of);
        } else {
            auto* const to_weights = lists_.weights();
            auto* const to_items = lists_.items();
            for (std::size_t item = 0; item < weights.size(); ++item) {
                auto& own = lists_[rank_of[item]];
                to_weights[own.size] = weights[item];
                to_items[own.size++] = static_cast<std::uint32_t>(item);
                own.load += weights[item];
            }
        }
        finish();
    }

    /// How many items a rank has, and what they weigh.
    struct summary {
        std::size_t count = 0;
        std::uint64_t load = 0;
    };

    /// The same for items with other numbers, where that is known of each rank.
    ///
    /// @param weights   Of all items; those of each rank in falling order, or `restore_order` has to follow.
    /// @param numbers   Of the items.
    /// @param for_ranks  Is called with what to call with the index and the rank of each, in rising order.
    template <class ForRanks>
    void reset(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> numbers,
               std::span<summary const> known, ForRanks for_ranks) {
        expect(known);
        start(weights.size());
        auto* const lists = lists_.all().data();
        auto* const to_weights = lists_.weights();
        auto* const to_items = lists_.items();
        for_ranks([=](std::size_t index, std::size_t rank) {
            std::size_t const place = lists[rank].size++;
            to_weights[place] = weights[index];
            to_items[place] = numbers[index];
        });
        finish();
    }

    /// The same for items that are in the order of their ranks. There may be fewer than is known: others follow.
    ///
    /// @param ends  Where those of each rank end.
    void reset(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> numbers,
               std::span<std::size_t const> ends, std::span<summary const> known, std::size_t all) {
        expect(known);
        start(all);
        std::size_t first = 0;
        for (std::size_t rank = 0; rank < known.size(); ++rank) {
            std::size_t const count = ends[rank] - first;
            std::copy_n(weights.data() + first, count, lists_.weights() + lists_[rank].begin);
            std::copy_n(numbers.data() + first, count, lists_.items() + lists_[rank].begin);
            lists_[rank].size += count;
            first = ends[rank];
        }
        finish();
    }

    /// Counts what a rank has besides its items, and no longer.
    void add_load(std::size_t rank, std::uint64_t load) noexcept { lists_[rank].load += load; }
    void take_load(std::size_t rank, std::uint64_t load) noexcept { lists_[rank].load -= load; }

    [[nodiscard]] std::size_t ranks() const noexcept { return lists_.size(); }
    [[nodiscard]] std::uint64_t load(std::size_t rank) const noexcept { return lists_[rank].load; }

    [[nodiscard]] std::uint64_t busiest_load() const noexcept {
        return std::ranges::max_element(lists_.all(), {}, &item_lists::list::load)->load;
    }

    /// The weights of the items of `rank`, in falling order; valid until the next `insert`.
    [[nodiscard]] std::span<std::uint64_t const> weights(std::size_t rank) const noexcept {
        return {lists_.weights() + lists_[rank].begin, lists_[rank].size};
    }

    /// The items themselves.
    [[nodiscard]] std::span<std::uint32_t const> items(std::size_t rank) const noexcept {
        return {lists_.items() + lists_[rank].begin, lists_[rank].size};
    }

    /// Where among the items of `rank` one stands, or would stand.
    [[nodiscard]] std::size_t position_of(std::size_t rank, std::uint32_t item, std::uint64_t weight) const noexcept {
        return lists_.position_of(rank, item, weight);
    }

    void remove(std::size_t rank, std::size_t position) noexcept {
        auto& own = lists_[rank];
        auto* const weights = lists_.weights() + own.begin;
        auto* const items = lists_.items() + own.begin;
        own.load -= weights[position];
        std::move(weights + position + 1, weights + own.size, weights + position);
        std::move(items + position + 1, items + own.size, items + position);
        --own.size;
    }

    /// Removes several at once, at least one, in the order of the list: in one pass over what follows them.
    template <class Leaving>
    void remove(std::size_t rank, std::span<Leaving const> leaving) noexcept {
        for (auto const& one : leaving) {
            lists_[rank].load -= one.weight;
        }
        lists_.remove(rank, leaving);
    }

    void insert(std::size_t rank, std::uint32_t item, std::uint64_t weight) {
        lists_.grow(rank, 1);
        auto& own = lists_[rank];
        if (own.size <= 32) {
            lists_.sift(rank, own.size, item, weight);
        } else {
            std::size_t const place = position_of(rank, item, weight);
            auto* const weights = lists_.weights() + own.begin;
            auto* const items = lists_.items() + own.begin;
            std::move_backward(items + place, items + own.size, items + own.size + 1);
            std::move_backward(weights + place, weights + own.size, weights + own.size + 1);
            items[place] = item;
            weights[place] = weight;
        }
        ++own.size;
        own.load += weight;
        if (inserted_ < most_noted) {
            noted_[inserted_] = {item, static_cast<std::uint32_t>(rank)};
        }
        ++inserted_;
    }

    /// Inserts several at once, whose load has been counted.
    ///
    /// @param arrivals  Items with their weights; are put in order.
    template <class Arrival>
    void insert(std::size_t rank, std::span<Arrival> arrivals) {
        item_lists::sort(arrivals);
        lists_.merge(rank, std::span<Arrival const>{arrivals});
    }

    /// The same for arrivals in falling order, of equal weights the lower number first.
    template <class Arrival>
    void insert_falling(std::size_t rank, std::span<Arrival const> arrivals) {
        lists_.merge(rank, arrivals);
    }

    struct insertion {
        std::uint32_t item;
        std::uint32_t rank;
    };

    /// Whether there were few insertions since `reset`.
    [[nodiscard]] bool changed_little() const noexcept { return inserted_ <= most_noted; }

    /// The insertions since `reset`, in their order, if they were few.
    [[nodiscard]] std::span<insertion const> insertions() const noexcept {
        return std::span{noted_}.first(std::min(inserted_, most_noted));
    }

    /// Puts the items of each rank in order; quick where most of them are.
    void restore_order() {
        for (std::size_t rank = 0; rank < ranks(); ++rank) {
            lists_.restore_order(rank);
        }
    }

    void store(std::span<std::uint32_t> rank_of) const noexcept {
        for (std::size_t rank = 0; rank < ranks(); ++rank) {
            for (auto const item : items(rank)) {
                rank_of[item] = static_cast<std::uint32_t>(rank);
            }
        }
    }

  private:
    static constexpr std::size_t most_noted = 64;

    /// To how many lists items go in turn before the caches do not hold the ends of them all.
    static constexpr std::size_t most_at_once = 4096;

    /// Begins with lists that are to have room for what is known of them, and have that load already.
    void expect(std::span<summary const> known) {
        lists_.clear(known.size());
        for (std::size_t rank = 0; rank < known.size(); ++rank) {
            lists_[rank].capacity = known[rank].count;
            lists_[rank].load = known[rank].load;
        }
    }

    /// Until `finish`, the size of a list is the place of its next item.
    void start(std::size_t items) {
        inserted_ = 0;
        lists_.lay_out(items);
        for (auto& own : lists_.all()) {
            own.size = own.begin;
        }
    }

    void finish() noexcept {
        for (auto& own : lists_.all()) {
            own.size -= own.begin;
        }
    }

    /// With weight and number packed into one, so that half as many ends of lists are written to in turn.
    void fill_packed(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of) noexcept {
        auto* const packed = lists_.scratch();
        for (std::size_t item = 0; item < weights.size(); ++item) {
            auto& own = lists_[rank_of[item]];
            packed[own.size++] = weights[item] << 32 | item;
            own.load += weights[item];
        }
        for (auto const& own : lists_.all()) {
            for (std::size_t place = own.begin; place < own.size; ++place) {
                lists_.weights()[place] = packed[place] >> 32;
                lists_.items()[place] = static_cast<std::uint32_t>(packed[place]);
            }
        }
    }

    item_lists lists_;
    std::size_t inserted_ = 0;
    std::array<insertion, most_noted> noted_{};
};

}  // namespace evenkeel::detail
