// SPDX-License-Identifier: Apache-2.0
#include "balance.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/core/quality.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>

#include "baselines.hpp"
#include "measure.hpp"
#include "verdict.hpp"

namespace evenkeel::bench {
namespace {

using costs = std::vector<std::uint64_t>;
using baseline = std::vector<std::uint32_t> (*)(std::span<std::uint64_t const>, std::size_t);

constexpr attention_cost attention{.linear = 24'576, .quadratic = 1};

std::uint64_t largest(costs const& of) { return of.empty() ? 0 : *std::max_element(of.begin(), of.end()); }

template <class Model>
void run_evenkeel(benchmark::State& state, batches const& of, Model const& model) {
    workspace space;
    costs lengths;
    verdict found;
    double tail_floor = 0;
    rank_count const ranks{of.shape.ranks};
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()), [&](std::size_t seed) { lengths = of.draw(seed); },
        [&] { benchmark::DoNotOptimize(balance(space, lengths, ranks, model)); },
        [&] {
            auto const& quality = space.buffers().result.quality;
            found.add(quality.max_load, quality.lower_bound, model.weight(largest(lengths)));
            tail_floor = std::max(tail_floor, quality.tail_floor());
        });
    found.show(state);
    state.counters["tail_floor"] = tail_floor;
}

/// Baselines get the costs, and need not compute them.
template <class Model>
void run_baseline(benchmark::State& state, batches const& of, Model const& model, baseline subject) {
    costs of_samples;
    std::vector<std::uint32_t> rank_of;
    verdict found;
    double tail_floor = 0;
    auto const judge = [&] {
        costs loads(of.shape.ranks);
        for (std::size_t sample = 0; sample < of_samples.size(); ++sample) {
            loads[rank_of[sample]] += of_samples[sample];
        }
        auto const known = balance(of_samples, rank_count{of.shape.ranks}, linear_cost{}).quality;
        found.add(largest(loads), known.lower_bound, largest(of_samples));
        tail_floor = std::max(tail_floor, known.tail_floor());
    };
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()),
        [&](std::size_t seed) {
            of_samples = of.draw(seed);
            for (auto& sample : of_samples) {
                sample = model.weight(sample);
            }
        },
        [&] { rank_of = subject(of_samples, of.shape.ranks); }, judge);
    found.show(state);
    state.counters["tail_floor"] = tail_floor;
}

template <class Model>
void add_rows(std::string_view question, batches const& of, Model const& model) {
    add_seeds_row(of.row(question, "evenkeel"), [=](benchmark::State& state) { run_evenkeel(state, of, model); });
    add_seeds_row(of.row(question, "heap_lpt"),
                  [=](benchmark::State& state) { run_baseline(state, of, model, heap_longest_first); });
    if (of.shape.ranks <= 256) {
        add_seeds_row(of.row(question, "ldm"),
                      [=](benchmark::State& state) { run_baseline(state, of, model, largest_differencing); });
    }
}

}  // namespace

void add_balance_rows(batches const& batches) {
    add_rows("balance", batches, linear_cost{});
    add_rows("balance_attention", batches, attention);
}

void add_std_sort_row(shape shape) {
    auto const name = batches{.workload = "random_keys", .shape = shape, .draw = {}}.row("balance", "std_sort");
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](benchmark::State& state) { measure_std_sort(state, shape.samples()); })
        ->Unit(benchmark::kMicrosecond)
        ->UseManualTime();
}

}  // namespace evenkeel::bench
