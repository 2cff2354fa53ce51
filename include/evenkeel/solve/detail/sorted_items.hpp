// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evenkeel::detail {

/// The items that weigh something, heaviest first, ties by position; weights in units of their greatest common divisor.
///
/// Solvers see only this: what weighs nothing needs no search, and once divided by the divisor every integer load is
/// possible as far as divisibility goes, so that no solver needs to know of tiles.
struct sorted_items {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint32_t> positions;  ///< in the batch, of each weight
    std::uint64_t unit = 1;                ///< the greatest common divisor
    std::uint64_t total = 0;               ///< of `weights`, so in units

    std::vector<std::uint64_t> spare_weights;
    std::vector<std::uint32_t> spare_positions;

    void reserve(std::size_t batch) {
        weights.reserve(batch);
        positions.reserve(batch);
        spare_weights.reserve(batch);
        spare_positions.reserve(batch);
    }

    [[nodiscard]] std::size_t size() const noexcept { return weights.size(); }
};

/// One pass of a stable radix sort, by the `bits` bits from `shift` on, largest digit first.
inline void sort_by_digit(sorted_items& items, unsigned shift, unsigned bits) {
    std::array<std::uint32_t, 2048> starts{};
    std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
    for (auto const weight : items.weights) {
        ++starts[weight >> shift & mask];
    }
    std::uint32_t before = 0;
    for (std::size_t digit = mask + 1; digit-- > 0;) {
        before += std::exchange(starts[digit], before);
    }
    items.spare_weights.resize(items.size());
    items.spare_positions.resize(items.size());
    for (std::size_t from = 0; from < items.size(); ++from) {
        auto const to = starts[items.weights[from] >> shift & mask]++;
        items.spare_weights[to] = items.weights[from];
        items.spare_positions[to] = items.positions[from];
    }
    std::swap(items.weights, items.spare_weights);
    std::swap(items.positions, items.spare_positions);
}

/// Fills `items` from a batch of fewer than 2^32 weights.
///
/// Radix sort from the least significant digit: linear in the items, and stable, which makes ties fall by position.
/// @param function  Who asks; named in an error.
/// @throws std::overflow_error  if the sum of the weights exceeds 64 bits.
inline void sort_items(std::string_view function, std::span<std::uint64_t const> batch, sorted_items& items) {
    items.weights.clear();
    items.positions.clear();
    std::uint64_t total = 0;
    std::uint64_t largest = 0;
    std::uint64_t unit = 0;
    for (std::size_t position = 0; position < batch.size(); ++position) {
        std::uint64_t const weight = batch[position];
        if (weight == 0) {
            continue;
        }
        if (__builtin_add_overflow(total, weight, &total)) {
            throw std::overflow_error{std::string{function}.append(": the total load exceeds 64 bits")};
        }
        largest = std::max(largest, weight);
        if (unit != 1 && (unit == 0 || weight % unit != 0)) {
            unit = std::gcd(unit, weight);
        }
        items.weights.push_back(weight);
        items.positions.push_back(static_cast<std::uint32_t>(position));
    }
    items.unit = std::max<std::uint64_t>(unit, 1);
    items.total = total / items.unit;
    if (items.unit > 1) {
        for (auto& weight : items.weights) {
            weight /= items.unit;
        }
    }

    auto const width = static_cast<unsigned>(std::bit_width(largest / items.unit));
    unsigned const widest_digit = items.size() < 512 ? 6 : 11;
    unsigned const passes = (width + widest_digit - 1) / widest_digit;
    for (unsigned pass = 0; pass < passes; ++pass) {
        unsigned const shift = width * pass / passes;
        sort_by_digit(items, shift, width * (pass + 1) / passes - shift);
    }
}

}  // namespace evenkeel::detail
