// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel::detail {

/// Refuses counts that ids cannot number, and a batch for nobody.
inline void require_counts(std::string_view function, std::size_t items, rank_count ranks) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    if (ranks.value == 0) {
        throw_invalid(function, "ranks", 0, "at least 1");
    }
    if (ranks.value > most) {
        throw_invalid(function, "ranks", ranks.value, "fewer than 2^32");
    }
    if (items > most) {
        throw_invalid(function, "samples", items, "fewer than 2^32");
    }
}

}  // namespace evenkeel::detail
