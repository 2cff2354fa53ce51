// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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

/// Adds an option that takes a whole number; its default is what `target` is now.
///
/// @param target  Must outlive `parse`.
template <class Number>
CLI::Option* add_number(CLI::App& app, std::string const& name, Number& target, std::uint64_t least, std::uint64_t most,
                        std::string const& help) {
    return app
        .add_option_function<std::string>(
            name,
            [&target, name, least, most](std::string const& text) { target = whole_number(name, text, least, most); },
            help)
        ->type_name("N")
        ->default_str(std::to_string(target));
}

/// Adds an option that takes one of some names.
///
/// @param take  Is given the position of the name among `names`.
CLI::Option* add_choice(CLI::App& app, std::string const& name, std::span<std::string_view const> names,
                        std::string const& help, std::function<void(std::size_t)> take);

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
