// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/support/files.hpp"

namespace evenkeel::perf {

/// What the command line asks for; the letters are those of nccl-tests.
struct options {
    std::uint64_t smallest = 1 << 10;  ///< -b: bytes per rank, for all its peers and itself together
    std::uint64_t largest = 1 << 20;   ///< -e
    std::uint64_t factor = 4;          ///< -f
    std::size_t iterations = 20;       ///< -n: exchanges per round
    std::size_t warmup = 5;            ///< -w
    bool check = true;                 ///< -c
    std::size_t rounds = 5;            ///< all subjects take turns; the median of the rounds is told
    std::string backend = "threads";
    std::size_t ranks = 8;
    std::size_t ranks_per_node = 0;  ///< 0: all on one
    std::vector<std::string> subjects;
    std::optional<std::filesystem::path> matrix;
    std::optional<std::filesystem::path> lengths;
    std::string plan = "scratch";
    std::string phase = "llm";
    std::size_t samples_per_rank = 40;
    std::uint64_t bytes_per_token = 1024;
    bool measure = true;
    std::optional<std::uint64_t> pack;
    std::optional<examples::output_file> json;
};

/// @throws input_error  `--option: expected this, got that`
/// @throws help_wanted  for `--help`
[[nodiscard]] options parse_options(int count, char const* const* arguments);

/// "4K" is 4096; K, M and G are powers of 1024.
///
/// @throws input_error  if `text` is no size
[[nodiscard]] std::uint64_t size_in(std::string_view option, std::string_view text);

}  // namespace evenkeel::perf
