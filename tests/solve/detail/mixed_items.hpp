// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>

namespace evenkeel::test {

/// Items that weigh `padded` and `packed` times their length, as solvers of mixed models take them.
[[nodiscard]] inline detail::mixed_sizes mixed_items(std::span<std::uint64_t const> lengths, std::uint64_t padded,
                                                     std::uint64_t packed) {
    std::vector<std::uint64_t> whole;
    std::vector<std::uint64_t> padded_weights;
    for (auto const length : lengths) {
        padded_weights.push_back(padded * length);
        whole.push_back((padded + packed) * length);
    }
    detail::sorted_items items;
    detail::sort_items("test", whole, items);
    detail::mixed_sizes sizes;
    sizes.assign(items, padded_weights);
    return sizes;
}

}  // namespace evenkeel::test
