// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/pattern_mixture.hpp>
#include <evenkeel/solve/detail/pattern_program.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// A bound and a start for batches of few sizes, such as tiles, with loads that a table can list.
///
///     six 8s and six 5s on four ranks weigh 78, so 20 each; but a rank of 20 with an 8 has 18 at most, and the best
///     is 21: 8 8 5 | 8 8 5 | 8 8 5 | 5 5 5
///
/// What ranks hold is chosen from a few patterns; see `pattern_program`. Nearly all ranks hold one as it is. What is
/// left, less than a rank per size, goes to the last ranks: these may be uneven.
class few_sizes {
  public:
    void reserve(std::size_t items) {
        if (items >= fewest_items) {
            program_.reserve(most_load);
        }
        sizes_.reserve(most_pattern_sizes);
    }

    /// Whether a batch has few sizes and there are steps enough.
    ///
    /// @param weights  In falling order.
    /// @param bound    What no plan can beat.
    [[nodiscard]] bool suits(std::span<std::uint64_t const> weights, std::uint64_t bound, std::uint64_t busiest,
                             step_budget const& steps) {
        most_ = std::min(busiest - 1, bound + bound / 16 + 16);
        if (weights.size() < fewest_items || most_ > most_load) {
            return false;
        }
        sizes_.clear();
        auto first = weights.begin();
        while (first != weights.end()) {
            auto const next = std::upper_bound(first, weights.end(), *first, std::greater<>{});
            if (sizes_.size() == most_pattern_sizes) {
                return false;
            }
            sizes_.push_back({*first, static_cast<std::uint64_t>(next - first)});
            first = next;
        }
        return most_ * sizes_.size() <= steps.left() / 3;
    }

    /// To be followed by `improve`.
    void start(std::size_t ranks, std::uint64_t bound) { program_.reset(sizes_, ranks, bound, most_); }

    /// Seeks better patterns until ranks with no more load than what is proved by then hold the batch, fractions of
    /// ranks allowed.
    ///
    /// @return  Whether they do.
    [[nodiscard]] bool improve(step_budget& steps) {
        bool more = true;
        do {
            steps.spend(program_.steps());
            more = program_.improve();
        } while (more && !steps.exhausted() && !program_.fits());
        return program_.fits();
    }

    /// What no plan can beat.
    [[nodiscard]] std::uint64_t bound() const noexcept { return program_.capacity(); }

    /// Gives the ranks their patterns and the rest to the last ones.
    ///
    /// @param loads    One per rank.
    /// @param rank_of  Filled with the rank of each item.
    void place(std::span<std::uint64_t> loads, std::span<std::uint32_t> rank_of) {
        std::size_t item = 0;
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            next_[size] = item;
            item += sizes_[size].count;
            end_[size] = item;
        }
        std::ranges::fill(loads, 0);
        auto const& mixture = program_.mixture();
        std::size_t rank = 0;
        for (std::size_t row = 0; row < sizes_.size(); ++row) {
            for (std::uint64_t use = mixture.whole_uses(row); use > 0; --use) {
                give(mixture.holds(row), rank++, loads, rank_of);
            }
        }
        std::size_t const rest = rank;
        std::array<std::size_t, most_pattern_sizes> rows;
        for (std::size_t row = 0; row < sizes_.size(); ++row) {
            rows[row] = row;
        }
        auto const in_parts = std::span{rows}.first(sizes_.size());
        std::ranges::sort(in_parts, [&](std::size_t a, std::size_t b) {
            auto const part_a = mixture.part_of_use(a);
            auto const part_b = mixture.part_of_use(b);
            return part_a > part_b || (part_a == part_b && a < b);
        });
        for (auto const row : in_parts) {
            if (rank < loads.size() && mixture.part_of_use(row) > 0) {
                give(mixture.holds(row), rank++, loads, rank_of);
            }
        }
        place_rest(rest, loads, rank_of);
    }

  private:
    static constexpr std::size_t fewest_items = 32;
    static constexpr std::uint64_t most_load = std::uint64_t{1} << 15;

    /// The items of a pattern, as far as there are some left.
    void give(size_pattern const& holds, std::size_t rank, std::span<std::uint64_t> loads,
              std::span<std::uint32_t> rank_of) {
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            for (std::uint32_t number = holds[size]; number > 0 && next_[size] < end_[size]; --number) {
                rank_of[next_[size]++] = static_cast<std::uint32_t>(rank);
                loads[rank] += sizes_[size].weight;
            }
        }
    }

    /// Longest first over the ranks from `first` on; they are few.
    void place_rest(std::size_t first, std::span<std::uint64_t> loads, std::span<std::uint32_t> rank_of) {
        auto const from = loads.begin() + static_cast<std::ptrdiff_t>(first < loads.size() ? first : 0);
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            while (next_[size] < end_[size]) {
                auto const lightest = std::min_element(from, loads.end());
                *lightest += sizes_[size].weight;
                rank_of[next_[size]++] = static_cast<std::uint32_t>(lightest - loads.begin());
            }
        }
    }

    std::vector<size_count> sizes_;
    std::uint64_t most_ = 0;
    pattern_program program_;
    std::array<std::size_t, most_pattern_sizes> next_{};  ///< the first item of each size that has no rank
    std::array<std::size_t, most_pattern_sizes> end_{};
};

}  // namespace evenkeel::detail
