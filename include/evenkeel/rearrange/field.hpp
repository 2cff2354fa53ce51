// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/length.hpp>

namespace evenkeel {

/// A named payload that travels with an item: token ids, pixels, positions. How many bytes of it each item carries.
///
/// A rank keeps a field as one buffer: its items in the order of its memory, without gaps.
struct field {
    std::string name;
    std::vector<std::uint64_t> bytes;

    friend bool operator==(field const&, field const&) = default;
};

/// A field with the same number of bytes for every token of an item.
///
///     evenkeel::field_per_token("token ids", std::vector{3, 5}, sizeof(std::int64_t)).bytes;   // 24, 40
///
/// @throws std::overflow_error    if an item's bytes do not fit into 64 bits.
/// @throws std::invalid_argument  if a length is negative or not a number.
template <std::ranges::input_range Lengths>
requires sample_length<std::ranges::range_value_t<Lengths>>
[[nodiscard]] field field_per_token(std::string name, Lengths&& lengths, std::uint64_t bytes_per_token) {
    field result{.name = std::move(name), .bytes = {}};
    for (std::ranges::range_value_t<Lengths> const length : lengths) {
        result.bytes.push_back(
            whole_length(length, bytes_per_token, "field_per_token", result.bytes.size(), "lengths"));
    }
    return result;
}

/// A field with the same number of bytes for every item, such as a label.
///
///     evenkeel::field_per_item("label", 3, sizeof(std::int64_t)).bytes;   // 8, 8, 8
[[nodiscard]] inline field field_per_item(std::string name, std::size_t items, std::uint64_t bytes_per_item) {
    return {.name = std::move(name), .bytes = std::vector<std::uint64_t>(items, bytes_per_item)};
}

/// How many bytes of all `fields` together each of `items` items carries.
///
///     // Pixels of 10, 20 and 30 bytes, and a label of 8 for each.
///     evenkeel::bytes_of_items(std::array{pixels, labels}, 3);   // 18, 28, 38
///
/// @param fields  Any range of fields, such as `std::array{pixels, labels}`.
/// @throws std::invalid_argument  if a field does not know each item's bytes.
/// @throws std::overflow_error    if an item's bytes do not fit into 64 bits.
template <std::ranges::input_range Fields>
requires std::same_as<std::ranges::range_value_t<Fields>, field>
[[nodiscard]] std::vector<std::uint64_t> bytes_of_items(Fields&& fields, std::size_t items) {
    std::vector<std::uint64_t> total(items);
    std::size_t number = 0;
    for (field const& one : fields) {
        if (one.bytes.size() != items) {
            throw_invalid("bytes_of_items", element("fields", number) + ".bytes.size()", one.bytes.size(),
                          "one size for each of " + std::to_string(items) + " items");
        }
        for (std::size_t item = 0; item < items; ++item) {
            total[item] = checked_add(total[item], one.bytes[item], "bytes_of_items: the size of an item");
        }
        ++number;
    }
    return total;
}

/// How large the buffer of a field is on a rank: known before anything is allocated or moved.
///
///     std::vector<std::byte> pixels(evenkeel::bytes_on(move.to(), rank, pixel_field));
///
/// @throws std::invalid_argument  if the field does not know each item's bytes.
/// @throws std::overflow_error    if the bytes do not fit into 64 bits.
[[nodiscard]] inline std::uint64_t bytes_on(layout const& layout, world_rank rank, field const& field) {
    if (field.bytes.size() != layout.size()) {
        throw_invalid("bytes_on", "field.bytes.size()", field.bytes.size(),
                      "one size for each of " + std::to_string(layout.size()) + " items");
    }
    std::uint64_t total = 0;
    for (std::size_t item = 0; item < layout.size(); ++item) {
        if (layout.places[item].rank == rank) {
            total = checked_add(total, field.bytes[item], "bytes_on: the size of a field");
        }
    }
    return total;
}

}  // namespace evenkeel
