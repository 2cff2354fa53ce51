// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::test {

/// The fewest bytes that any plan moves, and that any plan moves between nodes, if no rank may have more than some
/// load.
struct fewest {
    std::uint64_t moved = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t between_nodes = std::numeric_limits<std::uint64_t>::max();
};

/// By trying every placement: for seven items or so on four ranks.
[[nodiscard]] inline fewest fewest_bytes(std::span<std::uint64_t const> weights, std::span<std::uint64_t const> bytes,
                                         layout const& home, topology const& topology, std::uint64_t most_load) {
    fewest best;
    std::vector<std::uint64_t> loads(topology.size().value);
    auto const place = [&](auto const& self, std::size_t item, std::uint64_t moved, std::uint64_t between) -> void {
        if (item == weights.size()) {
            best.moved = std::min(best.moved, moved);
            best.between_nodes = std::min(best.between_nodes, between);
            return;
        }
        for (std::size_t rank = 0; rank < loads.size(); ++rank) {
            if (loads[rank] + weights[item] > most_load) {
                continue;
            }
            world_rank const to = to_id<world_rank>(rank);
            world_rank const from = home.places[item].rank;
            loads[rank] += weights[item];
            self(self, item + 1, moved + (to == from ? 0 : bytes[item]),
                 between + (topology.node_of(to) == topology.node_of(from) ? 0 : bytes[item]));
            loads[rank] -= weights[item];
        }
    };
    place(place, 0, 0, 0);
    return best;
}

}  // namespace evenkeel::test
