// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/lower_bound.hpp>

namespace evenkeel::detail {

/// `lower_bound` in memory that is kept.
class bound_space {
  public:
    [[nodiscard]] std::uint64_t operator()(std::span<std::uint64_t const> weights, rank_count ranks) {
        require_counts("orchestrate", weights.size(), ranks);
        items_.reserve(weights.size());
        sort_items("orchestrate", weights, items_);
        return lower_bound(items_, ranks.value) * items_.unit;
    }

  private:
    sorted_items items_;
};

}  // namespace evenkeel::detail
