// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>

#include "tests/support/layouts.hpp"

namespace evenkeel::test {

using lists_of = std::vector<std::vector<std::uint32_t>>;

/// The items of every rank, for comparison with a literal.
[[nodiscard]] inline lists_of lists(plan const& plan) {
    lists_of result;
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        result.push_back(numbers(plan[to_id<rank_id>(rank)]));
    }
    return result;
}

/// That a call throws `std::invalid_argument` with this message.
[[nodiscard]] inline auto refuses(std::string const& message) {
    return testing::ThrowsMessage<std::invalid_argument>(message);
}

/// Samples that were drawn somewhere, perhaps with bytes that have nothing to do with their lengths.
struct drawn {
    std::vector<std::uint64_t> lengths;
    layout home;
    topology cluster;
    std::vector<std::uint64_t> bytes;
};

/// What a plan moves, and that between nodes.
struct carried {
    std::uint64_t moved = 0;
    std::uint64_t between_nodes = 0;
};

/// The less of either, which need not be the same plan's.
[[nodiscard]] inline carried least_of(carried const& a, carried const& b) {
    return {std::min(a.moved, b.moved), std::min(a.between_nodes, b.between_nodes)};
}

/// What a plan moves that gives each item to one of these ranks.
[[nodiscard]] inline carried carried_by(std::span<std::size_t const> rank_of, drawn const& batch) {
    carried result;
    for (std::size_t item = 0; item < rank_of.size(); ++item) {
        auto const from = batch.home.places[item].rank;
        auto const to = to_id<world_rank>(rank_of[item]);
        result.moved += from == to ? 0 : batch.bytes[item];
        result.between_nodes += batch.cluster.node_of(from) == batch.cluster.node_of(to) ? 0 : batch.bytes[item];
    }
    return result;
}

[[nodiscard]] inline carried carried_by(plan const& plan, drawn const& batch) {
    return carried_by(ranks_of_items(plan), batch);
}

}  // namespace evenkeel::test
