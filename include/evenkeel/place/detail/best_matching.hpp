// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <evenkeel/place/detail/auction.hpp>

namespace evenkeel::detail {

/// The memory of `best_matching`.
struct matching_room {
    std::vector<std::uint64_t> values;     ///< `values[row * columns + column]`
    std::vector<std::uint32_t> row_of;     ///< by column; `nobody`
    std::vector<std::uint32_t> column_of;  ///< by row; `nobody`
    std::vector<std::int64_t> prices;      ///< by column
    std::vector<std::int64_t> profits;     ///< by row: the best that it can have at these prices, or 0
    std::vector<std::int64_t> distance;    ///< by column: profit lost on the way from the row at hand
    std::vector<std::uint32_t> before;     ///< by column: the row from which it was reached
    std::vector<std::uint8_t> settled;     ///< by column
};

/// Pairs rows with columns so that the sum of the values of all pairs is as large as possible, exactly; leaves without a
/// partner whom no partner would help.
///
/// Row after row by the shortest way to a free column or to a row that loses least by giving up its own (Edmonds and
/// Karp 1972, Tomizawa 1971, with prices). Ties fall to the lower column.
///
/// @param room  `values` are set, below 2^62; the result is in `row_of` and `column_of`.
/// @complexity O(rows * columns^2) at worst; O(rows * columns) where few rows want the same column.
inline void best_matching(std::uint32_t rows, std::uint32_t columns, matching_room& room) {
    constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    room.row_of.assign(columns, nobody);
    room.column_of.assign(rows, nobody);
    room.prices.assign(columns, 0);
    room.profits.assign(rows, 0);
    room.distance.resize(columns);
    room.before.resize(columns);
    room.settled.resize(columns);

    for (std::uint32_t row = 0; row < rows; ++row) {
        auto const net = [&](std::uint32_t of, std::uint32_t column) {
            return static_cast<std::int64_t>(room.values[std::size_t{of} * columns + column]) - room.prices[column];
        };
        std::int64_t best = 0;
        std::uint32_t favourite = nobody;
        for (std::uint32_t column = 0; column < columns; ++column) {
            std::int64_t const here = net(row, column);
            favourite = here > best ? column : favourite;
            best = std::max(best, here);
        }
        room.profits[row] = best;
        if (favourite == nobody) {
            continue;
        }
        if (room.row_of[favourite] == nobody) {
            room.row_of[favourite] = row;
            room.column_of[row] = favourite;
            continue;
        }

        std::fill(room.distance.begin(), room.distance.end(), never);
        std::fill(room.settled.begin(), room.settled.end(), std::uint8_t{0});
        // Giving up is a way as well: the row at hand, or one that another displaces, goes without.
        std::int64_t shortest = best;
        std::uint32_t loser =
            row;  ///< who goes without at the end of the shortest way; `nobody`: it ends at a free column
        std::uint32_t end = nobody;
        std::int64_t so_far = 0;
        for (std::uint32_t from = row;;) {
            std::uint32_t nearest = nobody;
            for (std::uint32_t column = 0; column < columns; ++column) {
                if (room.settled[column] != 0) {
                    continue;
                }
                std::int64_t const through = so_far + room.profits[from] - net(from, column);
                if (through < room.distance[column]) {
                    room.distance[column] = through;
                    room.before[column] = from;
                }
                if (nearest == nobody || room.distance[column] < room.distance[nearest]) {
                    nearest = column;
                }
            }
            if (nearest == nobody || room.distance[nearest] >= shortest) {
                break;
            }
            so_far = room.distance[nearest];
            room.settled[nearest] = 1;
            from = room.row_of[nearest];
            if (from == nobody) {
                shortest = so_far;
                loser = nobody;
                end = nearest;
                break;
            }
            if (so_far + room.profits[from] < shortest) {
                shortest = so_far + room.profits[from];
                loser = from;
                end = nearest;
            }
        }

        for (std::uint32_t column = 0; column < columns; ++column) {
            if (room.settled[column] != 0 && room.distance[column] < shortest) {
                room.prices[column] += shortest - room.distance[column];
                room.profits[room.row_of[column]] -= shortest - room.distance[column];
            }
        }
        room.profits[row] -= shortest;
        if (loser == row) {
            continue;
        }
        if (loser != nobody) {
            room.column_of[loser] = nobody;
        }
        // Every row on the way takes the column by which the next one was reached.
        for (std::uint32_t column = end; column != nobody;) {
            std::uint32_t const taker = room.before[column];
            room.row_of[column] = taker;
            std::swap(room.column_of[taker], column);
        }
    }
}

}  // namespace evenkeel::detail
