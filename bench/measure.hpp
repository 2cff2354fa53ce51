// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

namespace evenkeel::bench {

/// Below this, a batch is compared with `std::sort` of a batch of a large job.
inline constexpr std::size_t fewest_keys = 102'400;

/// Fills a row that stands for several seeds: the time it shows is the median over them.
///
/// Counters: `worst_us` is the slowest seed. `std_sorts` and `worst_std_sorts` are the same two times in units of what
/// `std::sort` takes for `keys` random 32-bit keys, which depends on nothing else and is measured in between: such
/// ratios carry from one machine to another and bear other programs beside.
///
/// @param prepare  Makes the batch of a seed, untimed; seeds count from 1.
/// @param run      What is timed. It runs once untimed and three times timed per seed, whose time is the median of
///                 them.
/// @param judge    Looks at the result, untimed.
void measure_seeds(benchmark::State& state, std::size_t keys, std::function<void(std::size_t seed)> const& prepare,
                   std::function<void()> const& run, std::function<void()> const& judge);

/// Registers a row that `measure_seeds` fills.
template <class Run>
void add_seeds_row(std::string const& name, Run run) {
    benchmark::RegisterBenchmark(name.c_str(), std::move(run))
        ->Unit(benchmark::kMicrosecond)
        ->UseManualTime()
        ->Iterations(1);
}

/// What `std::sort` takes for so many random keys, as a row.
void measure_std_sort(benchmark::State& state, std::size_t keys);

}  // namespace evenkeel::bench
