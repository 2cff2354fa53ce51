// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/exact_divisor.hpp>
#include <evenkeel/solve/detail/weight_sorting.hpp>

namespace evenkeel::detail {

/// The weights of a batch in units of their greatest common divisor.
class unit_weights {
  public:
    void reserve(std::size_t batch) { in_units_.reserve(batch); }

    /// @param weights  Are the result where the unit is 1.
    void assign(std::span<std::uint64_t const> weights) {
        weights_ = weights;
        unit_ = std::max<std::uint64_t>(divisor_of(weights), 1);
        if (unit_ > 1) {
            in_units_.resize(weights.size());
            std::ranges::transform(weights, in_units_.begin(), [divisor = exact_divisor{unit_}](std::uint64_t weight) {
                return divisor.quotient(weight);
            });
            weights_ = in_units_;
        }
    }

    [[nodiscard]] std::uint64_t unit() const noexcept { return unit_; }
    [[nodiscard]] std::span<std::uint64_t const> weights() const noexcept { return weights_; }

  private:
    std::span<std::uint64_t const> weights_;
    std::uint64_t unit_ = 1;
    std::vector<std::uint64_t> in_units_;  ///< where that is another than 1
};

}  // namespace evenkeel::detail
