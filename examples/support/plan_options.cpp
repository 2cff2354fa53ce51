// SPDX-License-Identifier: Apache-2.0
#include "plan_options.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command_line.hpp"
#include "input_error.hpp"
#include "plan_json.hpp"
#include "text.hpp"

namespace evenkeel::examples {

cluster_options parse_cluster_options(int count, char const* const* arguments) {
    auto result = cluster_options{};
    auto file = std::optional<std::filesystem::path>{};
    auto json = std::optional<std::filesystem::path>{};
    auto plot = std::optional<std::filesystem::path>{};
    auto input = std::optional<std::filesystem::path>{};
    auto const names = plan_preset_names();

    auto app = CLI::App{
        "Plans how a multimodal model is laid over a cluster: the parallelism, the replicas and the GPUs of each of "
        "its submodules. Compares the plan with all submodules on every GPU."};
    app.name("plan_cluster");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_path(app, "FILE", file, "What to plan, as JSON; --preset with --write-input gives one to begin with");
    add_choice(app, "--preset", names, fmt::format("Instead of FILE: {}", fmt::join(names, ", ")),
               [&](std::size_t which) { result.name = names[which]; });
    add_path(app, "--json", json, "Write the plan as JSON");
    add_path(app, "--plot", plot, "Write times and placement as SVG");
    add_path(app, "--write-input", input, "Write what is planned as JSON, to be edited and read again");
    parse(app, count, arguments);

    if (file.has_value() == !result.name.empty()) {
        throw input_error{file ? "--preset: expected no FILE beside it" : "FILE or --preset: expected one, got none"};
    }
    if (file) {
        result.preset.input = read_plan_input(*file);
        result.name = printable(file->filename().string());
    } else {
        result.preset = preset_of(result.name);
    }
    auto const outputs =
        std::array{output_path{"--json", json}, output_path{"--plot", plot}, output_path{"--write-input", input}};
    auto files = open_outputs(outputs, std::array{output_path{"FILE", file}});
    result.json = std::move(files[0]);
    result.plot = std::move(files[1]);
    result.written_input = std::move(files[2]);
    return result;
}

}  // namespace evenkeel::examples
