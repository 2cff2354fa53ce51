// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evenkeel {

/// What a cost model promises: an item's cost as a 64-bit integer, from its length alone.
///
/// Laws that solvers rely on: `weight(0) == 0` (an absent modality costs nothing), a longer item never costs less, and
/// the same length costs the same everywhere. A weight that does not fit throws `std::overflow_error`.
/// The load of a rank is the sum of its items' weights.
template <class Model>
concept cost_model = std::copyable<Model> && requires(Model const& model, std::uint64_t length) {
    { model.weight(length) } -> std::same_as<std::uint64_t>;
};

/// What a model throws whose weight does not fit.
///
///     throw_weight_overflow("linear_cost", 9);   // "linear_cost: the weight of length 9 exceeds 64 bits"
///
/// @throws std::overflow_error  always.
[[noreturn]] inline void throw_weight_overflow(std::string_view model, std::uint64_t length) {
    throw std::overflow_error{
        std::string{model}.append(": the weight of length ").append(std::to_string(length)).append(" exceeds 64 bits")};
}

}  // namespace evenkeel
