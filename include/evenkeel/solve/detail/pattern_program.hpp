// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// The items of one size.
struct size_count {
    std::uint64_t weight = 0;
    std::uint64_t count = 0;
};

/// How many ranks of some capacity hold a batch of few sizes, fractions of ranks allowed: the cutting stock programme.
///
/// A pattern is what one rank holds: so many of each size, together no heavier than the capacity. The programme keeps
/// as many patterns as there are sizes, and how often each is used so that together they hold the batch. Prices, one
/// per size, follow from them: any pattern that is worth more than a rank improves the mixture when it takes the place
/// of another, and the most valuable one is found in a table of what loads are worth (P. C. Gilmore and R. E. Gomory, A
/// linear programming approach to the cutting-stock problem, 1961).
///
/// Prices are also a proof, whatever they are: some rank has at least a mean share of the value of all items, so it has
/// at least the least load that is worth as much. This sees which sums a few sizes can make, which no bound on the
/// weights alone does.
///
/// All numbers are integers: fractions have the determinant of the patterns as their common denominator, and the
/// programme ends before one leaves its range.
class pattern_program {
  public:
    static constexpr std::size_t most_sizes = 24;
    using pattern = std::array<std::uint32_t, most_sizes>;

    /// @param sizes     One to `most_sizes` of them, each at most `capacity`.
    /// @param capacity  Of a rank.
    /// @param most      The largest load that is of interest, at least `capacity`.
    void reset(std::span<size_count const> sizes, std::size_t ranks, std::uint64_t capacity, std::uint64_t most) {
        sizes_.assign(sizes.begin(), sizes.end());
        ranks_ = ranks;
        capacity_ = capacity;
        most_ = most;
        determinant_ = 1;
        exact_ = true;
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            auto const fit = static_cast<std::uint32_t>(capacity / sizes_[size].weight);
            patterns_[size] = {};
            patterns_[size][size] = fit;
            determinant_ = checked(wide{determinant_} * fit);
        }
        for (std::size_t row = 0; row < sizes_.size(); ++row) {
            inverse_[row] = {};
            inverse_[row][row] = exact_ ? determinant_ / patterns_[row][row] : 0;
        }
        weigh_use();
    }

    void reserve(std::uint64_t most) {
        sizes_.reserve(most_sizes);
        worth_.reserve(static_cast<std::size_t>(most) + 1);
    }

    /// Prices the sizes, raises the capacity to what these prices prove, and lets a better pattern in.
    ///
    /// @return  Whether there was one.
    bool improve() {
        if (capacity_ > most_) {
            return false;
        }
        set_prices();
        if (exact_) {
            fill_worth();
            raise_capacity();
        }
        if (!exact_ || capacity_ > most_ || worth_[capacity_] <= determinant_) {
            return false;
        }
        enter(most_valuable());
        return exact_;
    }

    /// What every plan has on its busiest rank at least; more than `most` if that is proved to be out of reach.
    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

    /// Whether the patterns hold the batch on no more ranks than there are.
    [[nodiscard]] bool fits() const noexcept {
        wide used = 0;
        for (std::size_t row = 0; row < sizes_.size(); ++row) {
            used += use_[row];
        }
        return exact_ && used <= wide{determinant_} * static_cast<std::int64_t>(ranks_);
    }

    [[nodiscard]] pattern const& holds(std::size_t row) const noexcept { return patterns_[row]; }

    /// How many whole ranks use a pattern, and what is left of a rank after that, in parts of `denominator`.
    [[nodiscard]] std::uint64_t whole_uses(std::size_t row) const noexcept {
        return static_cast<std::uint64_t>(use_[row] / determinant_);
    }
    [[nodiscard]] std::uint64_t part_of_use(std::size_t row) const noexcept {
        return static_cast<std::uint64_t>(use_[row] % determinant_);
    }

    /// What an improvement costs, in steps.
    [[nodiscard]] std::uint64_t steps() const noexcept {
        return most_ * sizes_.size() / 8 + 2 * sizes_.size() * sizes_.size();
    }

  private:
    __extension__ typedef __int128 wide;

    /// Products of two such numbers and sums of a few of those fit into 128 bits.
    static constexpr std::int64_t largest = std::int64_t{1} << 50;

    [[nodiscard]] std::int64_t checked(wide number) noexcept {
        exact_ = exact_ && number <= largest && number >= -largest;
        return exact_ ? static_cast<std::int64_t>(number) : 1;
    }

    /// What a rank is worth is the determinant.
    void set_prices() noexcept {
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            wide price = 0;
            for (std::size_t row = 0; row < sizes_.size(); ++row) {
                price += inverse_[row][size];
            }
            prices_[size] = std::max<std::int64_t>(0, checked(price));
            // What a load is worth.
            static_cast<void>(checked(wide{prices_[size]} * static_cast<std::int64_t>(most_ / sizes_[size].weight)));
        }
    }

    /// worth[load]: the most that items of this load are worth, or of less.
    void fill_worth() {
        worth_.assign(static_cast<std::size_t>(most_) + 1, 0);
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            std::int64_t const price = prices_[size];
            if (price == 0) {
                continue;
            }
            std::int64_t const* const before = worth_.data();
            std::int64_t* const after = worth_.data() + sizes_[size].weight;
            std::size_t const loads = worth_.size() - static_cast<std::size_t>(sizes_[size].weight);
            for (std::size_t load = 0; load < loads; ++load) {
                after[load] = std::max(after[load], before[load] + price);
            }
        }
    }

    void raise_capacity() noexcept {
        wide value = 0;
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            value += wide{prices_[size]} * static_cast<std::int64_t>(sizes_[size].count);
        }
        auto const ranks = static_cast<std::int64_t>(ranks_);
        std::int64_t const share = checked(value / ranks + (value % ranks != 0 ? 1 : 0));
        if (exact_ && worth_[capacity_] < share) {
            auto const from = worth_.begin() + static_cast<std::ptrdiff_t>(capacity_);
            capacity_ = static_cast<std::uint64_t>(std::lower_bound(from, worth_.end(), share) - worth_.begin());
        }
    }

    /// A pattern that is worth worth[capacity].
    [[nodiscard]] pattern most_valuable() const noexcept {
        pattern result{};
        std::size_t load = capacity_;
        while (worth_[load] > 0) {
            if (worth_[load] == worth_[load - 1]) {
                --load;
                continue;
            }
            std::size_t size = 0;
            while (sizes_[size].weight > load || prices_[size] == 0 ||
                   worth_[load - sizes_[size].weight] + prices_[size] != worth_[load]) {
                ++size;
            }
            ++result[size];
            load -= sizes_[size].weight;
        }
        return result;
    }

    /// Lets a pattern take the place of that one which is used up first when it is used.
    void enter(pattern const& entering) noexcept {
        std::array<std::int64_t, most_sizes> displaces{};
        std::size_t leaving = most_sizes;
        for (std::size_t row = 0; row < sizes_.size(); ++row) {
            wide sum = 0;
            for (std::size_t size = 0; size < sizes_.size(); ++size) {
                sum += wide{inverse_[row][size]} * entering[size];
            }
            displaces[row] = checked(sum);
            if (displaces[row] > 0 && (leaving == most_sizes ||
                                       wide{use_[row]} * displaces[leaving] < wide{use_[leaving]} * displaces[row])) {
                leaving = row;
            }
        }
        if (!exact_ || leaving == most_sizes) {
            exact_ = false;
            return;
        }
        for (std::size_t row = 0; row < sizes_.size(); ++row) {
            for (std::size_t size = 0; row != leaving && size < sizes_.size(); ++size) {
                wide const scaled =
                    wide{inverse_[row][size]} * displaces[leaving] - wide{inverse_[leaving][size]} * displaces[row];
                inverse_[row][size] = checked(scaled / determinant_);
            }
        }
        determinant_ = displaces[leaving];
        patterns_[leaving] = entering;
        weigh_use();
    }

    void weigh_use() noexcept {
        for (std::size_t row = 0; row < sizes_.size(); ++row) {
            wide sum = 0;
            for (std::size_t size = 0; size < sizes_.size(); ++size) {
                sum += wide{inverse_[row][size]} * static_cast<std::int64_t>(sizes_[size].count);
            }
            exact_ = exact_ && sum >= 0 && sum <= std::numeric_limits<std::int64_t>::max();
            use_[row] = exact_ ? static_cast<std::int64_t>(sum) : 0;
        }
    }

    std::vector<size_count> sizes_;
    std::size_t ranks_ = 1;
    std::uint64_t capacity_ = 0;
    std::uint64_t most_ = 0;
    bool exact_ = true;  ///< no number has left its range

    std::array<pattern, most_sizes> patterns_{};
    std::array<std::array<std::int64_t, most_sizes>, most_sizes> inverse_{};  ///< times the determinant
    std::int64_t determinant_ = 1;
    std::array<std::int64_t, most_sizes> use_{};  ///< of each pattern, times the determinant
    std::array<std::int64_t, most_sizes> prices_{};
    std::vector<std::int64_t> worth_;
};

}  // namespace evenkeel::detail
