// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel {

/// How many micro-batches a batch needs.
struct micro_batch_number {
    std::size_t count = 1;        ///< as many suffice: a plan is known
    std::size_t lower_bound = 1;  ///< no plan has fewer

    friend bool operator==(micro_batch_number const&, micro_batch_number const&) = default;
};

/// How good a plan of several micro-batches is, and how good any could be.
///
/// Ranks wait for each other after each micro-batch, so what a step takes is the sum of the slowest ranks.
struct micro_batch_quality {
    micro_batch_number number;
    std::uint64_t sum_of_slowest = 0;  ///< over the micro-batches, the load of the busiest rank
    std::uint64_t lower_bound = 0;     ///< no plan of as many micro-batches has a smaller sum
    std::uint64_t total_load = 0;      ///< of all ranks and micro-batches
    rank_count ranks;

    /// How far the sum is above its lower bound: sum / bound - 1.
    [[nodiscard]] double gap() const noexcept {
        return lower_bound == 0 ? 0.0
                                : static_cast<double>(sum_of_slowest - lower_bound) / static_cast<double>(lower_bound);
    }

    /// The factor by which the step is slower than if samples could be cut to measure.
    [[nodiscard]] double imbalance() const noexcept {
        return total_load == 0 ? 1.0
                               : static_cast<double>(sum_of_slowest) * static_cast<double>(ranks.value) /
                                     static_cast<double>(total_load);
    }

    friend bool operator==(micro_batch_quality const&, micro_batch_quality const&) = default;
};

/// A plan of several micro-batches and how good it is.
struct micro_batched {
    evenkeel::plan plan;
    micro_batch_quality quality;

    friend bool operator==(micro_batched const&, micro_batched const&) = default;
};

}  // namespace evenkeel
