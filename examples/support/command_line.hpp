// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "files.hpp"

namespace evenkeel::examples {

inline constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

/// Thrown by `parse` where the command line asks for nothing but help; `what()` is the help.
class help_wanted : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// @throws input_error  `--option: expected this, got that`
[[noreturn]] void refuse(std::string_view option, std::string_view expected, std::string_view got);

/// @throws input_error  if `text` is no whole number in that range
[[nodiscard]] std::uint64_t whole_number(std::string_view option, std::string_view text, std::uint64_t least,
                                         std::uint64_t most);

/// Adds an option that takes a file.
///
/// @param target  Must outlive `parse`.
void add_path(CLI::App& app, std::string const& name, std::optional<std::filesystem::path>& target,
              std::string const& help);

/// Where an option writes.
struct output_path {
    std::string option = {};
    std::optional<std::filesystem::path> path = {};
};

/// The files to write, of those options that were given, in their order.
///
/// @param inputs  Files that are read and must not be written, with the options that name them.
/// @throws input_error  if a file cannot be written, is read too, or is written twice
[[nodiscard]] std::vector<std::optional<output_file>> open_outputs(std::span<output_path const> outputs,
                                                                   std::span<output_path const> inputs = {});

/// Reads the command line; `arguments[0]` is the program's name and not looked at.
///
/// @throws input_error  `--option: expected this, got that`
/// @throws help_wanted  for `--help`
void parse(CLI::App& app, int count, char const* const* arguments);

}  // namespace evenkeel::examples
