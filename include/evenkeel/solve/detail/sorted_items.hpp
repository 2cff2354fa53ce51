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
    std::vector<std::uint32_t> starts;  ///< of the items of each weight
    std::vector<std::uint32_t> places;  ///< among the sorted ones, in the order of the batch; see `sort_places`

    /// The largest weight that is sorted by counting: going through all weights must not cost more than the items.
    [[nodiscard]] static std::size_t largest_counted(std::size_t batch) noexcept {
        return std::min<std::size_t>(batch, std::size_t{1} << 16);
    }

    void reserve(std::size_t batch) {
        weights.reserve(batch + 1);
        starts.reserve(largest_counted(batch) + 1);
        places.reserve(batch);
        positions.reserve(batch + 1);
        spare_weights.reserve(batch + 1);
        spare_positions.reserve(batch + 1);
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

/// The sum of a batch and what else its weights have in common.
struct weight_summary {
    std::uint64_t total = 0;
    std::uint64_t largest = 0;
    std::size_t present = 0;  ///< how many weigh something
};

/// @throws std::overflow_error  if the sum exceeds 64 bits; names `function`.
[[nodiscard]] inline weight_summary summarize(std::string_view function, std::span<std::uint64_t const> batch) {
    weight_summary result;
    for (auto const weight : batch) {
        result.total += weight;
        result.largest = std::max(result.largest, weight);
        result.present += weight != 0 ? 1U : 0U;
    }
    if (std::bit_width(result.largest) + std::bit_width(batch.size()) > 64) {
        result.total = 0;
        for (auto const weight : batch) {
            if (__builtin_add_overflow(result.total, weight, &result.total)) {
                throw std::overflow_error{std::string{function}.append(": the total load exceeds 64 bits")};
            }
        }
    }
    return result;
}

/// Leaves what weighs something in the spare memory, in the order of the batch.
inline void leave_out_zeros(std::span<std::uint64_t const> batch, std::size_t present, sorted_items& items) {
    // One more, for what is overwritten by the next one: a branch would be mispredicted.
    items.spare_weights.resize(present + 1);
    items.spare_positions.resize(present + 1);
    std::size_t place = 0;
    for (std::size_t position = 0; position < batch.size(); ++position) {
        items.spare_weights[place] = batch[position];
        items.spare_positions[place] = static_cast<std::uint32_t>(position);
        place += batch[position] != 0 ? 1U : 0U;
    }
    items.spare_weights.resize(present);
    items.spare_positions.resize(present);
}

/// Sorts by counting how often each weight occurs: for weights that are not much larger than there are items.
///
/// @param tell  Is told for each index of `weights` where among the sorted ones its item goes.
/// @return      The greatest common divisor, which the weights are not divided by yet.
template <class Tell>
std::uint64_t sort_by_counting(std::span<std::uint64_t const> weights, std::uint64_t largest, sorted_items& items,
                               Tell tell) {
    auto& starts = items.starts;
    starts.assign(static_cast<std::size_t>(largest) + 1, 0);
    for (auto const weight : weights) {
        ++starts[weight];
    }
    std::uint64_t unit = 0;
    std::uint32_t before = 0;
    for (std::uint64_t weight = largest; weight > 0; --weight) {
        std::uint32_t const count = std::exchange(starts[weight], before);
        if (count > 0) {
            std::fill_n(items.weights.begin() + before, count, weight);
            unit = unit == 1 ? 1 : std::gcd(unit, weight);
            before += count;
        }
    }
    for (std::size_t index = 0; index < weights.size(); ++index) {
        tell(index, starts[weights[index]]++);
    }
    return unit;
}

/// Sorts by the digits of the weights, the least significant first; the weights are in the spare memory.
inline std::uint64_t sort_by_digits(std::uint64_t largest, sorted_items& items) {
    std::swap(items.weights, items.spare_weights);
    std::swap(items.positions, items.spare_positions);
    std::uint64_t unit = 0;
    for (auto const weight : items.weights) {
        if (unit == 1) {
            break;
        }
        unit = unit == 0 || weight % unit != 0 ? std::gcd(unit, weight) : unit;
    }
    auto const width = static_cast<unsigned>(std::bit_width(largest));
    unsigned const widest_digit = items.size() < 512 ? 6 : 11;
    unsigned const passes = (width + widest_digit - 1) / widest_digit;
    for (unsigned pass = 0; pass < passes; ++pass) {
        unsigned const shift = width * pass / passes;
        sort_by_digit(items, shift, width * (pass + 1) / passes - shift);
    }
    return unit;
}

/// Sorts a batch in the way that suits it; all but where its items come from.
///
/// @param tell  As above, if items were counted; an index is that in `spare_positions` if something weighs nothing.
/// @return      Whether items were counted; if not, `positions` is filled in.
template <class Tell>
bool sort_weights(std::string_view function, std::span<std::uint64_t const> batch, sorted_items& items, Tell tell) {
    auto const [total, largest, present] = summarize(function, batch);
    items.weights.resize(present);
    items.positions.resize(present);
    items.places.resize(present);
    bool const counted = largest <= items.largest_counted(present);
    bool const all = present == batch.size();
    if (!counted || !all) {
        leave_out_zeros(batch, present, items);
    }
    std::uint64_t const unit = counted ? sort_by_counting(all ? batch : items.spare_weights, largest, items, tell)
                                       : sort_by_digits(largest, items);
    items.unit = std::max<std::uint64_t>(unit, 1);
    items.total = total / items.unit;
    if (items.unit > 1) {
        for (auto& weight : items.weights) {
            weight /= items.unit;
        }
    }
    return counted;
}

/// Fills `items` from a batch of fewer than 2^32 weights.
///
/// Linear in the items; both ways of sorting are stable, which makes ties fall by position.
/// @param function  Who asks; named in an error.
/// @throws std::overflow_error  if the sum of the weights exceeds 64 bits.
inline void sort_items(std::string_view function, std::span<std::uint64_t const> batch, sorted_items& items) {
    auto const tell = [&](std::size_t index, std::uint32_t place) {
        items.positions[place] =
            items.size() < batch.size() ? items.spare_positions[index] : static_cast<std::uint32_t>(index);
    };
    static_cast<void>(sort_weights(function, batch, items, tell));
}

/// The same for `spread`, which is quicker: `places` instead of `positions`, if items were counted, for that is written in
/// the order of the batch.
inline void sort_places(std::string_view function, std::span<std::uint64_t const> batch, sorted_items& items) {
    auto const tell = [&](std::size_t index, std::uint32_t place) { items.places[index] = place; };
    if (!sort_weights(function, batch, items, tell)) {
        items.places.clear();
    }
}

/// Writes what is known of the sorted items, `of_sorted`, to where they stand in the batch, after `sort_places`.
inline void spread(sorted_items const& items, std::span<std::uint32_t const> of_sorted,
                   std::span<std::uint32_t> of_batch) {
    if (items.places.empty()) {
        for (std::size_t place = 0; place < items.size(); ++place) {
            of_batch[items.positions[place]] = of_sorted[place];
        }
    } else if (items.size() < of_batch.size()) {
        for (std::size_t index = 0; index < items.size(); ++index) {
            of_batch[items.spare_positions[index]] = of_sorted[items.places[index]];
        }
    } else {
        for (std::size_t index = 0; index < items.size(); ++index) {
            of_batch[index] = of_sorted[items.places[index]];
        }
    }
}

}  // namespace evenkeel::detail
