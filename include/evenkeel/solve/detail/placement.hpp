// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace evenkeel::detail {

/// Which items each rank has while a search moves them about: one list per rank, heaviest item first.
///
/// The lists share one pool of memory. A list that outgrows its place moves to the end of the pool, with room to grow;
/// when the pool is full, all lists are packed anew. So nothing is allocated once a batch of the same shape has been
/// seen.
class placement {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        lists_.reserve(ranks);
        for (auto* const weights : {&pool_weights_, &spare_weights_}) {
            weights->reserve(memory(items, ranks));
        }
        for (auto* const numbers : {&pool_items_, &spare_items_}) {
            numbers->reserve(memory(items, ranks));
        }
    }

    /// @param weights  Of all items, in falling order.
    /// @param rank_of  The rank that has each.
    void reset(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of, std::size_t ranks) {
        lists_.assign(ranks, {});
        for (auto const rank : rank_of) {
            ++lists_[rank].capacity;
        }
        fill<true>(weights, rank_of);
    }

    /// How many items a rank has, and what they weigh.
    struct summary {
        std::size_t count = 0;
        std::uint64_t load = 0;
    };

    /// The same for who knows that of each rank.
    void reset(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of,
               std::span<summary const> known) {
        lists_.assign(known.size(), {});
        for (std::size_t rank = 0; rank < known.size(); ++rank) {
            lists_[rank].capacity = known[rank].count;
            lists_[rank].load = known[rank].load;
        }
        fill<false>(weights, rank_of);
    }

    /// Counts what a rank has besides its items.
    void add_load(std::size_t rank, std::uint64_t load) noexcept { lists_[rank].load += load; }

    [[nodiscard]] std::size_t ranks() const noexcept { return lists_.size(); }
    [[nodiscard]] std::uint64_t load(std::size_t rank) const noexcept { return lists_[rank].load; }

    [[nodiscard]] std::uint64_t busiest_load() const noexcept {
        return std::ranges::max_element(lists_, {}, &rank_list::load)->load;
    }

    /// The weights of the items of `rank`, in falling order; valid until the next `insert`.
    [[nodiscard]] std::span<std::uint64_t const> weights(std::size_t rank) const noexcept {
        return std::span{pool_weights_}.subspan(lists_[rank].begin, lists_[rank].size);
    }

    /// The items themselves.
    [[nodiscard]] std::span<std::uint32_t const> items(std::size_t rank) const noexcept {
        return std::span{pool_items_}.subspan(lists_[rank].begin, lists_[rank].size);
    }

    void remove(std::size_t rank, std::size_t position) noexcept {
        auto& own = lists_[rank];
        auto const place = static_cast<std::ptrdiff_t>(own.begin + position);
        auto const end = static_cast<std::ptrdiff_t>(own.begin + own.size);
        own.load -= pool_weights_[static_cast<std::size_t>(place)];
        --own.size;
        std::move(pool_weights_.begin() + place + 1, pool_weights_.begin() + end, pool_weights_.begin() + place);
        std::move(pool_items_.begin() + place + 1, pool_items_.begin() + end, pool_items_.begin() + place);
    }

    void insert(std::size_t rank, std::uint32_t item, std::uint64_t weight) {
        if (lists_[rank].size == lists_[rank].capacity) {
            grow(rank);
        }
        auto& own = lists_[rank];
        // Item numbers follow the falling order of the weights.
        std::size_t const end = own.begin + own.size;
        std::size_t place = end;
        if (own.size <= 32) {
            for (; place > own.begin && pool_items_[place - 1] > item; --place) {
                pool_items_[place] = pool_items_[place - 1];
                pool_weights_[place] = pool_weights_[place - 1];
            }
        } else {
            auto* const numbers = pool_items_.data();
            auto* const weights = pool_weights_.data();
            place = static_cast<std::size_t>(std::lower_bound(numbers + own.begin, numbers + end, item) - numbers);
            std::move_backward(numbers + place, numbers + end, numbers + end + 1);
            std::move_backward(weights + place, weights + end, weights + end + 1);
        }
        pool_items_[place] = item;
        pool_weights_[place] = weight;
        ++own.size;
        own.load += weight;
        if (inserted_ < most_noted) {
            noted_[inserted_] = {item, static_cast<std::uint32_t>(rank)};
        }
        ++inserted_;
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

    void store(std::span<std::uint32_t> rank_of) const noexcept {
        for (std::size_t rank = 0; rank < ranks(); ++rank) {
            for (auto const item : items(rank)) {
                rank_of[item] = static_cast<std::uint32_t>(rank);
            }
        }
    }

  private:
    static constexpr std::size_t headroom = 4;
    static constexpr std::size_t most_noted = 64;

    /// The lists with their headroom, and twice the items beside them.
    [[nodiscard]] static std::size_t memory(std::size_t items, std::size_t ranks) noexcept {
        return 3 * items + headroom * (ranks + 1);
    }

    struct rank_list {
        std::size_t begin = 0;
        std::size_t size = 0;
        std::size_t capacity = 0;
        std::uint64_t load = 0;
    };

    /// Fills lists of which only the capacities are there, without headroom, and adds up what is in them, if asked to.
    template <bool add_up>
    void fill(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of) {
        inserted_ = 0;
        limit_ = memory(weights.size(), lists_.size());
        if (pool_items_.size() < limit_) {
            pool_weights_.resize(limit_);
            spare_weights_.resize(limit_);
            pool_items_.resize(limit_);
            spare_items_.resize(limit_);
        }
        end_ = 0;
        for (auto& own : lists_) {
            own.capacity += headroom;
            own.begin = std::exchange(end_, end_ + own.capacity);
            // For now, the place of its next item.
            own.size = own.begin;
        }
        if (lists_.size() > most_at_once && !weights.empty() && weights.front() >> 32 == 0) {
            fill_packed<add_up>(weights, rank_of);
        } else {
            for (std::size_t item = 0; item < weights.size(); ++item) {
                auto& own = lists_[rank_of[item]];
                std::size_t const place = own.size++;
                pool_weights_[place] = weights[item];
                pool_items_[place] = static_cast<std::uint32_t>(item);
                own.load += add_up ? weights[item] : 0;
            }
        }
        for (auto& own : lists_) {
            own.size -= own.begin;
        }
    }

    /// To how many lists items go in turn before the caches do not hold the ends of them all.
    static constexpr std::size_t most_at_once = 4096;

    /// With weight and number packed into one, so that half as many ends of lists are written to in turn.
    template <bool add_up>
    void fill_packed(std::span<std::uint64_t const> weights, std::span<std::uint32_t const> rank_of) noexcept {
        for (std::size_t item = 0; item < weights.size(); ++item) {
            auto& own = lists_[rank_of[item]];
            spare_weights_[own.size++] = weights[item] << 32 | item;
            own.load += add_up ? weights[item] : 0;
        }
        for (auto const& own : lists_) {
            for (std::size_t place = own.begin; place < own.size; ++place) {
                pool_weights_[place] = spare_weights_[place] >> 32;
                pool_items_[place] = static_cast<std::uint32_t>(spare_weights_[place]);
            }
        }
    }

    void grow(std::size_t rank) {
        std::size_t const capacity = lists_[rank].size + lists_[rank].size / 2 + headroom;
        if (limit_ - end_ < capacity) {
            pack();
        }
        std::size_t const to = std::exchange(end_, end_ + capacity);
        move_list(lists_[rank], pool_weights_, pool_items_, to);
        lists_[rank].capacity = capacity;
    }

    /// Leaves at least 2 * items + headroom places free, more than the longest list asks for.
    void pack() {
        end_ = 0;
        for (auto& own : lists_) {
            own.capacity = own.size + headroom;
            move_list(own, spare_weights_, spare_items_, std::exchange(end_, end_ + own.capacity));
        }
        std::swap(pool_weights_, spare_weights_);
        std::swap(pool_items_, spare_items_);
    }

    void move_list(rank_list& own, std::vector<std::uint64_t>& to_weights, std::vector<std::uint32_t>& to_items,
                   std::size_t to) const {
        std::copy_n(pool_weights_.data() + own.begin, own.size, to_weights.data() + to);
        std::copy_n(pool_items_.data() + own.begin, own.size, to_items.data() + to);
        own.begin = to;
    }

    std::vector<rank_list> lists_;
    std::vector<std::uint64_t> pool_weights_;
    std::vector<std::uint32_t> pool_items_;
    std::vector<std::uint64_t> spare_weights_;
    std::vector<std::uint32_t> spare_items_;
    std::size_t end_ = 0;
    std::size_t limit_ = 0;  ///< of the pool; it may be larger
    std::size_t inserted_ = 0;
    std::array<insertion, most_noted> noted_{};
};

}  // namespace evenkeel::detail
