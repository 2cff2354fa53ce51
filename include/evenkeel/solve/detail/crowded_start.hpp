// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/crowded_ranks.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// A start for batches where some ranks have one heavy item more than the others: these items go to ranks of their own,
/// as evenly as they can, and all others to the other ranks, longest first.
///
///     9 9 9 5 5 5 on four ranks: 9 5 and 5 5 crowded, so two ranks share these four, and 9 and 9 have a rank each
///
/// Longest first puts what is one too many on top of whatever weighs least by then, and no exchange gets it from there:
/// a rank with room has heavy items as many as it can bear, so several would have to change places at once.
class crowded_start {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        rest_weights_.reserve(items);
        rest_ranks_.reserve(items);
        longest_.reserve(ranks);
    }

    /// @param weights  In falling order.
    /// @param total    Their sum.
    /// @param crowd    What is proved about them, of fewer ranks than there are.
    /// @param loads    Overwritten.
    /// @param rank_of  Filled with the rank of each item.
    void operator()(std::span<std::uint64_t const> weights, std::uint64_t total, std::size_t ranks,
                    crowded_ranks const& crowd, std::uint64_t target, placement& loads, repair& even,
                    std::span<std::uint32_t> rank_of, step_budget& steps) {
        std::size_t const size = crowd.number() * crowd.items();
        std::size_t const first = crowd.heaviest() - size;
        auto const heavy = weights.subspan(first, size);
        auto const heavy_ranks = rank_of.subspan(first, size);
        std::uint64_t sum = 0;
        for (auto const weight : heavy) {
            sum += weight;
        }
        longest_(heavy, sum, crowd.number(), heavy_ranks);
        loads.reset(heavy, heavy_ranks, crowd.number());
        even(loads, target, 0, 0, steps);
        loads.store(heavy_ranks);

        rest_weights_.assign(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(first));
        rest_weights_.insert(rest_weights_.end(), weights.begin() + static_cast<std::ptrdiff_t>(first + size),
                             weights.end());
        rest_ranks_.resize(rest_weights_.size());
        longest_(rest_weights_, total - sum, ranks - crowd.number(), rest_ranks_);
        for (std::size_t index = 0; index < rest_ranks_.size(); ++index) {
            rank_of[index < first ? index : index + size] =
                rest_ranks_[index] + static_cast<std::uint32_t>(crowd.number());
        }
    }

  private:
    std::vector<std::uint64_t> rest_weights_;
    std::vector<std::uint32_t> rest_ranks_;
    longest_first longest_;
};

}  // namespace evenkeel::detail
