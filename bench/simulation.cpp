// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/simulate.hpp>

namespace evenkeel::bench {
namespace {

void add_row(std::string_view name, std::size_t pipelines, schedule const& drawn) {
    auto times = uniform_times({drawn.stages}, {.forward = 1, .backward = 2}, 1);
    times.link = {.latency = 0.01, .bandwidth = 100};
    times.boundary_bytes.assign(drawn.stages - 1, 1);
    auto const full_name = fmt::format("simulate/{}/{}x{}x{}", name, pipelines, drawn.stages, drawn.micro_batches);
    auto const run = [schedules = std::vector(pipelines, drawn),
                      all_times = std::vector(pipelines, std::move(times))](benchmark::State& state) {
        double end = 0;
        for (auto _ : state) {
            end = simulate(schedules, all_times).end;
        }
        auto const instructions = schedules.size() * schedules.front().instructions.size();
        state.counters["end"] = end;
        state.counters["instructions"] =
            benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsIterationInvariantRate);
    };
    benchmark::RegisterBenchmark(full_name.c_str(), run)->Unit(benchmark::kMillisecond);
}

}  // namespace

void add_simulation_rows() {
    struct shape {
        std::size_t pipelines;
        std::size_t stages;
        std::size_t micro_batches;
    };
    for (auto const& [pipelines, stages, micro_batches] : {shape{1, 4, 16}, shape{2, 16, 256}, shape{3, 64, 1024}}) {
        add_row("distmm_pipe", pipelines, distmm_pipe({stages}, {micro_batches}, {stages}));
        add_row("gpipe_sync", pipelines, gpipe_sync({stages}, {micro_batches}, {stages}));
    }
}

}  // namespace evenkeel::bench
