// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/pattern_mixture.hpp>

namespace evenkeel::detail {

/// How many ranks of some capacity hold a batch of few sizes, fractions of ranks allowed: the cutting stock programme,
/// see `pattern_mixture`. A pattern weighs what its items do; the most valuable one is found in a table of what loads
/// are worth.
class pattern_program {
  public:
    /// @param sizes     One to `most_pattern_sizes` of them, each at most `capacity`.
    /// @param capacity  Of a rank.
    /// @param most      The largest load that is of interest, at least `capacity`.
    void reset(std::span<size_count const> sizes, std::size_t ranks, std::uint64_t capacity, std::uint64_t most) {
        sizes_.assign(sizes.begin(), sizes.end());
        ranks_ = ranks;
        capacity_ = capacity;
        most_ = most;
        std::array<std::uint64_t, most_pattern_sizes> counts{};
        std::array<std::uint64_t, most_pattern_sizes> fit{};
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            counts[size] = sizes_[size].count;
            fit[size] = capacity / sizes_[size].weight;
        }
        mixture_.reset(std::span{counts}.first(sizes_.size()), std::span{fit}.first(sizes_.size()));
    }

    void reserve(std::uint64_t most) {
        sizes_.reserve(most_pattern_sizes);
        worth_.reserve(static_cast<std::size_t>(most) + 1);
    }

    /// Prices the sizes, raises the capacity to what these prices prove, and lets a better pattern in.
    ///
    /// @return  Whether there was one.
    bool improve() {
        if (capacity_ > most_) {
            return false;
        }
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            // What the largest load is worth.
            static_cast<void>(mixture_.checked(pattern_mixture::wide{mixture_.price(size)} *
                                               static_cast<std::int64_t>(most_ / sizes_[size].weight)));
        }
        if (mixture_.exact()) {
            fill_load_worths(
                sizes_, [&](std::size_t size) { return mixture_.price(size); }, most_, worth_);
            raise_capacity();
        }
        if (!mixture_.exact() || capacity_ > most_ || worth_[capacity_] <= mixture_.worth_of_rank()) {
            return false;
        }
        mixture_.enter(most_valuable());
        return mixture_.exact();
    }

    /// What every plan has on its busiest rank at least; more than `most` if that is proved to be out of reach.
    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

    /// Whether the patterns hold the batch on no more ranks than there are.
    [[nodiscard]] bool fits() const noexcept { return mixture_.fits(ranks_); }

    /// The patterns, and how often each is used.
    [[nodiscard]] pattern_mixture const& mixture() const noexcept { return mixture_; }

    /// What an improvement costs, in steps.
    [[nodiscard]] std::uint64_t steps() const noexcept {
        return most_ * sizes_.size() / 8 + 2 * sizes_.size() * sizes_.size();
    }

  private:
    void raise_capacity() noexcept {
        std::int64_t const share = mixture_.share(ranks_);
        if (mixture_.exact() && worth_[capacity_] < share) {
            auto const from = worth_.begin() + static_cast<std::ptrdiff_t>(capacity_);
            capacity_ = static_cast<std::uint64_t>(std::lower_bound(from, worth_.end(), share) - worth_.begin());
        }
    }

    /// A pattern that is worth worth[capacity].
    [[nodiscard]] size_pattern most_valuable() const noexcept {
        size_pattern result{};
        std::size_t load = capacity_;
        while (worth_[load] > 0) {
            if (worth_[load] == worth_[load - 1]) {
                --load;
                continue;
            }
            std::size_t size = 0;
            while (sizes_[size].weight > load || mixture_.price(size) == 0 ||
                   worth_[load - sizes_[size].weight] + mixture_.price(size) != worth_[load]) {
                ++size;
            }
            ++result[size];
            load -= sizes_[size].weight;
        }
        return result;
    }

    std::vector<size_count> sizes_;
    std::size_t ranks_ = 1;
    std::uint64_t capacity_ = 0;
    std::uint64_t most_ = 0;
    pattern_mixture mixture_;
    std::vector<std::int64_t> worth_;  ///< of each load
};

}  // namespace evenkeel::detail
