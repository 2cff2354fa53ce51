// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::examples {

/// The lengths of many samples: one row per sample, one named column per modality.
struct trace {
    std::vector<std::string> columns = {};
    /// Row after row, `columns.size()` to a row.
    std::vector<std::uint64_t> lengths = {};

    [[nodiscard]] std::size_t rows() const noexcept { return columns.empty() ? 0 : lengths.size() / columns.size(); }

    [[nodiscard]] std::span<std::uint64_t const> operator[](std::size_t row) const noexcept {
        return std::span{lengths}.subspan(row * columns.size(), columns.size());
    }

    friend bool operator==(trace const&, trace const&) = default;
};

/// Reads a file of lengths.
///
///     # tokens of each example
///     text,image,audio
///     12,256+256+88,0
///
/// Cells are separated by commas. A cell is a length, or the lengths of a sample's units joined by `+`, which counts as
/// their sum. The first line that is neither blank nor a comment names the columns; `llm` is no name for one, for that
/// phase is the sum of all columns. Blanks around a cell, blank lines, comments anywhere, CRLF line ends and a byte
/// order mark are fine.
///
/// @throws input_error  `FILE:LINE:COLUMN: found this, expected that`, where COLUMN counts the cells of the line from
///                      1. The sum of a row must fit in 64 bits too.
[[nodiscard]] trace read_trace(std::filesystem::path const& file);

/// The same for text that is in memory already; `name` stands for the file in errors.
[[nodiscard]] trace parse_trace(std::string_view text, std::string_view name);

}  // namespace evenkeel::examples
