// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// a * b <= c * d, whatever their size.
[[nodiscard]] inline bool product_at_most(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) noexcept {
    __extension__ typedef unsigned __int128 wide;
    return static_cast<wide>(a) * b <= static_cast<wide>(c) * d;
}

/// How many bytes the items of a task have per unit of their weight, if that is the same whole number for all that weigh
/// something; if none does, any.
///
/// @param weights  In units of `unit`; none exceeds `most`.
[[nodiscard]] inline std::optional<std::uint64_t> bytes_per_weight(stay_task const& task,
                                                                   std::span<std::uint64_t const> weights,
                                                                   std::uint64_t unit, std::uint64_t most) {
    if (most == 0 || task.weights_are_bytes() || std::ranges::equal(task.bytes, task.weights)) {
        return unit;
    }
    auto const any = static_cast<std::size_t>(
        std::ranges::find_if(weights, [](std::uint64_t weight) { return weight > 0; }) - weights.begin());
    std::uint64_t const rate = task.bytes[any] / weights[any];
    if (task.bytes[any] % weights[any] != 0) {
        return std::nullopt;
    }
    bool same = true;
    if ((rate | most) >> 32 == 0 && unit == 1) {
        // Products of 32 bits; with no end before the last of a few, these are taken together.
        constexpr std::size_t together = 64;
        for (std::size_t first = 0; first < weights.size() && same; first += together) {
            std::uint64_t differ = 0;
            for (std::size_t item = first; item < std::min(first + together, weights.size()); ++item) {
                differ |= weights[item] == 0 ? 0 : task.bytes[item] ^ (rate * weights[item]);
            }
            same = differ == 0;
        }
    } else {
        __extension__ typedef unsigned __int128 wide;
        for (std::size_t item = 0; item < weights.size() && same; ++item) {
            same = weights[item] == 0 || task.bytes[item] == static_cast<wide>(rate) * weights[item];
        }
    }
    return same ? std::optional{rate} : std::nullopt;
}

}  // namespace evenkeel::detail
