// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/cost/cost_model.hpp>

namespace evenkeel {

/// A length rounded up to a multiple, as kernels and sequence-parallel ranks want it; 0 stays 0.
///
///     evenkeel::rounded_length(1000, 16);   // 1008
///
/// @throws std::invalid_argument  if `multiple` is zero.
/// @throws std::overflow_error    if the result does not fit into 64 bits.
[[nodiscard]] constexpr std::uint64_t rounded_length(std::uint64_t length, std::uint64_t multiple) {
    if (multiple == 0) {
        throw_invalid("rounded_length", "multiple", 0, "at least 1");
    }
    std::uint64_t const over = length % multiple;
    std::uint64_t result = length;
    if (over != 0 && __builtin_add_overflow(length, multiple - over, &result)) {
        throw_weight_overflow("rounded_length", length);
    }
    return result;
}

/// What an item costs whose length is first rounded up: the cost of what is run, not of what was drawn.
///
///     // context-parallel 2 x tensor-parallel 4: sequences are cut into 2 * 2 * 4 pieces.
///     auto const model = evenkeel::rounded_cost{evenkeel::attention_cost{.linear = 24576, .quadratic = 1}, 16};
///     model.weight(1000);   // the weight of 1008
///
/// An absent item (length 0) costs what it costs in `model`: nothing. Caps on tokens count `run_length` too.
template <cost_model Model>
struct rounded_cost {
    Model model;
    std::uint64_t multiple = 1;

    /// How long an item is when it is run.
    [[nodiscard]] constexpr std::uint64_t run_length(std::uint64_t length) const {
        return rounded_length(length, multiple);
    }

    /// @throws std::invalid_argument  if `multiple` is zero.
    /// @throws std::overflow_error    if the rounded length or its weight does not fit into 64 bits.
    [[nodiscard]] constexpr std::uint64_t weight(std::uint64_t length) const {
        return model.weight(run_length(length));
    }

    friend bool operator==(rounded_cost const&, rounded_cost const&) = default;
};

template <cost_model Model, std::integral Multiple>
rounded_cost(Model, Multiple) -> rounded_cost<Model>;

}  // namespace evenkeel
