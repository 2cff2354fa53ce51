// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/sorted_items.hpp>

namespace evenkeel::detail {

/// The different sizes among the sorted items, largest first, and how often each occurs.
///
/// Batches are filled size by size: there are far fewer sizes than items, as lengths are whole tokens.
struct mixed_sizes {
    std::vector<std::uint64_t> padded;  ///< weights
    std::vector<std::uint64_t> packed;
    std::vector<std::uint32_t> first;    ///< sorted item of each size, and one past the last
    std::vector<std::uint32_t> of_item;  ///< the size of each sorted item
    std::uint64_t total = 0;             ///< of both weights over all items
    std::uint64_t unit = 1;              ///< greatest common divisor of all weights, so of every load

    void reserve(std::size_t items) {
        padded.reserve(items);
        packed.reserve(items);
        first.reserve(items + 1);
        of_item.reserve(items);
    }

    /// @param items           Sorted by the sum of both weights, which tells sizes apart as neither falls with length.
    /// @param padded_weights  Of the batch.
    void assign(sorted_items const& items, std::span<std::uint64_t const> padded_weights) {
        padded.clear();
        packed.clear();
        first.clear();
        of_item.resize(items.size());
        unit = 0;
        for (std::size_t item = 0; item < items.size(); ++item) {
            if (item == 0 || items.weights[item] != items.weights[item - 1]) {
                first.push_back(static_cast<std::uint32_t>(item));
                padded.push_back(padded_weights[items.positions[item]]);
                packed.push_back(items.weights[item] * items.unit - padded.back());
                unit = unit == 1 ? 1 : std::gcd(unit, std::gcd(padded.back(), packed.back()));
            }
            of_item[item] = static_cast<std::uint32_t>(first.size() - 1);
        }
        first.push_back(static_cast<std::uint32_t>(items.size()));
        total = items.total * items.unit;
    }

    [[nodiscard]] std::size_t size() const noexcept { return padded.size(); }
    [[nodiscard]] std::size_t items() const noexcept { return of_item.size(); }
    [[nodiscard]] std::uint32_t count(std::size_t size) const noexcept { return first[size + 1] - first[size]; }
    /// What an item costs a batch of its own size.
    [[nodiscard]] std::uint64_t whole(std::size_t size) const noexcept { return padded[size] + packed[size]; }
};

}  // namespace evenkeel::detail
