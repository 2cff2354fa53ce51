// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// How much a rank may take on in each micro-batch, the heaviest micro-batch first.
///
/// What makes several micro-batches slow is a heavy item in each. So the heaviest go together: the first `ranks` into
/// the first micro-batch, the next into the second, until what is left fits evenly into the others, which then are all
/// at one level. Micro-batches with heavy items take on other work up to the same time; so the level of the others is
/// what is left of the load by them. Without heavy items all are at the mean.
///
/// @param weights  In falling order.
/// @param total    What is to be shared out; 0 or more.
/// @param held     What the micro-batches with heavy items take on in truth, if that is known; else empty.
inline void set_levels(std::span<std::uint64_t const> weights, std::uint64_t total, std::size_t ranks,
                       std::span<std::uint64_t const> held, std::vector<std::uint64_t>& levels) {
    std::size_t const slots = levels.size();
    std::uint64_t left = total;
    for (std::size_t slot = 0; slot < slots; ++slot) {
        std::uint64_t const others = ranks * (slots - slot);
        std::uint64_t const even = left / others + (left % others != 0 ? 1 : 0);
        std::size_t const first = slot * ranks;
        std::uint64_t const heaviest = first < weights.size() ? weights[first] : 0;
        if (heaviest <= even) {
            std::fill(levels.begin() + static_cast<std::ptrdiff_t>(slot), levels.end(), even);
            return;
        }
        levels[slot] = heaviest;
        std::uint64_t most = 0;
        if (slot < held.size()) {
            most = held[slot];
        } else if (__builtin_mul_overflow(heaviest, ranks, &most)) {
            most = left;
        }
        left -= std::min(left, most);
    }
}

}  // namespace evenkeel::detail
