// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel::detail {

/// The rank of each item of a plan.
inline void write_ranks(plan const& plan, std::vector<std::uint32_t>& rank_of) {
    rank_of.resize(plan.items.size());
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (item_id const item : plan[to_id<rank_id>(rank)]) {
            rank_of[to_index(item)] = static_cast<std::uint32_t>(rank);
        }
    }
}

}  // namespace evenkeel::detail
