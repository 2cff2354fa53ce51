// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace evenkeel::detail {

/// Lists of items with their weights in one pool of memory, heaviest first, of equal weights the lower number.
///
/// A list that outgrows its place moves to the end of the pool, with room to grow; when the pool is full, all lists are
/// packed anew. So nothing is allocated once a batch of the same shape has been seen.
class item_lists {
  public:
    struct list {
        std::size_t begin = 0;
        std::size_t size = 0;
        std::size_t capacity = 0;
        std::uint64_t load = 0;  ///< for whoever uses the lists
    };

    void reserve(std::size_t items, std::size_t lists) {
        lists_.reserve(lists);
        unsorted_.reserve(items);
        for (auto* const weights : {&weights_, &spare_weights_}) {
            weights->reserve(memory(items, lists));
        }
        for (auto* const numbers : {&items_, &spare_items_}) {
            numbers->reserve(memory(items, lists));
        }
    }

    /// Begins with empty lists that are to have room for nothing.
    void clear(std::size_t lists) { lists_.assign(lists, {}); }

    /// Lays the lists out as large as their capacities say, `items` in all, and some headroom.
    void lay_out(std::size_t items) {
        limit_ = memory(items, lists_.size());
        if (items_.size() < limit_) {
            weights_.resize(limit_);
            spare_weights_.resize(limit_);
            items_.resize(limit_);
            spare_items_.resize(limit_);
        }
        end_ = 0;
        for (auto& own : lists_) {
            own.capacity += headroom;
            own.begin = std::exchange(end_, end_ + own.capacity);
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return lists_.size(); }
    [[nodiscard]] list& operator[](std::size_t number) noexcept { return lists_[number]; }
    [[nodiscard]] list const& operator[](std::size_t number) const noexcept { return lists_[number]; }
    [[nodiscard]] std::span<list> all() noexcept { return lists_; }
    [[nodiscard]] std::span<list const> all() const noexcept { return lists_; }

    /// Of the whole pool.
    [[nodiscard]] std::uint64_t* weights() noexcept { return weights_.data(); }
    [[nodiscard]] std::uint64_t const* weights() const noexcept { return weights_.data(); }
    [[nodiscard]] std::uint32_t* items() noexcept { return items_.data(); }
    [[nodiscard]] std::uint32_t const* items() const noexcept { return items_.data(); }
    /// As large, and free until the next list grows.
    [[nodiscard]] std::uint64_t* scratch() noexcept { return spare_weights_.data(); }

    /// Makes room for so many more in a list.
    void grow(std::size_t number, std::size_t more) {
        if (lists_[number].size + more <= lists_[number].capacity) {
            return;
        }
        std::size_t const capacity = lists_[number].size + std::max(lists_[number].size / 2, more) + headroom;
        if (limit_ - end_ < capacity) {
            pack();
        }
        std::size_t const to = std::exchange(end_, end_ + capacity);
        move_list(lists_[number], weights_, items_, to);
        lists_[number].capacity = capacity;
    }

    /// Where in a list an item stands, or would stand, from some position on.
    [[nodiscard]] std::size_t position_of(std::size_t number, std::uint32_t item, std::uint64_t weight,
                                          std::size_t position = 0) const noexcept {
        auto const* const weights = weights_.data() + lists_[number].begin;
        auto const* const items = items_.data() + lists_[number].begin;
        for (std::size_t left = lists_[number].size - position; left > 0;) {
            std::size_t const half = left / 2;
            std::size_t const middle = position + half;
            bool const later = precedes(weights[middle], items[middle], weight, item);
            position = later ? middle + 1 : position;
            left = later ? left - half - 1 : half;
        }
        return position;
    }

    /// Removes several items, at least one, in the order of the list: in one pass over what follows them.
    template <class Leaving>
    void remove(std::size_t number, std::span<Leaving const> leaving) noexcept {
        auto& own = lists_[number];
        auto* const weights = weights_.data() + own.begin;
        auto* const items = items_.data() + own.begin;
        std::size_t to = 0;
        std::size_t from = 0;
        auto const close_up = [&](std::size_t end) {
            std::move(weights + from, weights + end, weights + to);
            std::move(items + from, items + end, items + to);
            to += end - from;
        };
        for (auto const& one : leaving) {
            std::size_t const position = position_of(number, one.item, one.weight, from);
            if (from > 0) {
                close_up(position);
            } else {
                to = position;
            }
            from = position + 1;
        }
        close_up(own.size);
        own.size = to;
    }

    /// Puts an item in order among the first `size` of a list, which move back as far as they come after it.
    ///
    /// @return  How many have moved.
    std::size_t sift(std::size_t number, std::size_t size, std::uint32_t item, std::uint64_t weight) noexcept {
        auto* const weights = weights_.data() + lists_[number].begin;
        auto* const items = items_.data() + lists_[number].begin;
        std::size_t place = size;
        for (; place > 0 && precedes(weight, item, weights[place - 1], items[place - 1]); --place) {
            items[place] = items[place - 1];
            weights[place] = weights[place - 1];
        }
        items[place] = item;
        weights[place] = weight;
        return size - place;
    }

    /// Puts a whole list in order; quick where most of it is.
    void restore_order(std::size_t number) {
        auto const& own = lists_[number];
        auto* const weights = weights_.data() + own.begin;
        auto* const items = items_.data() + own.begin;
        std::size_t moves = 0;
        for (std::size_t next = 1; next < own.size && moves <= 8 * own.size; ++next) {
            moves += sift(number, next, items[next], weights[next]);
        }
        if (moves <= 8 * own.size) {
            return;
        }
        unsorted_.clear();
        for (std::size_t place = 0; place < own.size; ++place) {
            unsorted_.push_back({items[place], weights[place]});
        }
        sort(std::span{unsorted_});
        for (std::size_t place = 0; place < own.size; ++place) {
            items[place] = unsorted_[place].item;
            weights[place] = unsorted_[place].weight;
        }
    }

    /// Puts several items in the order of lists.
    template <class Arrival>
    static void sort(std::span<Arrival> arrivals) {
        std::ranges::sort(
            arrivals, [](Arrival const& a, Arrival const& b) { return precedes(a.weight, a.item, b.weight, b.item); });
    }

    /// Puts several items, which are in that order, where they belong in a list.
    template <class Arrival>
    void merge(std::size_t number, std::span<Arrival const> arrivals) {
        grow(number, arrivals.size());
        auto& own = lists_[number];
        auto* const weights = weights_.data() + own.begin;
        auto* const items = items_.data() + own.begin;
        std::size_t next = own.size;
        own.size += arrivals.size();
        for (std::size_t left = arrivals.size(), to = own.size; left > 0; --left) {
            auto const& [item, weight] = arrivals[left - 1];
            for (--to; next > 0 && precedes(weight, item, weights[next - 1], items[next - 1]); --to) {
                items[to] = items[--next];
                weights[to] = weights[next];
            }
            items[to] = item;
            weights[to] = weight;
        }
    }

  private:
    static constexpr std::size_t headroom = 4;

    [[nodiscard]] static bool precedes(std::uint64_t weight, std::uint32_t item, std::uint64_t other_weight,
                                       std::uint32_t other) noexcept {
        return weight > other_weight || (weight == other_weight && item < other);
    }

    /// The lists with their headroom, and twice the items beside them.
    [[nodiscard]] static std::size_t memory(std::size_t items, std::size_t lists) noexcept {
        return 3 * items + headroom * (lists + 1);
    }

    /// Leaves at least 2 * items + headroom places free, more than the longest list asks for.
    void pack() {
        end_ = 0;
        for (auto& own : lists_) {
            own.capacity = own.size + headroom;
            move_list(own, spare_weights_, spare_items_, std::exchange(end_, end_ + own.capacity));
        }
        std::swap(weights_, spare_weights_);
        std::swap(items_, spare_items_);
    }

    void move_list(list& own, std::vector<std::uint64_t>& to_weights, std::vector<std::uint32_t>& to_items,
                   std::size_t to) const {
        std::copy_n(weights_.data() + own.begin, own.size, to_weights.data() + to);
        std::copy_n(items_.data() + own.begin, own.size, to_items.data() + to);
        own.begin = to;
    }

    std::vector<list> lists_;
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint32_t> items_;
    std::vector<std::uint64_t> spare_weights_;
    std::vector<std::uint32_t> spare_items_;
    struct entry {
        std::uint32_t item;
        std::uint64_t weight;
    };
    std::vector<entry> unsorted_;
    std::size_t end_ = 0;
    std::size_t limit_ = 0;  ///< of the pool; it may be larger
};

}  // namespace evenkeel::detail
