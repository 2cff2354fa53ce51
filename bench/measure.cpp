// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "baselines.hpp"

namespace evenkeel::bench {
namespace {

#ifdef NDEBUG
constexpr std::size_t seeds = 12;
constexpr std::size_t repetitions = 3;
#else
// Times without optimisation say nothing. That a row runs shows at once.
constexpr std::size_t seeds = 2;
constexpr std::size_t repetitions = 1;
#endif

template <class Run>
double seconds_of(Run const& run) {
    auto const start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
    auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

/// `std::sort` of the same random keys over and over.
class yardstick {
  public:
    explicit yardstick(std::size_t keys) : keys_{random_keys(keys)} {}

    double operator()() {
        sorted_ = keys_;
        double const time = seconds_of([&] { std::sort(sorted_.begin(), sorted_.end()); });
        benchmark::DoNotOptimize(sorted_.data());
        return time;
    }

  private:
    std::vector<std::uint32_t> keys_;
    std::vector<std::uint32_t> sorted_;
};

}  // namespace

void measure_seeds(benchmark::State& state, std::size_t keys, std::function<void(std::size_t)> const& prepare,
                   std::function<void()> const& run, std::function<void()> const& judge) {
    yardstick sort{keys};
    std::vector<double> times;
    std::vector<double> sorts;
    for (auto _ : state) {
        times.clear();
        for (std::size_t seed = 1; seed <= seeds; ++seed) {
            prepare(seed);
            run();
            judge();
            std::vector<double> same;
            for (std::size_t turn = 0; turn < repetitions; ++turn) {
                same.push_back(seconds_of(run));
            }
            times.push_back(median(std::move(same)));
            sorts.push_back(sort());
        }
        state.SetIterationTime(median(times));
    }
    double const worst = *std::max_element(times.begin(), times.end());
    double const unit = median(sorts);
    state.counters["worst_us"] = worst * 1e6;
    state.counters["std_sorts"] = median(times) / unit;
    state.counters["worst_std_sorts"] = worst / unit;
}

void measure_std_sort(benchmark::State& state, std::size_t keys) {
    yardstick sort{keys};
    for (auto _ : state) {
        state.SetIterationTime(sort());
    }
}

}  // namespace evenkeel::bench
