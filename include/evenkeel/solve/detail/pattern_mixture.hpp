// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace evenkeel::detail {

/// What one rank holds: so many items of each size.
inline constexpr std::size_t most_pattern_sizes = 24;
using size_pattern = std::array<std::uint32_t, most_pattern_sizes>;

/// Calls `visit` with each size of which a pattern holds some, and how many.
template <class Visit>
void for_each_size(size_pattern const& pattern, Visit visit) {
    for (std::size_t size = 0; size < pattern.size(); ++size) {
        if (pattern[size] > 0) {
            visit(size, pattern[size]);
        }
    }
}

/// As many patterns as there are sizes, and how often each is used so that together they hold a batch, fractions of
/// ranks allowed: the basis of a cutting stock programme.
///
/// Prices, one per size, follow from the patterns: any pattern that is worth more than a rank improves the mixture when
/// it takes the place of another (P. C. Gilmore and R. E. Gomory, A linear programming approach to the cutting-stock
/// problem, 1961). Prices are also a proof, whatever they are: some rank has at least a mean share of the value of all
/// items, so it has at least the least load that is worth as much. This sees which sums a few sizes can make, which no
/// bound on the weights alone does.
///
/// All numbers are integers: fractions have the determinant of the patterns as their common denominator, and the
/// programme ends before one leaves its range.
class pattern_mixture {
  public:
    // nvcc takes __extension__ before a typedef, not before an alias.
    __extension__ typedef __int128 wide;

    /// Begins with patterns of one size each.
    ///
    /// @param counts  Items of each size; one to `most_pattern_sizes` of them.
    /// @param fit     Of each size, how many items a rank holds of it alone: at least one.
    void reset(std::span<std::uint64_t const> counts, std::span<std::uint64_t const> fit) {
        size_ = counts.size();
        std::ranges::copy(counts, counts_.begin());
        determinant_ = 1;
        exact_ = true;
        for (std::size_t size = 0; size < size_; ++size) {
            patterns_[size] = {};
            patterns_[size][size] = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(fit[size], std::numeric_limits<std::uint32_t>::max()));
            determinant_ = checked(wide{determinant_} * patterns_[size][size]);
        }
        for (std::size_t row = 0; row < size_; ++row) {
            inverse_[row] = {};
            inverse_[row][row] = exact_ ? determinant_ / patterns_[row][row] : 0;
        }
        weigh_use();
        set_prices();
    }

    /// Whether no number has left its range. Nothing else means anything then.
    [[nodiscard]] bool exact() const noexcept { return exact_; }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// What an item of a size is worth. It takes patterns of more than `worth_of_rank` to improve the mixture.
    [[nodiscard]] std::int64_t price(std::size_t size) const noexcept { return prices_[size]; }
    [[nodiscard]] std::int64_t worth_of_rank() const noexcept { return determinant_; }

    /// What some rank of so many holds at least.
    [[nodiscard]] std::int64_t share(std::size_t ranks) noexcept {
        wide value = 0;
        for (std::size_t size = 0; size < size_; ++size) {
            value += wide{prices_[size]} * static_cast<std::int64_t>(counts_[size]);
        }
        auto const parts = static_cast<std::int64_t>(ranks);
        return checked(value / parts + (value % parts != 0 ? 1 : 0));
    }

    /// Lets a pattern take the place of that one which is used up first when it is used.
    void enter(size_pattern const& entering) noexcept {
        std::array<std::int64_t, most_pattern_sizes> displaces{};
        std::size_t leaving = most_pattern_sizes;
        for (std::size_t row = 0; row < size_; ++row) {
            wide sum = 0;
            for (std::size_t size = 0; size < size_; ++size) {
                sum += wide{inverse_[row][size]} * entering[size];
            }
            displaces[row] = checked(sum);
            if (displaces[row] > 0 && (leaving == most_pattern_sizes ||
                                       wide{use_[row]} * displaces[leaving] < wide{use_[leaving]} * displaces[row])) {
                leaving = row;
            }
        }
        if (!exact_ || leaving == most_pattern_sizes) {
            exact_ = false;
            return;
        }
        for (std::size_t row = 0; row < size_; ++row) {
            for (std::size_t size = 0; row != leaving && size < size_; ++size) {
                wide const scaled =
                    wide{inverse_[row][size]} * displaces[leaving] - wide{inverse_[leaving][size]} * displaces[row];
                inverse_[row][size] = checked(scaled / determinant_);
            }
        }
        determinant_ = displaces[leaving];
        patterns_[leaving] = entering;
        weigh_use();
        set_prices();
    }

    /// Whether the patterns hold the batch on no more than so many ranks.
    [[nodiscard]] bool fits(std::size_t ranks) const noexcept {
        wide used = 0;
        for (std::size_t row = 0; row < size_; ++row) {
            used += use_[row];
        }
        return exact_ && used <= wide{determinant_} * static_cast<std::int64_t>(ranks);
    }

    [[nodiscard]] size_pattern const& pattern(std::size_t row) const noexcept { return patterns_[row]; }

    /// How many whole ranks use a pattern, and what is left of a rank after that, in parts of `worth_of_rank`.
    [[nodiscard]] std::uint64_t whole_uses(std::size_t row) const noexcept {
        return static_cast<std::uint64_t>(use_[row] / determinant_);
    }
    [[nodiscard]] std::uint64_t part_of_use(std::size_t row) const noexcept {
        return static_cast<std::uint64_t>(use_[row] % determinant_);
    }

    /// Ends the programme where a number, and what is made of it, would leave its range.
    std::int64_t checked(wide number) noexcept {
        exact_ = exact_ && number <= largest && number >= -largest;
        return exact_ ? static_cast<std::int64_t>(number) : 1;
    }

  private:
    /// Products of two such numbers and sums of a few of those fit into 128 bits.
    static constexpr std::int64_t largest = std::int64_t{1} << 50;

    void weigh_use() noexcept {
        for (std::size_t row = 0; row < size_; ++row) {
            wide sum = 0;
            for (std::size_t size = 0; size < size_; ++size) {
                sum += wide{inverse_[row][size]} * static_cast<std::int64_t>(counts_[size]);
            }
            exact_ = exact_ && sum >= 0 && sum <= std::numeric_limits<std::int64_t>::max();
            use_[row] = exact_ ? static_cast<std::int64_t>(sum) : 0;
        }
    }

    void set_prices() noexcept {
        for (std::size_t size = 0; size < size_; ++size) {
            wide price = 0;
            for (std::size_t row = 0; row < size_; ++row) {
                price += inverse_[row][size];
            }
            prices_[size] = std::max<std::int64_t>(0, checked(price));
        }
    }

    std::size_t size_ = 0;
    bool exact_ = true;
    std::array<std::uint64_t, most_pattern_sizes> counts_{};
    std::array<size_pattern, most_pattern_sizes> patterns_{};
    std::array<std::array<std::int64_t, most_pattern_sizes>, most_pattern_sizes> inverse_{};  ///< times the determinant
    std::int64_t determinant_ = 1;
    std::array<std::int64_t, most_pattern_sizes> use_{};  ///< of each pattern, times the determinant
    std::array<std::int64_t, most_pattern_sizes> prices_{};
};

}  // namespace evenkeel::detail
