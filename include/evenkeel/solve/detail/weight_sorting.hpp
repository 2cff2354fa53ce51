// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/solve/detail/exact_divisor.hpp>

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
    std::vector<std::uint32_t> starts;  ///< of the items of each weight
    std::vector<std::uint32_t> places;  ///< among the sorted ones, in the order of the batch; see `sort_places`

    /// The largest weight that is sorted by counting: going through all weights must not cost more than sorting the items
    /// by their digits.
    [[nodiscard]] static std::size_t largest_counted(std::size_t batch) noexcept {
        return std::min<std::size_t>(2 * batch, std::size_t{1} << 16);
    }

    void reserve(std::size_t batch) {
        weights.reserve(batch);
        starts.reserve(largest_counted(batch) + 1);
        places.reserve(batch);
        positions.reserve(batch);
        spare_weights.reserve(batch);
        spare_positions.reserve(batch);
    }

    [[nodiscard]] std::size_t size() const noexcept { return weights.size(); }
};

/// Leaves what weighs something in the spare memory, in the order of the batch.
inline void leave_out_zeros(std::span<std::uint64_t const> batch, std::size_t present, sorted_items& items) {
    items.spare_weights.resize(present);
    items.spare_positions.resize(present);
    std::size_t place = 0;
    for (std::size_t position = 0; place < present; ++position) {
        // What weighs nothing is overwritten by the next one: a branch would be mispredicted.
        items.spare_weights[place] = batch[position];
        items.spare_positions[place] = static_cast<std::uint32_t>(position);
        place += batch[position] != 0 ? 1U : 0U;
    }
}

/// Sorts by counting how often each weight occurs: for weights that are not much larger than there are items.
///
/// @param weights  Of those items that weigh something, as many as `items` has; may be the memory of its weights.
/// @param tell     Is told for each index of `weights` where among the sorted ones its item goes.
/// @return         The greatest common divisor, which the weights are not divided by yet.
template <class Tell>
std::uint64_t sort_by_counting(std::span<std::uint64_t const> weights, std::uint64_t largest, sorted_items& items,
                               Tell tell) {
    auto& starts = items.starts;
    starts.assign(static_cast<std::size_t>(largest) + 1, 0);
    for (auto const weight : weights) {
        ++starts[weight];
    }
    std::uint32_t before = 0;
    for (std::size_t weight = starts.size(); weight-- > 0;) {
        before += std::exchange(starts[weight], before);
    }
    for (std::size_t index = 0; index < weights.size(); ++index) {
        tell(index, starts[weights[index]]++);
    }
    // Each start is by now the end of the items of its weight, which is all there is to know of them.
    std::uint64_t unit = 0;
    before = 0;
    std::uint64_t weight = largest;
    for (; weight > 0 && unit != 1; --weight) {
        std::uint32_t const count = starts[weight] - before;
        if (count > 0) {
            std::fill_n(items.weights.begin() + before, count, weight);
            unit = std::gcd(unit, weight);
            before += count;
        }
    }
    for (; before < items.size(); --weight) {
        std::uint32_t const count = starts[weight] - before;
        // Whether some item has a weight no processor foresees; if none has, the next weight is written over this one.
        items.weights[before] = weight;
        for (std::uint32_t more = 1; more < count; ++more) {
            items.weights[before + more] = weight;
        }
        before += count;
    }
    return unit;
}

/// How a radix sort cuts weights into digits, the least significant first.
class weight_digits {
  public:
    static constexpr std::size_t most_values = 2048;

    weight_digits(std::uint64_t largest, std::size_t items) noexcept
        : width_{static_cast<unsigned>(std::bit_width(largest))},
          passes_{(width_ + (items < 512 ? 6 : 11) - 1) / (items < 512 ? 6 : 11)} {}

    [[nodiscard]] unsigned passes() const noexcept { return passes_; }
    [[nodiscard]] unsigned shift(unsigned pass) const noexcept { return width_ * pass / passes_; }
    [[nodiscard]] std::uint64_t mask(unsigned pass) const noexcept {
        return (std::uint64_t{1} << (shift(pass + 1) - shift(pass))) - 1;
    }

