// SPDX-License-Identifier: Apache-2.0
// How long does planning take, and how good is the plan?
//
//     evenkeel_bench [--traces=DIR] [options of Google Benchmark]
//
// Rows `relabel/...`: see relabel.hpp; `plan_cluster/...`: see planning.hpp. The others are
// `balance/<subject>/<workload>/<ranks>x<samples per rank>`, with the subjects `evenkeel`, `heap_lpt` (longest first as
// commonly written) and `std_sort`, the yardstick. Workloads are generated, or with --traces the phases of the *.csv
// files in DIR, called `<file>.<phase>`. Counters: `gap` to the lower bound, `imbalance` = max / mean load.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <evenkeel/core/quality.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/lower_bound.hpp>

#include "baselines.hpp"
#include "examples/support/input_error.hpp"
#include "examples/support/phases.hpp"
#include "examples/support/trace.hpp"
#include "examples/support/workloads.hpp"
#include "planning.hpp"
#include "relabel.hpp"

namespace {

using namespace evenkeel;

struct shape {
    std::size_t ranks;
    std::size_t per_rank;
};

constexpr shape shapes[] = {{64, 40}, {256, 40}, {2560, 40}, {2560, 8}};

using batch = std::vector<std::uint64_t>;

void report(benchmark::State& state, quality const& quality) {
    state.counters["gap"] = quality.gap();
    state.counters["imbalance"] = quality.imbalance();
}

void evenkeel_balance(benchmark::State& state, batch const& lengths, rank_count ranks) {
    workspace space;
    for (auto _ : state) {
        benchmark::DoNotOptimize(balance(space, lengths, ranks, linear_cost{}));
    }
    report(state, balance(space, lengths, ranks, linear_cost{}).quality);
}

void heap_lpt(benchmark::State& state, batch const& lengths, rank_count ranks) {
    std::vector<std::uint32_t> rank_of;
    for (auto _ : state) {
        rank_of = bench::heap_longest_first(lengths, ranks.value);
        benchmark::DoNotOptimize(rank_of.data());
    }
    std::vector<std::uint64_t> loads(ranks.value);
    for (std::size_t sample = 0; sample < lengths.size(); ++sample) {
        loads[rank_of[sample]] += lengths[sample];
    }
    report(state, {.max_load = *std::max_element(loads.begin(), loads.end()),
                   .total_load = std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}),
                   .lower_bound = lower_bound(lengths, ranks),
                   .ranks = ranks});
}

void std_sort(benchmark::State& state, std::size_t count) {
    auto const keys = bench::random_keys(count);
    std::vector<std::uint32_t> sorted;
    for (auto _ : state) {
        sorted = keys;
        std::sort(sorted.begin(), sorted.end());
        benchmark::DoNotOptimize(sorted.data());
    }
}

template <class Run>
void add_row(std::string_view subject, std::string_view workload, shape shape, Run run) {
    auto const name = fmt::format("balance/{}/{}/{}x{}", subject, workload, shape.ranks, shape.per_rank);
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMicrosecond);
}

void add_workload(std::string_view name, shape shape, batch const& lengths) {
    auto const ranks = rank_count{shape.ranks};
    add_row("evenkeel", name, shape, [=](benchmark::State& state) { evenkeel_balance(state, lengths, ranks); });
    add_row("heap_lpt", name, shape, [=](benchmark::State& state) { heap_lpt(state, lengths, ranks); });
    bench::add_relabel_rows(name, shape.ranks, shape.per_rank, lengths);
}

void add_generated(shape shape) {
    constexpr std::uint64_t seed = 1;
    for (auto const name : examples::workload_names()) {
        add_workload(name, shape, examples::workload(name, shape.ranks * shape.per_rank, seed));
    }
}

/// The phases of every trace in `folder`, in the order of the files' names.
void add_traces(std::filesystem::path const& folder) {
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
    for (auto const& file : files) {
        for (auto const& phase : examples::phases_of(examples::read_trace(file))) {
            for (auto const& shape : shapes) {
                batch drawn(shape.ranks * shape.per_rank);
                for (std::size_t sample = 0; sample < drawn.size(); ++sample) {
                    drawn[sample] = phase.lengths[sample % phase.lengths.size()];
                }
                add_workload(fmt::format("{}.{}", file.stem().string(), phase.name), shape, drawn);
            }
        }
    }
}

/// Takes `--traces=DIR` out of the arguments.
std::optional<std::string> take_traces(int& argc, char** argv) {
    constexpr std::string_view option = "--traces=";
    std::optional<std::string> result;
    auto const end = std::remove_if(argv + 1, argv + argc, [&](std::string_view argument) {
        if (!argument.starts_with(option)) {
            return false;
        }
        result = argument.substr(option.size());
        return true;
    });
    argc = static_cast<int>(end - argv);
    return result;
}

int run(int argc, char** argv) {
    auto const traces = take_traces(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    for (auto const& shape : shapes) {
        add_row("std_sort", "random_keys", shape,
                [=](benchmark::State& state) { std_sort(state, shape.ranks * shape.per_rank); });
        add_generated(shape);
    }
    bench::add_planning_rows();
    if (traces) {
        add_traces(*traces);
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (evenkeel::examples::input_error const& error) {
        fmt::print(stderr, "evenkeel_bench: {}\n", error.what());
        return 2;
    } catch (std::exception const& error) {
        fmt::print(stderr, "evenkeel_bench: {}\n", error.what());
        return 1;
    }
}
