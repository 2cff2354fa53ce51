// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

namespace evenkeel {

/// The bytes that one rank has for another.
struct pair_bytes {
    world_rank from{};
    world_rank to{};
    std::uint64_t bytes = 0;

    friend bool operator==(pair_bytes const&, pair_bytes const&) = default;
};

/// All messages of an exchange, on all ranks: what a rank must know to relay for others.
///
/// `pairs` ascend in sender, then receiver; each has at least one byte, and none is from a rank to itself.
struct pair_traffic {
    world_size ranks;
    std::vector<pair_bytes> pairs;

    friend bool operator==(pair_traffic const&, pair_traffic const&) = default;
};

/// What `move` sends, per pair of ranks.
///
///     // Of items of 10, 20 and 30 bytes the second one goes from rank 0 to rank 1.
///     evenkeel::pair_traffic_of(move, bytes).pairs;   // 20 bytes, 0 -> 1
///
/// @param bytes  Of each item, over all its fields (`bytes_of_items`).
/// @throws std::invalid_argument  if there is not one size per item.
/// @throws std::overflow_error    if the total does not fit into 64 bits.
/// @complexity O(n log n) for n items
[[nodiscard]] inline pair_traffic pair_traffic_of(rearrangement const& move, std::span<std::uint64_t const> bytes) {
    if (bytes.size() != move.size()) {
        throw_invalid("pair_traffic_of", "bytes.size()", bytes.size(),
                      "one size for each of " + std::to_string(move.size()) + " items");
    }
    pair_traffic result{.ranks = move.ranks(), .pairs = {}};
    std::uint64_t total = 0;
    for (std::size_t item = 0; item < move.size(); ++item) {
        total = checked_add(total, bytes[item], "pair_traffic_of: the total of all bytes");
        world_rank const from = move.from().places[item].rank;
        world_rank const to = move.to().places[item].rank;
        if (from != to && bytes[item] != 0) {
            result.pairs.push_back({from, to, bytes[item]});
        }
    }
    std::ranges::sort(result.pairs, {}, [](pair_bytes const& one) { return std::tuple{one.from, one.to, one.bytes}; });
    std::size_t kept = 0;
    for (auto const& one : result.pairs) {
        if (kept > 0 && result.pairs[kept - 1].from == one.from && result.pairs[kept - 1].to == one.to) {
            result.pairs[kept - 1].bytes += one.bytes;
        } else {
            result.pairs[kept++] = one;
        }
    }
    result.pairs.resize(kept);
    return result;
}

/// A square matrix of bytes, sender after sender, as pairs. What a rank has for itself is no message and left out.
///
///     evenkeel::pair_traffic_of(std::vector<std::uint64_t>{7, 1, 0, 7}, evenkeel::world_size{2});   // 1 byte, 0 -> 1
///
/// @throws std::invalid_argument  if there is not one cell per pair of ranks.
/// @throws std::overflow_error    if the total does not fit into 64 bits.
[[nodiscard]] inline pair_traffic pair_traffic_of(std::span<std::uint64_t const> matrix, world_size ranks) {
    if (matrix.size() != checked_multiply(ranks.value, ranks.value, "pair_traffic_of: the pairs of ranks")) {
        throw_invalid("pair_traffic_of", "matrix.size()", matrix.size(),
                      "one cell for each pair of " + std::to_string(ranks.value) + " ranks");
    }
    pair_traffic result{.ranks = ranks, .pairs = {}};
    std::uint64_t total = 0;
    for (std::size_t cell = 0; cell < matrix.size(); ++cell) {
        std::size_t const from = cell / ranks.value;
        std::size_t const to = cell % ranks.value;
        if (from != to && matrix[cell] != 0) {
            total = checked_add(total, matrix[cell], "pair_traffic_of: the total of all bytes");
            result.pairs.push_back({to_id<world_rank>(from), to_id<world_rank>(to), matrix[cell]});
        }
    }
    return result;
}

}  // namespace evenkeel
