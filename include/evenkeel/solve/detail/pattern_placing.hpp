// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/pattern_mixture.hpp>
#include <evenkeel/solve/detail/wide_pattern.hpp>

namespace evenkeel::detail {

/// Gives ranks the patterns of a mixture: first as often as each is used on whole ranks, which are most; then, while
/// there are ranks left, each that is used on a part of one, the larger part first, as far as there are items left.
/// What is left after that goes to the latter ranks, longest first: these may be uneven.
class pattern_placing {
  public:
    void reserve(std::size_t sizes) {
        next_.reserve(sizes);
        end_.reserve(sizes);
        rows_.reserve(sizes);
    }

    /// @param sizes    Of the batch, heaviest first.
    /// @param mixture  A `pattern_mixture` or `wide_mixture`.
    /// @param loads    One per rank.
    /// @param rank_of  Filled with the rank of each item, in the order of the sizes.
    template <class Mixture>
    void operator()(std::span<size_count const> sizes, Mixture const& mixture, std::span<std::uint64_t> loads,
                    std::span<std::uint32_t> rank_of) {
        next_.clear();
        end_.clear();
        std::size_t item = 0;
        for (auto const& [weight, count] : sizes) {
            next_.push_back(item);
            item += count;
            end_.push_back(item);
        }
        std::ranges::fill(loads, 0);
        std::size_t rank = 0;
        rows_.clear();
        for (std::size_t row = 0; row < sizes.size(); ++row) {
            for (std::uint64_t use = mixture.whole_uses(row); use > 0 && rank < loads.size(); --use) {
                give(sizes, mixture.pattern(row), rank++, loads, rank_of);
            }
            if (mixture.part_of_use(row) > 0) {
                rows_.push_back(row);
            }
        }
        std::ranges::sort(rows_, [&](std::size_t a, std::size_t b) {
            auto const part_a = mixture.part_of_use(a);
            auto const part_b = mixture.part_of_use(b);
            return part_a > part_b || (part_a == part_b && a < b);
        });
        std::size_t const rest = rank < loads.size() ? rank : 0;
        for (auto const row : rows_) {
            if (rank < loads.size()) {
                give(sizes, mixture.pattern(row), rank++, loads, rank_of);
            }
        }
        place_rest(sizes, rest, loads, rank_of);
    }

  private:
    /// The items of a pattern, as far as there are some left.
    template <class Pattern>
    void give(std::span<size_count const> sizes, Pattern const& pattern, std::size_t rank,
              std::span<std::uint64_t> loads, std::span<std::uint32_t> rank_of) {
        for_each_size(pattern, [&](std::size_t size, auto number) {
            for (; number > 0 && next_[size] < end_[size]; --number) {
                rank_of[next_[size]++] = static_cast<std::uint32_t>(rank);
                loads[rank] += sizes[size].weight;
            }
        });
    }

    /// Longest first over the ranks from `first` on; they are few.
    void place_rest(std::span<size_count const> sizes, std::size_t first, std::span<std::uint64_t> loads,
                    std::span<std::uint32_t> rank_of) {
        auto const from = loads.begin() + static_cast<std::ptrdiff_t>(first);
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            while (next_[size] < end_[size]) {
                auto const lightest = std::min_element(from, loads.end());
                *lightest += sizes[size].weight;
                rank_of[next_[size]++] = static_cast<std::uint32_t>(lightest - loads.begin());
            }
        }
    }

    std::vector<std::size_t> next_;  ///< the first item of each size that has no rank
    std::vector<std::size_t> end_;
    std::vector<std::size_t> rows_;
};

}  // namespace evenkeel::detail
