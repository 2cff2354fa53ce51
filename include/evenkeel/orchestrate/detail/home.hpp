// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>

namespace evenkeel::detail {

/// `home_layout` in memory that is kept, and left as it is where the counts are those of last time.
///
/// @param counts  Have been checked.
/// @param before  Those of last time.
inline void write_home(std::span<std::size_t const> counts, std::vector<std::size_t>& before, layout& home) {
    if (home.ranks.value == counts.size() && std::ranges::equal(counts, before)) {
        return;
    }
    std::size_t items = 0;
    for (std::size_t const count : counts) {
        items += count;
    }
    home.ranks = {counts.size()};
    home.places.resize(items);
    std::size_t item = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        for (std::size_t position = 0; position < counts[rank]; ++position) {
            home.places[item++] = {to_id<world_rank>(rank), {}, static_cast<std::uint32_t>(position)};
        }
    }
    before.assign(counts.begin(), counts.end());
}

}  // namespace evenkeel::detail
