// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Largest differencing for few ranks: decides which items are not together, and leaves for later who gets which.
///
///     8 7 6 5 4 on two ranks: 8 6 | 7 5 4, so the busiest has 16; longest first makes 17
///
/// Each item starts as a partition of its own. The two partitions whose loads differ most are put together, the
/// heaviest rank of the one with the lightest of the other, until one is left (N. Karmarkar and R. M. Karp 1982, for
/// more than two ranks R. E. Korf 1998). Often closer to the optimum than longest first where ranks and items are few.
///
/// Only loads are put together; which items they are is found by going back from the last partition, if anyone asks.
/// Single items wait in their order, so that few partitions are in the heap at a time.
class differencing {
  public:
    static constexpr std::size_t most_ranks = 16;
    static constexpr std::size_t most_items = 1024;

    /// Whether a batch is small enough.
    [[nodiscard]] static bool suits(std::size_t items, std::size_t ranks) noexcept {
        return items > 0 && items <= most_items && ranks <= most_ranks;
    }

    void reserve(std::size_t items, std::size_t ranks) {
        if (suits(items, ranks)) {
            excesses_.reserve(items);
            merged_.reserve(items);
            steps_.reserve(items);
            ranks_of_slots_.reserve(items);
        }
    }

    /// Puts a placement that is better than the one known, whose busiest rank has a load of `busiest`, in its place.
    void improve(std::span<std::uint64_t const> weights, std::size_t ranks, std::span<std::uint32_t> rank_of,
                 std::uint64_t& busiest) {
        std::uint64_t const reached = difference(weights, ranks);
        if (reached < busiest) {
            busiest = reached;
            write(rank_of);
        }
    }

    /// @param weights  In falling order, at least one, at most `most_items`, of a sum that fits into 64 bits.
    /// @param ranks    At most `most_ranks`.
    /// @param rank_of  Filled with the rank of each item.
    /// @return         The load of the busiest rank.
    /// @complexity     O(items * (ranks^2 + log(items)))
    std::uint64_t operator()(std::span<std::uint64_t const> weights, std::size_t ranks,
                             std::span<std::uint32_t> rank_of) {
        std::uint64_t const busiest = difference(weights, ranks);
        write(rank_of);
        return busiest;
    }

  private:
    /// How much heavier the items of each rank are than those of the lightest one, heaviest first. Which rank of the
    /// whole each of these slots is, is left open.
    using slots = std::array<std::uint64_t, most_ranks>;

    /// A number of four bits for each slot.
    using slot_numbers = std::uint64_t;
    static constexpr slot_numbers in_order = 0xFEDC'BA98'7654'3210;

    struct open_partition {
        std::uint64_t amount;  ///< the difference between the heaviest and the lightest slot
        std::uint32_t first;   ///< the item it started from, by which it is called
        bool single;           ///< whether it is that item alone
    };

    /// That two partitions were put together.
    struct merge {
        std::uint32_t into;
        std::uint32_t from;
        slot_numbers origins;  ///< which slot of `into` became which; `from` counts backwards
    };

    [[nodiscard]] static bool differs_less(open_partition const& a, open_partition const& b) noexcept {
        return a.amount < b.amount || (a.amount == b.amount && a.first > b.first);
    }

    /// Puts partitions together until one is left, and remembers how; returns the load of its busiest rank.
    std::uint64_t difference(std::span<std::uint64_t const> weights, std::size_t ranks) {
        weights_ = weights;
        ranks_ = ranks;
        next_single_ = 0;
        excesses_.resize(weights.size());
        merged_.clear();
        steps_.clear();
        auto into = pop();
        spread(into);
        while (steps_.size() + 1 < weights.size()) {
            auto const from = pop();
            auto& whole = excesses_[into.first];
            auto const origins = from.single ? add_item(whole, weights[from.first]) : add(whole, excesses_[from.first]);
            steps_.push_back({into.first, from.first, origins});
            merged_.push_back({ranks > 1 ? whole[0] : 0, into.first, false});
            std::ranges::push_heap(merged_, differs_less);
            into = pop();
            spread(into);
        }
        auto const& last = excesses_[into.first];
        std::uint64_t total = 0;
        std::uint64_t excess = 0;
        for (auto const weight : weights) {
            total += weight;
        }
        for (std::size_t slot = 0; slot < ranks; ++slot) {
            excess += last[slot];
        }
        return (total - excess) / ranks + last[0];
    }

