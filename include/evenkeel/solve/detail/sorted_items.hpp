// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/solve/detail/exact_divisor.hpp>
#include <evenkeel/solve/detail/weight_sorting.hpp>

namespace evenkeel::detail {

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

/// Sorts a batch in the way that suits it; all but where its items come from.
///
/// @param batch  May be the memory of `items.weights`.
/// @param tell   As above, if items were counted; an index is that in `spare_positions` if something weighs nothing.
/// @return       Whether items were counted; if not, `positions` is filled in.
template <class Tell>
bool sort_weights(std::string_view function, std::span<std::uint64_t const> batch, sorted_items& items, Tell tell) {
    auto const [total, largest, present] = summarize(function, batch);
    bool const counted = largest <= items.largest_counted(present);
    bool const all = present == batch.size();
    if (!counted || !all) {
        leave_out_zeros(batch, present, items);
    }
    // Of all of a batch whose memory it is, nothing changes.
    items.weights.resize(present);
    items.positions.resize(present);
    std::uint64_t const unit = counted ? sort_by_counting(all ? batch : items.spare_weights, largest, items, tell)
                                       : sort_by_digits(largest, batch.size(), items);
    items.unit = std::max<std::uint64_t>(unit, 1);
    items.total = total / items.unit;
    if (items.unit > 1) {
        exact_divisor const unit_divisor{items.unit};
        for (auto& weight : items.weights) {
            weight = unit_divisor.quotient(weight);
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

/// The same where it suffices to know the `places` of items, which is quicker and takes less memory: they are written
/// in the order of the batch. There are none, but `positions`, if items were not counted.
///
/// @param batch  Its memory becomes that of the sorted weights; what is in it after that has no meaning.
inline void sort_places(std::string_view function, std::vector<std::uint64_t>& batch, sorted_items& items) {
    items.places.resize(batch.size());
    items.weights.swap(batch);
    auto const tell = [&](std::size_t index, std::uint32_t place) { items.places[index] = place; };
    if (!sort_weights(function, items.weights, items, tell)) {
        items.places.clear();
    }
}

/// Writes what is known of the sorted items, `of_sorted`, to where they stand in the batch, after `sort_places`.
inline void write_to_batch(sorted_items const& items, std::span<std::uint32_t const> of_sorted,
                           std::span<std::uint32_t> of_batch) {
    if (items.places.empty()) {
        for (std::size_t place = 0; place < items.size(); ++place) {
            of_batch[items.positions[place]] = of_sorted[place];
        }
        return;
    }
    // Places of equal weights follow one another, which no processor foresees among thousands of weights.
    constexpr std::size_t ahead = 32;
    bool const far = items.size() > std::size_t{1} << 18;
    bool const all = items.size() == of_batch.size();
    for (std::size_t index = 0; index < items.size(); ++index) {
        std::size_t const place = items.places[index];
        if (far) {
            __builtin_prefetch(of_sorted.data() + std::min(place + ahead, items.size() - 1));
        }
        of_batch[all ? index : items.spare_positions[index]] = of_sorted[place];
    }
}

}  // namespace evenkeel::detail
