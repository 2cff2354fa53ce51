// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/rearrange/order.hpp>

namespace evenkeel {

/// Which units each sample owns in a phase: its images, its clips; none, one or many.
///
///     auto const images = evenkeel::units_of(std::vector<std::size_t>{2, 0, 1});
///     images.units();                           // 3: units 0 and 1 are of sample 0, unit 2 is of sample 2
///     evenkeel::samples_of_units(images)[2];    // item_id{2}
///
/// A unit is known by its position among the units of all samples; sample s owns `offsets[s] .. offsets[s + 1])`.
/// Plans, layouts and rearrangements of units are those of items; `expand` is how they meet those of samples.
struct unit_map {
    std::vector<std::size_t> offsets = {0};

    [[nodiscard]] std::size_t samples() const noexcept { return offsets.size() - 1; }
    [[nodiscard]] std::size_t units() const noexcept { return offsets.back(); }
    [[nodiscard]] std::size_t first(item_id sample) const noexcept { return offsets[to_index(sample)]; }
    [[nodiscard]] std::size_t count(item_id sample) const noexcept {
        return offsets[to_index(sample) + 1] - offsets[to_index(sample)];
    }

    friend bool operator==(unit_map const&, unit_map const&) = default;
};

/// The units of samples that own `counts[0]`, `counts[1]`, ... of them.
///
/// @throws std::invalid_argument  if there are more than `max_items` units in all.
[[nodiscard]] inline unit_map units_of(std::span<std::size_t const> counts) {
    unit_map result;
    result.offsets.reserve(counts.size() + 1);
    for (std::size_t sample = 0; sample < counts.size(); ++sample) {
        if (counts[sample] > max_items - result.units()) {
            throw_invalid("units_of", element("counts", sample), counts[sample],
                          "at most " + std::to_string(max_items) + " units in all");
        }
        result.offsets.push_back(result.units() + counts[sample]);
    }
    return result;
}

/// Every sample its own only unit.
[[nodiscard]] inline unit_map one_unit_each(std::size_t samples) {
    return units_of(std::vector<std::size_t>(samples, 1));
}

/// Refuses a map that is not of so many samples, or whose units are not one after the other.
///
/// @param function  Who asks, and
/// @param argument  what for; both are named in an error.
inline void require_units(std::string_view function, std::string_view argument, unit_map const& units,
                          std::size_t samples) {
    auto const& offsets = units.offsets;
    if (offsets.size() != samples + 1) {
        throw_invalid(function, std::string{argument} + ".offsets.size()", offsets.size(),
                      "1 + the " + std::to_string(samples) + " samples");
    }
    // Without an end before the last, several are looked at together: one that is less than the one before it leaves
    // the highest bit behind, unless one of the two has it.
    std::size_t bits = 0;
    for (std::size_t sample = 0; sample < samples; ++sample) {
        bits |= offsets[sample + 1] | (offsets[sample + 1] - offsets[sample]);
    }
    constexpr auto highest = std::numeric_limits<std::size_t>::max() / 2;
    if (offsets.front() != 0 || bits > highest || offsets.back() > max_items) {
        throw_invalid(function, std::string{argument} + ".offsets",
                      "[" + std::to_string(offsets.front()) + " .. " + std::to_string(offsets.back()) + "]",
                      "offsets that start at 0, never fall and end at most at " + std::to_string(max_items));
    }
}

/// The sample of each unit.
[[nodiscard]] inline std::vector<item_id> samples_of_units(unit_map const& units) {
    std::vector<item_id> result(units.units());
    for (std::size_t sample = 0; sample < units.samples(); ++sample) {
        for (std::size_t unit = units.offsets[sample]; unit < units.offsets[sample + 1]; ++unit) {
            result[unit] = to_id<item_id>(sample);
        }
    }
    return result;
}

/// What the units of each sample add up to: its tokens, its bytes, its cost.
///
///     // Sample 0 has units of 256 and 88 tokens, sample 1 none, sample 2 one of 64.
///     evenkeel::sums_of_samples(images, tokens);   // 344, 0, 64
///
/// @throws std::invalid_argument  if there is not one value per unit.
/// @throws std::overflow_error    if a sum does not fit into 64 bits.
[[nodiscard]] inline std::vector<std::uint64_t> sums_of_samples(unit_map const& units,
                                                                std::span<std::uint64_t const> values) {
    if (values.size() != units.units()) {
        throw_invalid("sums_of_samples", "values.size()", values.size(),
                      "one value for each of " + std::to_string(units.units()) + " units");
    }
    std::vector<std::uint64_t> result(units.samples());
    for (std::size_t sample = 0; sample < result.size(); ++sample) {
        for (std::size_t unit = units.offsets[sample]; unit < units.offsets[sample + 1]; ++unit) {
            result[sample] = checked_add(result[sample], values[unit], "sums_of_samples: the sum of a sample");
        }
    }
    return result;
}

/// What `expand` returns, in memory that is kept.
///
/// @param order  Holds the samples in the order of memory afterwards.
inline void expand(layout const& samples, unit_map const& units, std::vector<item_id>& order, layout& result) {
    require_units("expand", "units", units, samples.size());
    items_in_order(samples, order);
    result.ranks = samples.ranks;
    result.places.resize(units.units());
    place next{};
    for (item_id const sample : order) {
        place const& at = samples[sample];
        if (at.rank != next.rank || at.micro_batch != next.micro_batch) {
            next = {at.rank, at.micro_batch, 0};
        }
        for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
            result.places[unit] = next;
            ++next.position;
        }
    }
}

/// Where units are whose samples are laid out: with their sample, one after the other.
///
///     auto const home = evenkeel::home_layout(counts);
///     evenkeel::rearrangement const to_encoder{evenkeel::expand(home, images), encoder};   // raw images
///     evenkeel::rearrangement const to_llm{evenkeel::expand(home, images), evenkeel::expand(llm, images)};
///     auto const outputs = evenkeel::compose(to_llm, evenkeel::invert(to_encoder));        // encoder -> LLM, per unit
///
/// A rank keeps the units of its first sample, then those of its second; micro-batches stay.
///
/// @throws std::invalid_argument  if the map is not of the layout's samples.
/// @complexity O(units) + that of `items_in_order`
[[nodiscard]] inline layout expand(layout const& samples, unit_map const& units) {
    layout result;
    std::vector<item_id> order;
    expand(samples, units, order, result);
    return result;
}

}  // namespace evenkeel
