// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>

namespace evenkeel::test {

/// What batch b draws from the node of rank r, at `[b][r]`: every batch and rank, no entry left out.
[[nodiscard]] inline std::vector<std::vector<std::int64_t>> kept_by_node(plan const& plan, layout const& home,
                                                                         topology const& topology,
                                                                         std::vector<std::uint64_t> const& bytes) {
    std::size_t const ranks = plan.ranks().value;
    std::vector<std::vector<std::int64_t>> result(ranks, std::vector<std::int64_t>(ranks));
    for (std::size_t batch = 0; batch < ranks; ++batch) {
        std::vector<std::int64_t> from(topology.nodes());
        for (item_id const item : plan[to_id<rank_id>(batch)]) {
            from[to_index(topology.node_of(home[item].rank))] += static_cast<std::int64_t>(bytes[to_index(item)]);
        }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            result[batch][rank] = from[to_index(topology.node_of(to_id<world_rank>(rank)))];
        }
    }
    return result;
}

/// The largest sum of `values[row][column]` with every row and every column taken once.
///
/// The Hungarian method with potentials, row after row (Kuhn 1955, Jonker and Volgenant 1987): exact, and as slow as
/// the cube of the rows.
[[nodiscard]] inline std::int64_t best_assignment(std::vector<std::vector<std::int64_t>> const& values) {
    std::size_t const size = values.size();
    constexpr std::int64_t infinity = std::numeric_limits<std::int64_t>::max();
    // Row and column 0 stand for nobody.
    std::vector<std::int64_t> row_price(size + 1);
    std::vector<std::int64_t> column_price(size + 1);
    std::vector<std::size_t> row_of(size + 1);
    std::vector<std::size_t> before(size + 1);
    for (std::size_t row = 1; row <= size; ++row) {
        row_of[0] = row;
        std::size_t column = 0;
        std::vector<std::int64_t> slack(size + 1, infinity);
        std::vector<bool> seen(size + 1);
        do {
            seen[column] = true;
            std::size_t const from = row_of[column];
            std::int64_t step = infinity;
            std::size_t next = 0;
            for (std::size_t other = 1; other <= size; ++other) {
                if (seen[other]) {
                    continue;
                }
                std::int64_t const cost = -values[from - 1][other - 1] - row_price[from] - column_price[other];
                if (cost < slack[other]) {
                    slack[other] = cost;
                    before[other] = column;
                }
                if (slack[other] < step) {
                    step = slack[other];
                    next = other;
                }
            }
            for (std::size_t other = 0; other <= size; ++other) {
                if (seen[other]) {
                    row_price[row_of[other]] += step;
                    column_price[other] -= step;
                } else {
                    slack[other] -= step;
                }
            }
            column = next;
        } while (row_of[column] != 0);
        while (column != 0) {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    std::int64_t sum = 0;
    for (std::size_t column = 1; column <= size; ++column) {
        sum += values[row_of[column] - 1][column - 1];
    }
    return sum;
}

}  // namespace evenkeel::test
