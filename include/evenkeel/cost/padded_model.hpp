// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <evenkeel/cost/cost_model.hpp>

namespace evenkeel {

namespace detail {

template <class Model>
concept weighs_padded =
    std::copyable<Model> && !cost_model<Model> && requires(Model const& model, std::uint64_t length) {
    { model.padded_weight(length) } -> std::same_as<std::uint64_t>;
};

template <class Model>
concept weighs_packed = requires(Model const& model, std::uint64_t length) {
    { model.packed_weight(length) } -> std::same_as<std::uint64_t>;
};

}  // namespace detail

/// What a model of a phase promises whose samples are padded to the longest of their rank:
///
///     load of a rank = number of its samples * padded_weight(length of the longest)
///
/// Laws that solvers rely on: `padded_weight(0) == 0`, a longer sample never weighs less, and the same length weighs
/// the same everywhere. A sample that weighs nothing is absent: it is not padded and does not count. A weight that does
/// not fit throws `std::overflow_error`. Not a `cost_model`, whose loads are sums.
template <class Model>
concept padded_model = detail::weighs_padded<Model> && !detail::weighs_packed<Model>;

/// What a model of a phase promises that pads in one part and packs in another:
///
///     load of a rank = number of its samples * padded_weight(length of the longest) + sum of packed_weight(length)
///
/// The laws of `padded_model` hold for both weights; absent is what weighs nothing in either.
template <class Model>
concept mixed_model = detail::weighs_padded<Model> && detail::weighs_packed<Model>;

}  // namespace evenkeel
