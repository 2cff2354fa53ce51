// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "input_error.hpp"
#include "text.hpp"

namespace evenkeel::examples {
namespace {

/// The line that CLI11 draws between what it calls an error and what the option does with its value is none of the
/// reader's business.
[[noreturn]] void explain(CLI::ParseError const& error, CLI::App const& app) {
    auto const unknown = app.remaining();
    if (!unknown.empty()) {
        auto const kind = unknown.front().starts_with('-') ? "unknown option" : "unexpected argument";
        throw input_error{fmt::format("{}: {}, --help lists all options", in_quotes(unknown.front()), kind)};
    }
    for (auto const* const option : app.get_options()) {
        if (std::string_view{error.what()}.starts_with(option->get_name() + ":")) {
            refuse(option->get_name(), "a value", "none");
        }
    }
    throw input_error{error.what()};
}

}  // namespace

void refuse(std::string_view option, std::string_view expected, std::string_view got) {
    throw input_error{fmt::format("{}: expected {}, got {}", option, expected, got)};
}

std::uint64_t whole_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
    auto value = std::uint64_t{0};
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stop == end && least <= value && value <= most) {
        return value;
    }
    auto const range =
        most == no_limit ? fmt::format("of at least {}", least) : fmt::format("from {} to {}", least, most);
    auto const is_number =
        !text.empty() && text.find_first_not_of("0123456789", text.front() == '-' ? 1 : 0) == text.npos;
    refuse(option, fmt::format("a whole number {}", range), is_number ? shortened(text, 40) : in_quotes(text));
}

void add_path(CLI::App& app, std::string const& name, std::optional<std::filesystem::path>& target,
              std::string const& help) {
    app.add_option_function<std::string>(
           name,
           [&target, name](std::string const& text) {
               if (text.empty()) {
                   refuse(name, "a file", "''");
               }
               target = text;
           },
           help)
        ->type_name("FILE");
}

CLI::Option* add_choice(CLI::App& app, std::string const& name, std::span<std::string_view const> names,
                        std::string const& help, std::function<void(std::size_t)> take) {
    auto const choose = [name, take = std::move(take),
                         known = std::vector<std::string_view>(names.begin(), names.end())](std::string const& text) {
        auto const found = std::ranges::find(known, text);
        if (found == known.end()) {
            refuse(name, fmt::format("one of: {}", fmt::join(known, ", ")), in_quotes(text));
        }
        take(static_cast<std::size_t>(found - known.begin()));
    };
    return app.add_option_function<std::string>(name, choose, help)->type_name("NAME");
}

std::vector<std::optional<output_file>> open_outputs(std::span<output_path const> outputs,
                                                     std::span<output_path const> inputs) {
    auto result = std::vector<std::optional<output_file>>{};
    for (auto const& [option, path] : outputs) {
        auto& file = result.emplace_back();
        if (!path) {
            continue;
        }
        try {
            file.emplace(*path);
        } catch (input_error const& error) {
            throw input_error{fmt::format("{}: {}", option, error.what())};
        }
        auto const refuse_if_same = [&](std::string_view other, std::optional<std::filesystem::path> const& used) {
            if (used && file->same_as(*used)) {
                refuse(option, fmt::format("a file other than that of {}", other), in_quotes(path->string()));
            }
        };
        for (auto const& input : inputs) {
            refuse_if_same(input.option, input.path);
        }
        for (auto earlier = std::size_t{0}; earlier + 1 < result.size(); ++earlier) {
            refuse_if_same(outputs[earlier].option, outputs[earlier].path);
        }
    }
    return result;
}

void parse(CLI::App& app, int count, char const* const* arguments) {
    app.allow_extras();
    try {
        app.parse(count, arguments);
        if (!app.remaining().empty()) {
            throw CLI::ExtrasError{app.remaining()};
        }
    } catch (CLI::CallForHelp const&) {
        throw help_wanted{app.help()};
    } catch (CLI::ParseError const& error) {
        explain(error, app);
    }
}

}  // namespace evenkeel::examples
