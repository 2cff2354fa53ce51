// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel {

/// How many bytes each world rank receives from others: the buffers of everybody, from the plan alone.
///
///     // Of items of 10, 20 and 30 bytes the second one goes from rank 0 to rank 1.
///     evenkeel::bytes_received(move, bytes);   // 0, 20: one number per world rank
///
/// @param bytes  Of each item.
/// @throws std::invalid_argument  if there is not one size per item.
/// @throws std::overflow_error    if the bytes of a rank do not fit into 64 bits.
/// @complexity O(items + ranks)
[[nodiscard]] inline std::vector<std::uint64_t> bytes_received(rearrangement const& move,
                                                               std::span<std::uint64_t const> bytes) {
    if (bytes.size() != move.size()) {
        throw_invalid("bytes_received", "bytes.size()", bytes.size(),
                      "one size for each of " + std::to_string(move.size()) + " items");
    }
    std::vector<std::uint64_t> result(move.ranks().value);
    for (std::size_t item = 0; item < move.size(); ++item) {
        auto const target = move.to().places[item].rank;
        if (move.from().places[item].rank != target) {
            auto& sum = result[to_index(target)];
            sum = checked_add(sum, bytes[item], "bytes_received: the bytes of a rank");
        }
    }
    return result;
}

}  // namespace evenkeel
