// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/topology.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::test {

/// `ranks` ranks on nodes of any size, in any order, some nodes without a rank.
[[nodiscard]] inline topology random_nodes(seeded& random, std::size_t ranks) {
    topology result;
    auto const nodes = random.between(1, ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        result.nodes_of_ranks.push_back(to_id<node_id>(random.up_to(nodes - 1)));
    }
    return result;
}

/// Many pairs without a byte, a few odd ones, now and then a large one.
[[nodiscard]] inline pair_traffic random_traffic(seeded& random, world_size ranks) {
    std::vector<std::uint64_t> matrix(ranks.value * ranks.value);
    for (auto& cell : matrix) {
        auto const kind = random.up_to(5);
        cell = kind < 2 ? 0 : kind < 5 ? random.up_to(40) : random.up_to(3'000);
    }
    return pair_traffic_of(matrix, ranks);
}

}  // namespace evenkeel::test
