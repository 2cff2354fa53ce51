// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/remaining_items.hpp>
#include <evenkeel/solve/detail/room_filler.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wide_mixture.hpp>
#include <evenkeel/solve/detail/wide_pattern.hpp>

namespace evenkeel::detail {

/// Whether ranks have so few items, two or three, that exchanges between them have little to choose from.
[[nodiscard]] constexpr bool few_per_rank(std::size_t items, std::size_t ranks) noexcept {
    return 10 * items <= 33 * ranks;
}

/// The patterns that a mixture begins with: those of a fill in fractions.
///
///     7 7 7 5 5 on ranks of 12: 7 and 5 on two ranks, then 7 alone on one
///
/// Each holds the heaviest item that is left and others that go with it, and is used on as many ranks, parts of one
/// included, as there are items for; then all items of one size are placed. With few items per rank the others are as
/// many as fit of each size in turn, heaviest first; with more, the fewest that fill the room, as in `exact_fill`.
class first_patterns {
  public:
    void reserve(std::size_t items, std::size_t sizes) {
        left_.reserve(sizes);
        remaining_.reserve(items);
    }

    /// @param sizes     Of the items, heaviest first.
    /// @param capacity  Of a rank, at least the heaviest weight.
    void operator()(std::span<size_count const> sizes, sorted_items const& items, std::size_t ranks,
                    std::uint64_t capacity, wide_mixture& mixture, step_budget& steps) {
        sizes_ = sizes;
        capacity_ = capacity;
        total_ = items.total;
        remaining_.reset(items.weights);
        mixture.reset(sizes.size());
        left_.clear();
        for (auto const& [weight, count] : sizes) {
            left_.push_back(static_cast<std::int64_t>(count) * wide_mixture::whole);
        }
        bool const few = few_per_rank(items.size(), ranks);
        for (std::size_t heaviest = 0; heaviest < sizes.size();) {
            std::uint64_t const used = static_cast<std::uint64_t>(mixture.ranks()) >> wide_mixture::fraction_bits;
            std::uint64_t const ranks_left = ranks - std::min<std::uint64_t>(used, ranks - 1);
            use_up(few ? longest_first_from(heaviest) : filling_from(heaviest, ranks_left, steps), mixture);
            while (heaviest < sizes.size() && left_[heaviest] == used_up) {
                ++heaviest;
            }
        }
        steps.spend(sizes.size() * sizes.size() + items.size());
    }

  private:
    static constexpr std::int64_t used_up = -1;

    /// Items of a size that are left, where a part of one counts as one.
    [[nodiscard]] std::uint64_t items_left(std::size_t size) const noexcept {
        return static_cast<std::uint64_t>(left_[size] + wide_mixture::whole - 1) >> wide_mixture::fraction_bits;
    }

    /// As many as fit of each size in turn. Every size has its turn, even if others left nothing of it.
    [[nodiscard]] wide_pattern longest_first_from(std::size_t heaviest) const noexcept {
        wide_pattern pattern;
        std::uint64_t room = capacity_;
        for (std::size_t size = heaviest; size < sizes_.size() && !pattern.full(); ++size) {
            std::uint64_t const items = std::max<std::uint64_t>(items_left(size), size == heaviest ? 1 : 0);
            std::uint64_t const number = std::min({room / sizes_[size].weight, items, wide_pattern::most_of_a_size});
            if (number > 0) {
                pattern.add(size, number);
                room -= number * sizes_[size].weight;
            }
        }
        return pattern;
    }

    /// The heaviest and the fewest others that fill the room.
    [[nodiscard]] wide_pattern filling_from(std::size_t heaviest, std::uint64_t ranks_left, step_budget& steps) {
        wide_pattern pattern;
        pattern.add(heaviest, 1);
        if (left_[heaviest] == 0) {
            return pattern;
        }
        auto const number = static_cast<std::uint32_t>(heaviest);
        std::uint64_t const mean = total_ / ranks_left + (total_ % ranks_left != 0 ? 1 : 0);
        remaining_.hold(number);
        for (auto const size :
             fill_(remaining_, capacity_ - sizes_[heaviest].weight, capacity_ - std::min(capacity_, mean), steps)) {
            auto& last = pattern.holds[pattern.sizes - 1];
            if (last.size == size) {
                ++last.number;
            } else if (!pattern.full()) {
                pattern.add(size, 1);
            }
        }
        remaining_.release(number);
        return pattern;
    }

    /// Adds a pattern, on as many ranks as there are items for.
    void use_up(wide_pattern const& pattern, wide_mixture& mixture) {
        std::size_t first = pattern.holds.front().size;
        std::int64_t use = left_[first] / pattern.holds.front().number;
        for_each_size(pattern, [&](std::size_t size, std::int64_t number) {
            if (left_[size] / number < use) {
                use = left_[size] / number;
                first = size;
            }
        });
        for_each_size(pattern, [&](std::size_t size, std::int64_t number) {
            std::uint64_t const before = items_left(size);
            left_[size] = size == first ? used_up : left_[size] - number * use;
            for (std::uint64_t after = items_left(size); after < before; ++after) {
                static_cast<void>(remaining_.take(static_cast<std::uint32_t>(size)));
                total_ -= sizes_[size].weight;
            }
        });
        mixture.begin_with(pattern, use, first);
    }

    std::span<size_count const> sizes_;
    std::uint64_t capacity_ = 0;
    std::uint64_t total_ = 0;         ///< of what is left
    std::vector<std::int64_t> left_;  ///< of each size, in parts of an item
    remaining_items remaining_;
    room_filler fill_;
};

}  // namespace evenkeel::detail
