// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/wide_mixture.hpp>
#include <evenkeel/solve/detail/wide_pattern.hpp>

namespace evenkeel::detail {

/// Seeks the pattern that is worth most at given prices, out of those that a rank can hold.
///
/// Depth first, what is worth most by its weight first, while the room that is left could still bring more than the
/// best pattern so far (P. C. Gilmore and R. E. Gomory, A linear programming approach to the cutting stock problem,
/// part II, 1963).
class pattern_search {
  public:
    using wide = wide_mixture::wide;

    void reserve(std::size_t sizes) {
        order_.reserve(sizes);
        inverse_.reserve(sizes);
        priced_.reserve(sizes);
    }

    /// @param sizes  Fewer than 2^16 of them; they have to stay where they are.
    void reset(std::span<size_count const> sizes) {
        sizes_ = sizes;
        order_.clear();
        inverse_.clear();
        for (std::uint32_t size = 0; size < sizes.size(); ++size) {
            order_.push_back({.worth = 0, .price = 0, .size = size});
            inverse_.push_back(static_cast<std::int64_t>((std::uint64_t{1} << 62) / sizes[size].weight) + 1);
        }
    }

    /// Takes over the prices of a mixture.
    void set_prices(wide_mixture const& mixture) {
        for (auto& some : order_) {
            some.price = mixture.price(some.size);
            // Rounded up, so that what is left of the room is never worth more than it says.
            some.worth =
                static_cast<std::int64_t>(wide{some.price} * inverse_[some.size] >> wide_mixture::fraction_bits) + 1;
        }
        // The order changes little from time to time.
        for (std::size_t place = 1; place < order_.size(); ++place) {
            auto const moving = order_[place];
            std::size_t to = place;
            for (; to > 0 && before(moving, order_[to - 1]); --to) {
                order_[to] = order_[to - 1];
            }
            order_[to] = moving;
        }
        priced_.clear();
        for (auto const& some : order_) {
            if (some.price > 0) {
                auto const& [weight, count] = sizes_[some.size];
                priced_.push_back({some.worth, some.price, weight, count, weight, some.size});
            }
        }
        for (std::size_t place = priced_.size(); place-- > 1;) {
            priced_[place - 1].least = std::min(priced_[place - 1].least, priced_[place].least);
        }
    }

    /// Seeks a pattern that weighs no more than `capacity` and is worth more than `at_least`.
    ///
    /// @param nodes  How many of its tree the search may visit.
    /// @return       Whether there is one, as far as these tell.
    bool operator()(std::uint64_t capacity, std::int64_t at_least, std::uint64_t nodes) {
        best_worth_ = at_least;
        found_ = false;
        cut_ = false;
        nodes_ = nodes;
        chosen_.sizes = 0;
        add(0, capacity, 0);
        return found_;
    }

    /// Whether the search came to its end.
    [[nodiscard]] bool complete() const noexcept { return nodes_ > 0 && !cut_; }
    [[nodiscard]] std::uint64_t nodes_left() const noexcept { return nodes_; }
    [[nodiscard]] wide_pattern const& best() const noexcept { return best_; }
    [[nodiscard]] std::int64_t worth() const noexcept { return best_worth_; }

  private:
    /// The place of a size in the order.
    struct placed_size {
        std::int64_t worth;  ///< of a unit of weight, in parts of 2^-30 of a price
        std::int64_t price;
        std::uint32_t size;
    };

    struct priced_size {
        std::int64_t worth;
        std::int64_t price;
        std::uint64_t weight;
        std::uint64_t count;
        std::uint64_t least;  ///< the least weight of this and all sizes behind it
        std::uint32_t size;
    };

    [[nodiscard]] static bool before(placed_size const& a, placed_size const& b) noexcept {
        return a.worth > b.worth || (a.worth == b.worth && a.size < b.size);
    }

    /// Adds items of the sizes from `place` on to the chosen ones.
    void add(std::size_t place, std::uint64_t room, std::int64_t worth) noexcept {
        if (nodes_ == 0 || --nodes_ == 0) {
            return;
        }
        if (worth > best_worth_) {
            best_worth_ = worth;
            best_ = chosen_;
            found_ = true;
        }
        if (chosen_.full()) {
            cut_ = cut_ || (place < priced_.size() && room >= priced_[place].least);
            return;
        }
        for (; place < priced_.size() && room >= priced_[place].least; ++place) {
            auto const& some = priced_[place];
            if (worth + (wide{some.worth} * static_cast<std::int64_t>(room) >> 30) <= best_worth_) {
                return;
            }
            if (some.weight > room) {
                continue;
            }
            std::uint64_t const fit = std::min(room / some.weight, some.count);
            cut_ = cut_ || fit > wide_pattern::most_of_a_size;
            auto number = static_cast<std::int64_t>(std::min(fit, wide_pattern::most_of_a_size));
            for (; number > 0 && nodes_ > 0; --number) {
                chosen_.add(some.size, static_cast<std::uint64_t>(number));
                add(place + 1, room - static_cast<std::uint64_t>(number) * some.weight, worth + number * some.price);
                chosen_.remove_last();
            }
        }
    }

    std::span<size_count const> sizes_;
    std::vector<std::int64_t> inverse_;  ///< 2^62 over each weight, rounded up
    std::vector<placed_size> order_;     ///< worth most by its weight first
    std::vector<priced_size> priced_;    ///< the same without what is worth nothing
    std::uint64_t nodes_ = 0;
    bool found_ = false;
    bool cut_ = false;  ///< whether patterns were left out that have more than it takes
    std::int64_t best_worth_ = 0;
    wide_pattern chosen_;
    wide_pattern best_;
};

}  // namespace evenkeel::detail
