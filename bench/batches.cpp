// SPDX-License-Identifier: Apache-2.0
#include "batches.hpp"

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "examples/support/input_error.hpp"
#include "examples/support/phases.hpp"
#include "examples/support/trace.hpp"
#include "examples/support/workloads.hpp"

namespace evenkeel::bench {

std::string batches::row(std::string_view question, std::string_view subject) const {
    return fmt::format("{}/{}/{}/{}x{}", question, subject, workload, shape.ranks, shape.per_rank);
}

std::vector<batches> made_up_batches(std::span<shape const> shapes) {
    std::vector<batches> result;
    for (auto const& shape : shapes) {
        for (auto const name : examples::workload_names()) {
            result.push_back({.workload = std::string{name}, .shape = shape, .draw = [=](std::uint64_t seed) {
                                  return examples::workload(name, shape.samples(), seed);
                              }});
        }
    }
    return result;
}

std::vector<batches> batches_of_traces(std::filesystem::path const& folder, std::span<shape const> shapes) {
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::directory_iterator{folder, error}) {
        if (entry.path().extension() == ".csv") {
            files.push_back(entry.path());
        }
    }
    if (error || files.empty()) {
        throw examples::input_error{
            fmt::format("--traces={}: {}", folder.string(), error ? error.message() : "no *.csv file in it")};
    }
    std::sort(files.begin(), files.end());
    std::vector<batches> result;
    for (auto const& file : files) {
        for (auto& phase : examples::phases_of(examples::read_trace(file))) {
            auto const lengths = std::make_shared<std::vector<std::uint64_t> const>(std::move(phase.lengths));
            for (auto const& shape : shapes) {
                auto const draw = [=](std::uint64_t seed) {
                    // The step's samples as those of one rank: they are consecutive rows.
                    examples::drawing const drawing{.ranks = 1, .samples_per_rank = shape.samples()};
                    return drawing.lengths(seed - 1, 0, *lengths);
                };
                result.push_back(
                    {.workload = fmt::format("{}.{}", file.stem().string(), phase.name), .shape = shape, .draw = draw});
            }
        }
    }
    return result;
}

}  // namespace evenkeel::bench
