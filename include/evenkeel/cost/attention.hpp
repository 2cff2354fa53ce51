// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <evenkeel/core/checked.hpp>

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

    /// @throws std::overflow_error  if the weight does not fit into 64 bits.
    [[nodiscard]] constexpr std::uint64_t weight(std::uint64_t length) const {
        if (length == 0) {
            return 0;
        }
        constexpr std::string_view what = "attention_cost: the weight of a length";
        // linear + quadratic * length first: one multiplication less than term by term.
        std::uint64_t const per_token = checked_add(linear, checked_multiply(quadratic, length, what), what);
        return checked_add(checked_multiply(per_token, length, what), fixed, what);
    }

    friend bool operator==(attention_cost const&, attention_cost const&) = default;
};

}  // namespace evenkeel
