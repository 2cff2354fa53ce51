// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <evenkeel/solve/detail/pattern_mixture.hpp>
#include <evenkeel/solve/detail/wide_pattern.hpp>

namespace evenkeel::detail {

/// As many patterns as there are sizes, and how often each is used so that together they hold a batch, fractions of
/// ranks allowed: the basis of a cutting stock programme like `pattern_mixture`, for a few hundred sizes.
///
/// Numbers are integers in parts of `whole` and rounded, so prices and uses are a bit off. Neither what patterns hold
/// nor what prices prove depends on that: a pattern is what it is, and any prices prove something.
class wide_mixture {
  public:
    using wide = pattern_mixture::wide;
    static constexpr unsigned fraction_bits = 32;
    static constexpr std::int64_t whole = std::int64_t{1} << fraction_bits;

    void reserve(std::size_t sizes) {
        patterns_.reserve(sizes);
        inverse_.reserve(sizes * sizes);
        for (auto* const numbers : {&use_, &prices_, &displaces_, &times_}) {
            numbers->reserve(sizes);
        }
        rows_.reserve(sizes);
    }

    /// To be followed by as many calls of `begin_with` as there are sizes.
    void reset(std::size_t sizes) {
        size_ = sizes;
        ranks_ = 0;
        in_range_ = true;
        entered_ = 0;
        patterns_.clear();
        use_.clear();
        inverse_.assign(sizes * sizes, 0);
        prices_.assign(sizes, 0);
        displaces_.resize(sizes);
    }

    /// Adds a pattern that is used `use` times, after which all items of the size `used_up` are placed: no later one
    /// holds any of them.
    void begin_with(wide_pattern const& pattern, std::int64_t use, std::size_t used_up) {
        std::size_t const row = patterns_.size();
        std::int64_t number = 1;
        for_each_size(pattern,
                      [&](std::size_t size, std::int64_t of_it) { number = size == used_up ? of_it : number; });
        inverse_[used_up * size_ + row] = whole;
        for (std::size_t before = 0; before < row; ++before) {
            for_each_size(patterns_[before], [&](std::size_t held, std::int64_t times) {
                for (std::size_t size = 0; held == used_up && size < size_; ++size) {
                    auto* const column = inverse_.data() + size * size_;
                    column[row] = checked(column[row] - times * column[before]);
                }
            });
        }
        for (std::size_t size = 0; size < size_; ++size) {
            auto& own = inverse_[size * size_ + row];
            own /= number;
            prices_[size] = checked(wide{prices_[size]} + own);
        }
        patterns_.push_back(pattern);
        use_.push_back(use);
        ranks_ += use;
    }

    /// Whether no number has left its range. Nothing else means anything then.
    [[nodiscard]] bool in_range() const noexcept { return in_range_; }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// What an item of a size is worth. It takes patterns of more than `whole` to improve the mixture.
    [[nodiscard]] std::int64_t price(std::size_t size) const noexcept {
        return std::clamp<std::int64_t>(prices_[size], 0, 2 * whole - 1);
    }
    /// How many ranks the patterns are used on, in parts of `whole`.
    [[nodiscard]] std::int64_t ranks() const noexcept { return ranks_; }

    /// Lets a pattern that is worth more than a rank take the place of that one which is used up first when it is used.
    ///
    /// @return  What it took, in steps.
    std::uint64_t enter(wide_pattern const& entering) noexcept {
        std::int64_t worth = 0;
        for_each_size(entering, [&](std::size_t size, std::int64_t number) { worth += number * prices_[size]; });
        displace(entering);
        std::size_t const leaving = used_up_first();
        if (!in_range_ || leaving == size_) {
            in_range_ = false;
            return size_;
        }
        divisor const by{displaces_[leaving]};
        std::int64_t const use = divided(use_[leaving], by);
        rows_.clear();
        times_.clear();
        std::int64_t most = 1;
        for (std::uint32_t row = 0; row < size_; ++row) {
            std::int64_t const times = displaces_[row];
            if (times != 0 && row != leaving) {
                rows_.push_back(row);
                times_.push_back(times * half_shift);
                most = std::max(most, std::abs(times));
                use_[row] = std::max<std::int64_t>(0, checked(use_[row] - (wide{times} * use >> fraction_bits)));
            }
        }
        use_[leaving] = use;
        std::size_t columns = 0;
        for (std::size_t size = 0; size < size_; ++size) {
            auto* const column = inverse_.data() + size * size_;
            column[leaving] = without_dust(column[leaving]) != 0 ? divided(column[leaving], by) : 0;
            std::int64_t const from = column[leaving];
            static_cast<void>(checked(wide{from} * most >> fraction_bits));
            if (from == 0 || !in_range_) {
                continue;
            }
            ++columns;
            wide const half_shifted = from * half_shift;
            for (std::size_t index = 0; index < rows_.size(); ++index) {
                // Shifted by a whole word, which takes no instruction.
                column[rows_[index]] -= static_cast<std::int64_t>(half_shifted * times_[index] >> 64);
            }
            prices_[size] = checked(prices_[size] + (wide{whole - worth} * from >> fraction_bits));
        }
        ranks_ = checked(ranks_ + (wide{whole - worth} * use >> fraction_bits));
        patterns_[leaving] = entering;
        ++entered_;
        in_range_ = in_range_ && entered_ < most_entered;
        return 4 * size_ + columns * rows_.size();
    }

