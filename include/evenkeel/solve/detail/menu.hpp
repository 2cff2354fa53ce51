// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/light_items.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/subset_sums.hpp>
#include <evenkeel/solve/detail/transfer.hpp>

namespace evenkeel::detail {

/// Whether a rank has tiles, a few sizes over and over: then it takes many items to make a fine difference, and where
/// few of them do not help with one partner, they do not with the next.
///
/// @param weights  Of its items, in falling order.
[[nodiscard]] inline bool of_few_sizes(std::span<std::uint64_t const> weights) noexcept {
    std::size_t sizes = 0;
    std::uint64_t before = 0;
    for (auto const weight : weights) {
        sizes += weight != before ? 1U : 0U;
        before = weight;
    }
    return 3 * sizes <= weights.size();
}

/// Whether a choice is to be spread over light and heavy items of a rank: of fewer, the lightest are nearly the same.
///
/// Light items make fine differences where costs grow with the length alone. Where the square counts as well, a token
/// more or less is too coarse a step, and what the squares of the lightest differ by is too little to make up for it: a
/// long and a short one against two in between, as many tokens, are what it takes.
///
/// @param few_and_fine  Whether loads are; see the function of that name.
[[nodiscard]] inline bool can_spread(std::size_t items, bool few_and_fine) noexcept {
    return items >= (few_and_fine ? 9 : 12);
}

/// What a rank can give in an exchange: choices of its items, by their sum in rising order. The first choice is
/// nothing.
class menu {
  public:
    /// Remembers enough memory for any rank of a batch of `items`.
    void reserve(std::size_t items) { singles_.reserve(items + 1); }

    /// Nothing, or any one item.
    void one_item(placement const& loads, std::uint32_t rank) {
        auto const weights = loads.weights(rank);
        singles_.assign(1, 0);
        singles_.insert(singles_.end(), weights.rbegin(), weights.rend());
        sums_ = singles_;
        single_ = true;
    }

    /// Any of the lightest `most` items together, of which no more than two weigh the same.
    void some_items(placement const& loads, std::uint32_t rank, std::size_t most) {
        light_.choose(loads.weights(rank), most, 2);
        add_up(loads.weights(rank));
    }

    /// Any of `most` items together, light ones as well as heavy ones.
    void spread_items(placement const& loads, std::uint32_t rank, std::size_t most) {
        light_.spread(loads.weights(rank).size(), most);
        add_up(loads.weights(rank));
    }

    [[nodiscard]] std::span<std::uint64_t const> sums() const noexcept { return sums_; }

    /// Takes the items of a choice off the rank.
    ///
    /// @param visit  Is told the number and the weight of each.
    template <class Visit>
    void take_off(placement& loads, std::uint32_t rank, std::size_t choice, Visit visit) const {
        auto const take = [&](std::size_t position) {
            visit(loads.items(rank)[position], loads.weights(rank)[position]);
            loads.remove(rank, position);
        };
        if (single_) {
            if (choice > 0) {
                take(loads.items(rank).size() - choice);
            }
            return;
        }
        // The positions fall, so none changes before its turn.
        for (std::size_t index = 0; index < light_.positions().size(); ++index) {
            if ((subsets_.subset(choice) >> index & 1) != 0) {
                take(light_.positions()[index]);
            }
        }
    }

  private:
    /// Sums of the items that take part, which often weigh the same as the last time, if it was the same rank.
    void add_up(std::span<std::uint64_t const> weights) {
        bool known = summed_ == light_.positions().size();
        summed_ = 0;
        for (auto const position : light_.positions()) {
            known = known && weights[position] == summed_weights_[summed_];
            summed_weights_[summed_++] = weights[position];
        }
        if (!known) {
            subsets_.assign(std::span{summed_weights_}.first(summed_));
        }
        sums_ = subsets_.sums();
        single_ = false;
    }

    std::span<std::uint64_t const> sums_;
    std::vector<std::uint64_t> singles_;
    subset_sums subsets_;
    std::array<std::uint64_t, subset_sums::most_weights> summed_weights_{};  ///< of which `subsets_` are
    std::size_t summed_ = subset_sums::most_weights + 1;                     ///< how many; at first, none are known
    light_items light_;
    bool single_ = true;
};

/// Carries a transfer out between two ranks whose menus it was found in.
inline void exchange(placement& loads, std::uint32_t giver, menu const& gives, std::uint32_t taker, menu const& takes,
                     transfer const& transfer) {
    struct item {
        std::uint32_t number;
        std::uint64_t weight;
    };
    struct hand {
        std::array<item, subset_sums::most_weights> items;
        std::size_t size = 0;
        void operator()(std::uint32_t number, std::uint64_t weight) noexcept { items[size++] = {number, weight}; }
    };
    hand given;
    hand taken;
    gives.take_off(loads, giver, transfer.give, std::ref(given));
    takes.take_off(loads, taker, transfer.take, std::ref(taken));
    for (std::size_t index = 0; index < given.size; ++index) {
        loads.insert(taker, given.items[index].number, given.items[index].weight);
    }
    for (std::size_t index = 0; index < taken.size; ++index) {
        loads.insert(giver, taken.items[index].number, taken.items[index].weight);
    }
}

}  // namespace evenkeel::detail
