// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::bench {

struct shape {
    std::size_t ranks = 1;
    std::size_t per_rank = 1;

    [[nodiscard]] std::size_t samples() const noexcept { return ranks * per_rank; }
};

/// Batches of one workload in one shape. They are made when a row runs, so that no row waits for the batches of others.
struct batches {
    std::string workload;
    bench::shape shape;
    std::function<std::vector<std::uint64_t>(std::uint64_t seed)> draw;  ///< seeds count from 1

    /// `<question>/<subject>/<workload>/<ranks>x<samples per rank>`
    [[nodiscard]] std::string row(std::string_view question, std::string_view subject) const;
};

/// Each workload that `examples::workload` knows, in each shape.
[[nodiscard]] std::vector<batches> made_up_batches(std::span<shape const> shapes);

/// Each phase of each *.csv file in `folder`, in the order of the files' names, under the name `<file>.<phase>`. Seed 1
/// draws the file's first rows, seed 2 those that follow, and after the last row comes the first again.
///
/// @throws examples::input_error  if there is no such file, or one cannot be read.
[[nodiscard]] std::vector<batches> batches_of_traces(std::filesystem::path const& folder,
                                                     std::span<shape const> shapes);

}  // namespace evenkeel::bench
