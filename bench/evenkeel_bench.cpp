// SPDX-License-Identifier: Apache-2.0
// How long does planning take, and how good is the plan?
//
//     evenkeel_bench [--traces=DIR] [options of Google Benchmark]
//
// A row is called `<question>/<subject>/<workload>/<ranks>x<samples per rank>`. Questions: `balance` and
// `balance_attention` (balance.hpp), `balance_padded`, `balance_padded_attention` and `balance_mixed` (padded.hpp),
// `balance_equal`, `balance_capped`, `balance_speeds` and `micro_batches` (wishes.hpp), `relabel` (relabel.hpp),
// `rebalance` (rebalance.hpp), `rebalance_padded` (rebalance_padded.hpp), `orchestrate` (orchestrate.hpp),
// `plan_cluster` (planning.hpp), `simulate` (simulation.hpp). Workloads are made up, or with --traces the phases of the
// *.csv files in DIR, called `<file>.<phase>`.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "balance.hpp"
#include "batches.hpp"
#include "examples/support/input_error.hpp"
#include "orchestrate.hpp"
#include "padded.hpp"
#include "planning.hpp"
#include "rebalance.hpp"
#include "rebalance_padded.hpp"
#include "relabel.hpp"
#include "simulation.hpp"
#include "wishes.hpp"

namespace {

using namespace evenkeel;

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

void add_made_up() {
    constexpr std::array<bench::shape, 11> balanced{{{8, 8},
                                                     {8, 40},
                                                     {16, 8},
                                                     {16, 40},
                                                     {64, 40},
                                                     {256, 40},
                                                     {1024, 40},
                                                     {2560, 16},
                                                     {2560, 40},
                                                     {2560, 58},
                                                     {16384, 40}}};
    for (auto const& shape : balanced) {
        bench::add_std_sort_row(shape);
    }
    for (auto const& batches : bench::made_up_batches(balanced)) {
        bench::add_balance_rows(batches);
        bench::add_padded_rows(batches);
    }
    constexpr std::array<bench::shape, 3> wished{{{64, 40}, {256, 40}, {2560, 40}}};
    for (auto const& batches : bench::made_up_batches(wished)) {
        bench::add_wish_rows(batches);
    }
    constexpr std::array<bench::shape, 4> relabelled{{{64, 40}, {256, 40}, {2560, 40}, {2560, 8}}};
    for (auto const& batches : bench::made_up_batches(relabelled)) {
        bench::add_relabel_rows(batches);
        bench::add_rebalance_padded_rows(batches);
    }
    constexpr std::array<bench::shape, 5> rebalanced{{{64, 40}, {256, 40}, {2560, 40}, {2560, 58}, {65536, 40}}};
    for (auto const& batches : bench::made_up_batches(rebalanced)) {
        bench::add_rebalance_rows(batches);
    }
}

void add_real(std::string const& folder) {
    constexpr std::array<bench::shape, 5> shapes{{{64, 40}, {256, 40}, {256, 8}, {64, 16}, {2560, 8}}};
    for (auto const& batches : bench::batches_of_traces(folder, shapes)) {
        bench::add_balance_rows(batches);
        bench::add_padded_rows(batches);
        bench::add_relabel_rows(batches);
        bench::add_rebalance_rows(batches);
        bench::add_rebalance_padded_rows(batches);
    }
}

int run(int argc, char** argv) {
    auto const traces = take_traces(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    add_made_up();
    bench::add_orchestrate_rows();
    bench::add_planning_rows();
    bench::add_simulation_rows();
    if (traces) {
        add_real(*traces);
        bench::add_orchestrate_rows(*traces);
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
