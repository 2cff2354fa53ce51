// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Moves that bring nothing back: from the busiest rank to the one with most room, the heaviest item that the
/// excess and the room allow.
inline void fill_rooms(placement& loads, std::uint64_t target, step_budget& steps) {
    while (true) {
        std::uint32_t busiest = 0;
        std::uint32_t roomiest = 0;
        for (std::uint32_t rank = 1; rank < loads.ranks(); ++rank) {
            busiest = loads.load(rank) > loads.load(busiest) ? rank : busiest;
            roomiest = loads.load(rank) < loads.load(roomiest) ? rank : roomiest;
        }
        steps.spend(loads.ranks());
        if (loads.load(busiest) <= target || loads.load(roomiest) >= target) {
            return;
        }
        std::uint64_t const most = std::min(loads.load(busiest) - target, target - loads.load(roomiest));
        auto const weights = loads.weights(busiest);
        auto const found =
            std::partition_point(weights.begin(), weights.end(), [&](std::uint64_t weight) { return weight > most; });
        if (found == weights.end() || *found < most / 4) {
            return;
        }
        auto const position = static_cast<std::size_t>(found - weights.begin());
        std::uint32_t const item = loads.items(busiest)[position];
        std::uint64_t const weight = *found;
        loads.remove(busiest, position);
        loads.insert(roomiest, item, weight);
    }
}

}  // namespace evenkeel::detail