  private:
    unsigned width_;
    unsigned passes_;
};

/// From how often each digit occurs to where the first item with it goes, largest digit first.
inline void make_digit_starts(std::span<std::uint32_t> starts) noexcept {
    std::uint32_t before = 0;
    for (std::size_t digit = starts.size(); digit-- > 0;) {
        before += std::exchange(starts[digit], before);
    }
}

/// Sorts by digits what `leave_out_zeros` has left; stable.
inline void sort_by_digits(weight_digits const& digits, sorted_items& items) {
    std::swap(items.weights, items.spare_weights);
    std::swap(items.positions, items.spare_positions);
    for (unsigned pass = 0; pass < digits.passes(); ++pass) {
        unsigned const shift = digits.shift(pass);
        std::uint64_t const mask = digits.mask(pass);
        std::array<std::uint32_t, weight_digits::most_values> starts{};
        for (auto const weight : items.weights) {
            ++starts[weight >> shift & mask];
        }
        make_digit_starts(std::span{starts}.first(mask + 1));
        for (std::size_t from = 0; from < items.size(); ++from) {
            auto const to = starts[items.weights[from] >> shift & mask]++;
            items.spare_weights[to] = items.weights[from];
            items.spare_positions[to] = items.positions[from];
        }
        std::swap(items.weights, items.spare_weights);
        std::swap(items.positions, items.spare_positions);
    }
}

/// The same with weight and position packed into one number each, of which the position takes the lowest bits.
inline void sort_packed(weight_digits const& digits, unsigned position_bits, sorted_items& items) {
    auto& keys = items.spare_weights;
    for (std::size_t index = 0; index < keys.size(); ++index) {
        keys[index] = keys[index] << position_bits | items.spare_positions[index];
    }
    for (unsigned pass = 0; pass < digits.passes(); ++pass) {
        unsigned const shift = position_bits + digits.shift(pass);
        std::uint64_t const mask = digits.mask(pass);
        std::array<std::uint32_t, weight_digits::most_values> starts{};
        for (auto const key : keys) {
            ++starts[key >> shift & mask];
        }
        make_digit_starts(std::span{starts}.first(mask + 1));
        for (auto const key : keys) {
            items.weights[starts[key >> shift & mask]++] = key;
        }
        std::swap(items.weights, keys);
    }
    std::uint64_t const position_mask = (std::uint64_t{1} << position_bits) - 1;
    for (std::size_t index = 0; index < keys.size(); ++index) {
        items.weights[index] = keys[index] >> position_bits;
        items.positions[index] = static_cast<std::uint32_t>(keys[index] & position_mask);
    }
}

/// The greatest common divisor of `unit` and all weights; 0 of nothing.
[[nodiscard]] inline std::uint64_t divisor_of(std::span<std::uint64_t const> weights, std::uint64_t unit = 0) noexcept {
    exact_divisor divisor{std::max<std::uint64_t>(unit, 1)};
    for (auto const weight : weights) {
        if (unit == 1) {
            break;
        }
        if (unit == 0 || !divisor.divides(weight)) {
            unit = std::gcd(unit, weight);
            divisor = exact_divisor{std::max<std::uint64_t>(unit, 1)};
        }
    }
    return unit;
}

/// Sorts by the digits of the weights, in whichever way fits into 64 bits; returns the greatest common divisor.
inline std::uint64_t sort_by_digits(std::uint64_t largest, std::size_t batch, sorted_items& items) {
    std::uint64_t const unit = divisor_of(items.spare_weights);
    weight_digits const digits{largest, items.size()};
    auto const position_bits = static_cast<unsigned>(std::bit_width(batch));
    if (static_cast<unsigned>(std::bit_width(largest)) + position_bits <= 64) {
        sort_packed(digits, position_bits, items);
    } else {
        sort_by_digits(digits, items);
    }
    return unit;
}

}  // namespace evenkeel::detail
