// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <evenkeel/cost/cost_model.hpp>

namespace evenkeel {

/// What an item costs where every token costs the same: linear * length.
///
///     evenkeel::linear_cost{}.weight(1000);   // 1000
///
/// Units are the caller's: only ratios matter.
struct linear_cost {
    std::uint64_t linear = 1;

    /// @throws std::overflow_error  if the weight does not fit into 64 bits; names the length.
    [[nodiscard]] constexpr std::uint64_t weight(std::uint64_t length) const {
        std::uint64_t weight = 0;
        if (__builtin_mul_overflow(linear, length, &weight)) {
            throw_weight_overflow("linear_cost", length);
        }
        return weight;
    }

    friend bool operator==(linear_cost const&, linear_cost const&) = default;
};

}  // namespace evenkeel
