// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/pattern_mixture.hpp>
#include <evenkeel/solve/detail/pattern_placing.hpp>
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
        place_.reserve(most_pattern_sizes);
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
        return count_sizes(weights, most_pattern_sizes, sizes_) && most_ * sizes_.size() <= steps.left() / 3;
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
        place_(sizes_, program_.mixture(), loads, rank_of);
    }

  private:
    static constexpr std::size_t fewest_items = 32;
    static constexpr std::uint64_t most_load = std::uint64_t{1} << 15;

    std::vector<size_count> sizes_;
    std::uint64_t most_ = 0;
    pattern_program program_;
    pattern_placing place_;
};

}  // namespace evenkeel::detail
