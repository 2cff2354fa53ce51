// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/first_patterns.hpp>
#include <evenkeel/solve/detail/load_worths.hpp>
#include <evenkeel/solve/detail/pattern_placing.hpp>
#include <evenkeel/solve/detail/pattern_search.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wide_mixture.hpp>

namespace evenkeel::detail {

/// A bound and a start for batches with few items per rank, of no more than a few hundred sizes.
///
/// What ranks hold is chosen from patterns, one per size: the cutting stock programme, see `wide_mixture`. Patterns
/// that are worth more than a rank replace others until the ranks suffice, fractions of ranks allowed. Where none is
/// worth more, no plan has ranks of this capacity, and the prices prove a higher one.
class many_sizes {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        if (ranks < fewest_ranks) {
            return;
        }
        std::size_t const most = std::min(items, most_sizes);
        sizes_.reserve(most);
        first_.reserve(items, most);
        mixture_.reserve(most);
        best_.reserve(most);
        place_.reserve(most);
        worths_.reserve(static_cast<std::size_t>(most_load) + 1);
    }

    /// Whether a batch is such.
    ///
    /// @param weights  In falling order.
    /// @param busiest  The largest load that is of interest.
    [[nodiscard]] bool suits(std::span<std::uint64_t const> weights, std::size_t ranks, std::uint64_t busiest) {
        if (ranks < fewest_ranks || ranks > most_ranks || weights.size() > most_items_per_rank * ranks ||
            busiest > std::uint64_t{1} << 60) {
            return false;
        }
        std::size_t const most = few_per_rank(weights.size(), ranks) ? most_sizes : most_sizes / 2;
        return count_sizes(weights, most, sizes_);
    }

    /// Begins with some patterns; see `first_patterns`.
    ///
    /// @param capacity  Of a rank, at least the heaviest weight.
    void start(sorted_items const& items, std::size_t ranks, std::uint64_t capacity, step_budget& steps) {
        ranks_ = ranks;
        capacity_ = capacity;
        best_.reset(sizes_);
        first_(sizes_, items, ranks, capacity, mixture_, steps);
    }

    /// From now on ranks hold more.
    void raise(std::uint64_t capacity) noexcept { capacity_ = capacity; }

    enum class outcome { fits, no_better, open };

    /// Seeks better patterns until ranks of the capacity hold the batch, fractions of ranks allowed, or there seems to
    /// be none.
    ///
    /// @param spare  How much of a rank is to be left over, in parts of `wide_mixture::whole`.
    [[nodiscard]] outcome improve(std::int64_t spare, step_budget& steps) {
        auto const enough = static_cast<std::int64_t>(ranks_) * wide_mixture::whole - spare;
        while (mixture_.in_range() && mixture_.ranks() > enough) {
            if (steps.exhausted()) {
                return outcome::open;
            }
            best_.set_prices(mixture_);
            steps.spend(4 * sizes_.size());
            // The best of a few patterns, as a rule; where they are hard to find, any that is better.
            if (!seek(few_nodes, steps) && (best_.complete() || !seek(most_nodes, steps))) {
                return outcome::no_better;
            }
            steps.spend(mixture_.enter(best_.best()));
        }
        return mixture_.in_range() ? outcome::fits : outcome::open;
    }

    /// The least load that every plan has on its busiest rank, as far as the prices at hand tell.
    ///
    /// @param bound  What is known, and what is returned if that is no more.
    /// @param most   The largest load that is of interest.
    [[nodiscard]] std::uint64_t prove(std::uint64_t bound, std::uint64_t most, step_budget& steps) {
        std::int64_t const at_least = share();
        if (most <= most_load) {
            steps.spend(most * sizes_.size() / 4);
            fill_load_worths(
                sizes_, [&](std::size_t size) { return mixture_.price(size); }, most, worths_);
            auto const from = worths_.begin() + static_cast<std::ptrdiff_t>(bound);
            return static_cast<std::uint64_t>(std::lower_bound(from, worths_.end() - 1, at_least) - worths_.begin());
        }
        best_.set_prices(mixture_);
        // Loads below `bound` are ruled out; the least that is worth a share may be as large as `most`.
        while (bound < most && !steps.exhausted()) {
            std::uint64_t const middle = bound + (most - bound) / 2;
            bool const found = best_(middle, at_least - 1, nodes_of_proof);
            steps.spend(4 * (nodes_of_proof - best_.nodes_left()));
            if (found) {
                most = middle;
            } else if (best_.complete()) {
                bound = middle + 1;
            } else {
                break;
            }
        }
        return bound;
    }

    /// Whether patterns can still be improved on.
    [[nodiscard]] bool in_range() const noexcept { return mixture_.in_range(); }

    /// Gives the ranks their patterns and the rest to the last ones.
    ///
    /// @param loads    One per rank.
    /// @param rank_of  Filled with the rank of each item.
    void place(std::span<std::uint64_t> loads, std::span<std::uint32_t> rank_of) {
        place_(sizes_, mixture_, loads, rank_of);
    }

  private:
    static constexpr std::size_t most_sizes = 256;
    static constexpr std::size_t fewest_ranks = 17;
    /// As many as a mixture counts, and twice that.
    static constexpr std::size_t most_ranks = std::size_t{1} << 13;
    static constexpr std::size_t most_items_per_rank = 13;
    static constexpr std::uint64_t few_nodes = 128;
    static constexpr std::uint64_t most_nodes = 4096;
    static constexpr std::uint64_t nodes_of_proof = 4 * most_nodes;
    /// Of which a table can list what they are worth.
    static constexpr std::uint64_t most_load = std::uint64_t{1} << 15;

    /// A pattern that is worth more than a rank, if it takes no more than so many nodes to find one.
    [[nodiscard]] bool seek(std::uint64_t nodes, step_budget& steps) {
        constexpr std::int64_t least_gain = wide_mixture::whole >> 14;
        bool const found = best_(capacity_, wide_mixture::whole + least_gain, nodes);
        steps.spend(4 * (nodes - best_.nodes_left()));
        return found;
    }

    /// What some rank holds at least at the prices at hand.
    [[nodiscard]] std::int64_t share() const noexcept {
        wide_mixture::wide value = 0;
        for (std::size_t size = 0; size < sizes_.size(); ++size) {
            value += wide_mixture::wide{mixture_.price(size)} * static_cast<std::int64_t>(sizes_[size].count);
        }
        auto const parts = static_cast<std::int64_t>(ranks_);
        return static_cast<std::int64_t>(value / parts + (value % parts != 0 ? 1 : 0));
    }

    std::vector<size_count> sizes_;
    std::size_t ranks_ = 1;
    std::uint64_t capacity_ = 0;
    first_patterns first_;
    wide_mixture mixture_;
    pattern_search best_;
    pattern_placing place_;
    std::vector<std::int64_t> worths_;  ///< of loads
};

}  // namespace evenkeel::detail