    /// Takes the partition out whose loads differ most. Single items come in their order.
    [[nodiscard]] open_partition pop() {
        if (next_single_ < weights_.size()) {
            open_partition const single{ranks_ > 1 ? weights_[next_single_] : 0, next_single_, true};
            if (merged_.empty() || differs_less(merged_.front(), single)) {
                ++next_single_;
                return single;
            }
        }
        std::ranges::pop_heap(merged_, differs_less);
        auto const result = merged_.back();
        merged_.pop_back();
        return result;
    }

    /// Gives a single item slots.
    void spread(open_partition const& partition) {
        if (partition.single) {
            excesses_[partition.first].fill(0);
            excesses_[partition.first][0] = weights_[partition.first];
        }
    }

    /// Gives the lightest slot an item.
    slot_numbers add_item(slots& into, std::uint64_t weight) const noexcept {
        std::size_t place = ranks_ - 1;
        std::uint64_t const moving = into[place] + weight;
        for (; place > 0 && into[place - 1] < moving; --place) {
            into[place] = into[place - 1];
        }
        into[place] = moving;
        level(into);
        slot_numbers const before = (slot_numbers{1} << 4 * place) - 1;
        slot_numbers const here = slot_numbers{15} << 4 * place;
        return (in_order & before) | slot_numbers{ranks_ - 1} << 4 * place | (in_order << 4 & ~before & ~here);
    }

    /// Gives the lightest slot the heaviest one of another partition, and so on.
    slot_numbers add(slots& into, slots const& from) const noexcept {
        std::array<std::uint32_t, most_ranks> origin{};
        for (std::size_t next = 0; next < ranks_; ++next) {
            std::uint64_t const moving = into[next] + from[ranks_ - 1 - next];
            std::size_t place = next;
            for (; place > 0 && into[place - 1] < moving; --place) {
                into[place] = into[place - 1];
                origin[place] = origin[place - 1];
            }
            into[place] = moving;
            origin[place] = static_cast<std::uint32_t>(next);
        }
        slot_numbers origins = 0;
        for (std::size_t slot = 0; slot < ranks_; ++slot) {
            origins |= slot_numbers{origin[slot]} << 4 * slot;
        }
        level(into);
        return origins;
    }

    /// Takes off all slots what the lightest one has.
    void level(slots& of) const noexcept {
        std::uint64_t const least = of[ranks_ - 1];
        for (std::size_t slot = 0; slot < ranks_; ++slot) {
            of[slot] -= least;
        }
    }

    /// Goes back from the last partition, whose slots are the ranks, to the items.
    void write(std::span<std::uint32_t> rank_of) {
        ranks_of_slots_.resize(weights_.size());
        ranks_of_slots_[steps_.empty() ? 0 : steps_.back().into] = in_order;
        for (std::size_t step = steps_.size(); step-- > 0;) {
            auto const& [into, from, origins] = steps_[step];
            slot_numbers const whole = ranks_of_slots_[into];
            slot_numbers of_into = 0;
            slot_numbers of_from = 0;
            for (std::size_t slot = 0; slot < ranks_; ++slot) {
                slot_numbers const rank = whole >> 4 * slot & 15;
                std::size_t const origin = origins >> 4 * slot & 15;
                of_into |= rank << 4 * origin;
                of_from |= rank << 4 * (ranks_ - 1 - origin);
            }
            ranks_of_slots_[into] = of_into;
            ranks_of_slots_[from] = of_from;
        }
        for (std::size_t item = 0; item < weights_.size(); ++item) {
            rank_of[item] = static_cast<std::uint32_t>(ranks_of_slots_[item] & 15);
        }
    }

    std::span<std::uint64_t const> weights_;
    std::size_t ranks_ = 0;
    std::uint32_t next_single_ = 0;       ///< the heaviest item that is still on its own
    std::vector<slots> excesses_;         ///< of each partition but single items
    std::vector<open_partition> merged_;  ///< those, as a heap, the one that differs most at the front
    std::vector<merge> steps_;
    std::vector<slot_numbers> ranks_of_slots_;  ///< of each partition
};

}  // namespace evenkeel::detail
