// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/cost/detail/polynomial.hpp>

namespace evenkeel {

/// What a packed sequence costs a transformer: linear * length + quadratic * length^2 + fixed.
///
///     evenkeel::attention_cost{.linear = 24576, .quadratic = 1}.weight(1000);   // 25'576'000
///
/// The quadratic part is attention, the fixed part the launch of one more sequence; an absent item (length 0) costs
/// nothing. The coefficients are integers, so every rank, compiler and vector width agrees to the bit. Units are the
/// caller's: only ratios matter.
struct attention_cost {
    std::uint64_t linear = 1;
    std::uint64_t quadratic = 0;
    std::uint64_t fixed = 0;

    /// @throws std::overflow_error  if the weight does not fit into 64 bits; names the length.
    [[nodiscard]] constexpr std::uint64_t weight(std::uint64_t length) const {
        std::uint64_t weight = 0;
        if (length != 0 && !detail::polynomial(linear, quadratic, fixed, length, weight)) {
            throw_weight_overflow("attention_cost", length);
        }
        return weight;
    }

    friend bool operator==(attention_cost const&, attention_cost const&) = default;
};

}  // namespace evenkeel
