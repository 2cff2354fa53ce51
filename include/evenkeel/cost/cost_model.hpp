// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

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

}  // namespace evenkeel
