// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace evenkeel::detail {

/// Sorts few items, as many as a node has of a batch: what is known of them stays in the nearest cache all the while.
///
/// By digits, with weight and position packed into one number of 32 bits. How often each digit of any place occurs is
/// counted while these are packed. Digits are equally wide: few values of one would have each item wait for the one
/// before to be counted.
namespace short_sorting {

inline constexpr unsigned position_bits = 10;
inline constexpr std::size_t most_items = std::size_t{1} << position_bits;
inline constexpr unsigned most_digit_bits = 9;

/// What the weights have in common.
struct summary {
    unsigned width = 0;       ///< of the widest, or more, in bits
    std::size_t present = 0;  ///< how many weigh something
};

[[nodiscard]] inline summary summarize(std::span<std::uint64_t const> batch) noexcept {
    summary result;
    std::uint64_t bits = 0;
    for (auto const weight : batch) {
        bits |= weight;
        result.present += weight != 0 ? 1U : 0U;
    }
    result.width = static_cast<unsigned>(std::bit_width(bits));
    return result;
}

/// Whether items are few and light enough.
[[nodiscard]] inline bool fits(std::size_t items, unsigned width) noexcept {
    return items <= most_items && width + position_bits <= 32;
}

/// Writes what weighs something, heaviest first, ties by position, and where in the batch it stands.
///
/// @param batch      What `fits`.
/// @param common     What is true of it; of width at most so many digits.
/// @param first      The position of its first item.
/// @param weights, positions  Have room for all.
template <unsigned digits>
void sort(std::span<std::uint64_t const> batch, summary const& common, std::uint32_t first, std::uint64_t* weights,
          std::uint32_t* positions) noexcept {
    std::array<std::uint32_t, most_items> keys;
    std::array<std::uint32_t, most_items> spare;
    std::array<std::array<std::uint32_t, std::size_t{1} << most_digit_bits>, digits> starts;
    std::array<unsigned, digits + 1> shifts{};
    for (unsigned digit = 0; digit < digits; ++digit) {
        shifts[digit + 1] = common.width * (digit + 1) / digits;
        std::fill_n(starts[digit].begin(), std::size_t{1} << (shifts[digit + 1] - shifts[digit]), 0U);
    }
    auto const mask = [&](unsigned digit) { return (1U << (shifts[digit + 1] - shifts[digit])) - 1; };
    auto const count = [&](std::uint32_t weight) {
        for (unsigned digit = 0; digit < digits; ++digit) {
            ++starts[digit][weight >> shifts[digit] & mask(digit)];
        }
    };
    std::size_t const size = common.present;
    if (size == batch.size()) {
        for (std::uint32_t position = 0; position < size; ++position) {
            auto const weight = static_cast<std::uint32_t>(batch[position]);
            keys[position] = weight << position_bits | position;
            count(weight);
        }
    } else {
        // What weighs nothing is left out first: as one value it would have each of its items wait for the one before.
        std::size_t place = 0;
        for (std::uint32_t position = 0; place < size; ++position) {
            auto const weight = static_cast<std::uint32_t>(batch[position]);
            keys[place] = weight << position_bits | position;
            place += weight != 0 ? 1U : 0U;
        }
        for (auto const key : std::span{keys}.first(size)) {
            count(key >> position_bits);
        }
    }
    // Largest digit first.
    for (unsigned digit = 0; digit < digits; ++digit) {
        std::uint32_t before = 0;
        for (std::size_t value = mask(digit) + std::size_t{1}; value-- > 0;) {
            before += std::exchange(starts[digit][value], before);
        }
    }
    auto* from = keys.data();
    auto* to = spare.data();
    for (unsigned digit = 0; digit + 1 < digits; ++digit) {
        for (std::size_t index = 0; index < size; ++index) {
            std::uint32_t const key = from[index];
            to[starts[digit][key >> (position_bits + shifts[digit]) & mask(digit)]++] = key;
        }
        std::swap(from, to);
    }
    constexpr unsigned last = digits - 1;
    for (std::size_t index = 0; index < size; ++index) {
        std::uint32_t const key = from[index];
        std::uint32_t const place = starts[last][key >> (position_bits + shifts[last])]++;
        weights[place] = key >> position_bits;
        positions[place] = first + (key & (most_items - 1));
    }
}

/// The same for any that `fits`.
inline void sort(std::span<std::uint64_t const> batch, summary const& common, std::uint32_t first,
                 std::uint64_t* weights, std::uint32_t* positions) noexcept {
    if (common.width <= most_digit_bits) {
        sort<1>(batch, common, first, weights, positions);
    } else if (common.width <= 2 * most_digit_bits) {
        sort<2>(batch, common, first, weights, positions);
    } else {
        sort<3>(batch, common, first, weights, positions);
    }
}

}  // namespace short_sorting

}  // namespace evenkeel::detail