    [[nodiscard]] wide_pattern const& pattern(std::size_t row) const noexcept { return patterns_[row]; }

    /// How many whole ranks use a pattern, and what is left of a rank after that, in parts of `whole`.
    [[nodiscard]] std::uint64_t whole_uses(std::size_t row) const noexcept {
        return static_cast<std::uint64_t>((use_[row] + dust) / whole);
    }
    [[nodiscard]] std::int64_t part_of_use(std::size_t row) const noexcept {
        std::int64_t const part = (use_[row] + dust) % whole;
        return part > 2 * dust ? part : 0;
    }

  private:
    /// Less than this comes of rounding.
    static constexpr std::int64_t dust = 256;
    /// Sums of as many such numbers as a pattern holds items, and of as many as there are patterns that enter, fit into
    /// 64 bits.
    static constexpr std::int64_t largest = std::int64_t{1} << 46;
    static constexpr std::size_t most_entered = std::size_t{1} << 14;
    static constexpr std::int64_t half_shift = std::int64_t{1} << 16;

    [[nodiscard]] static std::int64_t without_dust(std::int64_t number) noexcept {
        return number > -dust && number < dust ? 0 : number;
    }

    [[nodiscard]] std::int64_t checked(wide number) noexcept {
        in_range_ = in_range_ && number < largest && number > -largest;
        return in_range_ ? static_cast<std::int64_t>(number) : 0;
    }

    /// How much of each pattern the entering one takes the place of.
    void displace(wide_pattern const& entering) noexcept {
        std::ranges::fill(displaces_, 0);
        for_each_size(entering, [&](std::size_t size, std::int64_t number) {
            auto const* const column = inverse_.data() + size * size_;
            std::int64_t most = 0;
            for (std::size_t row = 0; row < size_; ++row) {
                most |= column[row] ^ column[row] >> 63;
            }
            static_cast<void>(checked(most));
            for (std::size_t row = 0; in_range_ && row < size_; ++row) {
                displaces_[row] += number * column[row];
            }
        });
        for (auto& of_row : displaces_) {
            of_row = without_dust(checked(of_row));
        }
    }

    /// The row that is used up first, or nearly so: of those the one of which most is displaced, for what is divided by
    /// little becomes large, its error as well (P. M. J. Harris, Pivot selection methods of the Devex LP code, 1973).
    [[nodiscard]] std::size_t used_up_first() const noexcept {
        constexpr std::int64_t least = whole >> 12;
        constexpr std::int64_t nearly = whole >> 10;
        std::size_t first = size_;
        for (std::size_t row = 0; row < size_; ++row) {
            if (displaces_[row] >= least && (first == size_ || wide{use_[row] + nearly} * displaces_[first] <
                                                                   wide{use_[first] + nearly} * displaces_[row])) {
                first = row;
            }
        }
        std::size_t best = first;
        for (std::size_t row = 0; row < size_ && first < size_; ++row) {
            if (displaces_[row] > displaces_[best] &&
                wide{use_[row]} * displaces_[first] <= wide{use_[first] + nearly} * displaces_[row]) {
                best = row;
            }
        }
        return best;
    }

    /// One over some number: a division once, to divide by it often.
    struct divisor {
        std::int64_t inverse;  ///< 2^61 to 2^62
        unsigned shift;

        explicit divisor(std::int64_t by) noexcept
            : inverse{0}, shift{static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(by))) - 1 + 62} {
            inverse = static_cast<std::int64_t>((wide{1} << shift) / by);
        }
    };

    [[nodiscard]] std::int64_t divided(std::int64_t number, divisor const& by) noexcept {
        return without_dust(checked(wide{number} * by.inverse >> (by.shift - fraction_bits)));
    }

    std::size_t size_ = 0;
    std::int64_t ranks_ = 0;
    bool in_range_ = true;
    std::size_t entered_ = 0;
    std::vector<wide_pattern> patterns_;
    std::vector<std::int64_t> inverse_;  ///< of the patterns, one column per size
    std::vector<std::int64_t> use_;
    std::vector<std::int64_t> prices_;
    std::vector<std::int64_t> displaces_;  ///< how much of each pattern one that enters takes the place of
    std::vector<std::int64_t> times_;      ///< those of them that are not zero, but for the one that leaves
    std::vector<std::uint32_t> rows_;      ///< those of which the entering one takes the place in part
};

}  // namespace evenkeel::detail
