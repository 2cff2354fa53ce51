// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// How good a plan is, and how good any plan could be.
///
///     batch.quality.gap();   // 0 proves that no plan is better
///
/// A batch without load has imbalance 1, tail floor 1 and gap 0.
struct quality {
    std::uint64_t max_load = 0;     ///< what the busiest rank has taken on
    std::uint64_t total_load = 0;   ///< over all ranks
    std::uint64_t lower_bound = 0;  ///< no plan's busiest rank has less
    rank_count ranks;

    /// How far the busiest rank is above the lower bound: max / bound - 1.
    [[nodiscard]] double gap() const noexcept {
        return lower_bound == 0 ? 0.0 : static_cast<double>(max_load - lower_bound) / static_cast<double>(lower_bound);
    }

    /// Max / mean load: the factor by which the step is slower than if samples could be cut to measure.
    [[nodiscard]] double imbalance() const noexcept { return over_mean(max_load); }

    /// Lower bound / mean load. Well above 1, a single item decides and no balancing helps.
    [[nodiscard]] double tail_floor() const noexcept { return over_mean(lower_bound); }

    friend bool operator==(quality const&, quality const&) = default;

  private:
    [[nodiscard]] double over_mean(std::uint64_t load) const noexcept {
        return total_load == 0
                   ? 1.0
                   : static_cast<double>(load) * static_cast<double>(ranks.value) / static_cast<double>(total_load);
    }
};

}  // namespace evenkeel
