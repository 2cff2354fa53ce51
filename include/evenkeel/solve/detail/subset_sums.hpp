// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace evenkeel::detail {

/// The sums of all subsets of a few weights, in rising order, each with the subset that makes it.
///
///     subset_sums of 5 3 2:  0 {}  2 {2}  3 {1}  5 {0}  5 {1, 2}  7 {0, 2}  8 {0, 1}  10 {0, 1, 2}
///
/// Built weight by weight: the sums so far are merged with themselves plus the weight, so nothing is ever sorted
/// (E. Horowitz and S. Sahni, Computing partitions with applications to the knapsack problem, 1974).
/// @complexity O(2^weights), time and memory
class subset_sums {
  public:
    static constexpr std::size_t most_weights = 9;

    void assign(std::span<std::uint64_t const> weights) {
        size_ = 1;
        auto* from = &rows_[weights.size() % 2];
        auto* to = &rows_[1 - weights.size() % 2];
        from->sums[0] = 0;
        from->subsets[0] = 0;
        for (std::size_t bit = 0; bit < weights.size(); ++bit) {
            merge(*from, *to, weights[bit], static_cast<std::uint16_t>(1U << bit));
            std::swap(from, to);
            size_ *= 2;
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t sum(std::size_t index) const noexcept { return rows_[0].sums[index]; }
    [[nodiscard]] std::uint16_t subset(std::size_t index) const noexcept { return rows_[0].subsets[index]; }
    [[nodiscard]] std::span<std::uint64_t const> sums() const noexcept { return std::span{rows_[0].sums}.first(size_); }

  private:
    struct row {
        std::array<std::uint64_t, std::size_t{1} << most_weights> sums;
        std::array<std::uint16_t, std::size_t{1} << most_weights> subsets;
    };

    void merge(row const& from, row& to, std::uint64_t weight, std::uint16_t bit) const noexcept {
        std::size_t without = 0;
        std::size_t with = 0;
        std::size_t place = 0;
        // The sums without the weight run out first: each is at most itself plus the weight.
        while (without < size_) {
            bool const take_without = from.sums[without] <= from.sums[with] + weight;
            to.sums[place] = take_without ? from.sums[without] : from.sums[with] + weight;
            to.subsets[place] =
                take_without ? from.subsets[without] : static_cast<std::uint16_t>(from.subsets[with] | bit);
            without += take_without ? 1 : 0;
            with += take_without ? 0 : 1;
            ++place;
        }
        for (; with < size_; ++with, ++place) {
            to.sums[place] = from.sums[with] + weight;
            to.subsets[place] = static_cast<std::uint16_t>(from.subsets[with] | bit);
        }
    }

    std::size_t size_ = 0;
    std::array<row, 2> rows_;
};

}  // namespace evenkeel::detail
