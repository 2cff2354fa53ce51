// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balanced_step.hpp"
#include "command_line.hpp"
#include "files.hpp"
#include "phases.hpp"

namespace evenkeel::examples {

/// What the command line of `balance_a_trace` asks for. Every value is in range, `ranks_per_node` divides `ranks`, the
/// product of ranks, samples and steps fits in 63 bits, and the output files can be written and are distinct.
struct options {
    std::optional<std::filesystem::path> lengths;
    std::uint64_t seed = 1;
    std::size_t ranks = 64;
    std::size_t ranks_per_node = 8;
    std::size_t samples_per_rank = 40;
    std::size_t steps = 1;
    examples::method method = examples::method::stay;
    /// Balances by each method, one after the other; what is drawn is that of `method`.
    bool compare = false;
    /// Only these phases, or all where none is named.
    std::vector<std::string> phases = {};
    std::string backend = "threads";
    payload_scale scale = {};
    /// Whether to run the steps through a dispatcher as well, and whether that prepares one while another computes.
    std::optional<bool> overlap = {};
    std::optional<output_file> json;
    std::optional<output_file> plot;

    [[nodiscard]] examples::drawing drawing() const noexcept {
        return {.ranks = ranks, .samples_per_rank = samples_per_rank};
    }
};

/// Reads the command line; `arguments[0]` is the program's name and not looked at.
///
/// @throws input_error  `--option: expected this, got that`
/// @throws help_wanted  for `--help`
[[nodiscard]] options parse_options(int count, char const* const* arguments);

/// What `--method` calls it.
[[nodiscard]] std::string_view name_of(method method) noexcept;

/// The methods to run.
[[nodiscard]] std::vector<method> methods_of(options const& options);

/// The phases of `all` that the options ask for, in the order of `all`.
///
/// @throws input_error  if there is no phase of a name that they ask for
[[nodiscard]] std::vector<phase_lengths> chosen_phases(options const& options, std::span<phase_lengths const> all);

/// The file of lengths, or as many made-up rows as the steps need, a million at most.
[[nodiscard]] trace read_or_generate(options const& options);

/// What runs, in one line: "64 ranks on 8 nodes, 40 samples per rank, 1 step, backend threads, lengths from
/// mix_omni.csv (20000 rows)".
[[nodiscard]] std::string headline(options const& options, trace const& trace);

}  // namespace evenkeel::examples
