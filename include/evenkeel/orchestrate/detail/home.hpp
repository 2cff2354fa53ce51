// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>

namespace evenkeel::detail {

/// `home_layout` in memory that is kept; counts have been checked.
inline void write_home(std::span<std::size_t const> counts, layout& home) {
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
}

}  // namespace evenkeel::detail
