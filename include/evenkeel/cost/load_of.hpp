// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/cost/cost_model.hpp>
#include <evenkeel/cost/padded_model.hpp>

namespace evenkeel {

/// What a rank has taken on that works on samples of these lengths.
///
///     auto const lengths = std::vector<std::uint64_t>{900, 100, 500};
///     evenkeel::load_of(lengths, evenkeel::linear_cost{});   // 1500
///     evenkeel::load_of(lengths, evenkeel::padded_cost{});   // 2700 = 3 * 900
///     evenkeel::load_of(lengths, evenkeel::conv_attention_cost{.linear = 4});   // 8700 = 3 * 900 + 4 * 1500
///
/// @throws std::overflow_error  if a weight or the load does not fit into 64 bits.
/// @complexity O(lengths)
template <class Model>
requires cost_model<Model> || padded_model<Model> || mixed_model<Model>
[[nodiscard]] constexpr std::uint64_t load_of(std::span<std::uint64_t const> lengths, Model const& model) {
    std::uint64_t load = 0;
    if constexpr (cost_model<Model>) {
        for (auto const length : lengths) {
            load = checked_add(load, model.weight(length), "load_of: the load");
        }
    } else {
        std::uint64_t count = 0;
        std::uint64_t widest = 0;
        for (auto const length : lengths) {
            std::uint64_t const padded = model.padded_weight(length);
            std::uint64_t packed = 0;
            if constexpr (mixed_model<Model>) {
                packed = model.packed_weight(length);
            }
            count += padded > 0 || packed > 0 ? 1 : 0;
            widest = std::max(widest, padded);
            load = checked_add(load, packed, "load_of: the load");
        }
        load = checked_add(load, checked_multiply(count, widest, "load_of: the load"), "load_of: the load");
    }
    return load;
}

}  // namespace evenkeel
