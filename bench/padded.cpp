// SPDX-License-Identifier: Apache-2.0
#include "padded.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/core/quality.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/cost/padded_model.hpp>
#include <evenkeel/solve/balance_mixed.hpp>
#include <evenkeel/solve/balance_padded.hpp>

#include "measure.hpp"
#include "verdict.hpp"

namespace evenkeel::bench {
namespace {

using lengths_of = std::vector<std::uint64_t>;

/// What samples weigh in both parts, shortest first.
struct rising_weights {
    lengths_of padded;
    lengths_of packed;
    std::uint64_t total = 0;
    std::uint64_t heaviest = 0;
};

template <class Model>
rising_weights weigh(lengths_of lengths, Model const& model) {
    std::sort(lengths.begin(), lengths.end());
    rising_weights result;
    for (auto const length : lengths) {
        std::uint64_t packed = 0;
        if constexpr (mixed_model<Model>) {
            packed = model.packed_weight(length);
        }
        std::uint64_t const padded = model.padded_weight(length);
        if (padded + packed > 0) {
            result.padded.push_back(padded);
            result.packed.push_back(packed);
            result.total += padded + packed;
            result.heaviest = padded + packed;
        }
    }
    return result;
}

/// What no plan can be below even if nothing were padded.
std::uint64_t area_bound(rising_weights const& weights, std::size_t ranks) {
    return std::max(weights.heaviest, (weights.total + ranks - 1) / ranks);
}

/// Cuts rising samples into runs under a bound and calls `place` with the run of each.
///
/// @return  The load of the busiest run, or 0 if there are more than ranks.
template <class Place>
std::uint64_t scan(rising_weights const& weights, std::size_t ranks, std::uint64_t bound, Place place) {
    std::uint64_t busiest = 0;
    std::uint64_t count = 0;
    std::uint64_t packed = 0;
    std::uint64_t load = 0;
    std::uint32_t rank = 0;
    for (std::size_t sample = 0; sample < weights.padded.size(); ++sample) {
        ++count;
        packed += weights.packed[sample];
        std::uint64_t const more = count * weights.padded[sample] + packed;
        if (more > bound) {
            busiest = std::max(busiest, load);
            count = 1;
            packed = weights.packed[sample];
            load = weights.padded[sample] + packed;
            if (++rank == ranks) {
                return 0;
            }
        } else {
            load = more;
        }
        place(sample, rank);
    }
    return std::max(busiest, load);
}

std::uint64_t linear_scan(rising_weights const& weights, std::size_t ranks, std::vector<std::uint32_t>& rank_of) {
    rank_of.resize(weights.padded.size());
    if (rank_of.empty()) {
        return 0;
    }
    auto const try_bound = [&](std::uint64_t bound) { return scan(weights, ranks, bound, [](auto...) {}); };
    std::uint64_t low = area_bound(weights, ranks);
    std::uint64_t high = low + low / 8;
    for (std::uint64_t step = low / 8 + 1; try_bound(high) == 0; step *= 2) {
        low = high + 1;
        high += step;
    }
    while (low < high) {
        std::uint64_t const middle = low + (high - low) / 2;
        std::uint64_t const busiest = try_bound(middle);
        high = busiest > 0 ? busiest : high;
        low = busiest > 0 ? std::min(low, high) : middle + 1;
    }
    return scan(weights, ranks, high, [&](std::size_t sample, std::uint32_t rank) { rank_of[sample] = rank; });
}

template <class Model>
void run_evenkeel(benchmark::State& state, batches const& of, Model const& model, bool sorted) {
    workspace space;
    lengths_of lengths;
    verdict found;
    double over_area = 0;
    rank_count const ranks{of.shape.ranks};
    auto const whole = [&] { benchmark::DoNotOptimize(balance(space, lengths, ranks, model)); };
    std::function<void()> run = whole;
    if constexpr (padded_model<Model>) {
        if (sorted) {
            run = [&] {
                detail::place_padded(space.buffers(), ranks, {});
                benchmark::DoNotOptimize(space.buffers().result);
            };
        }
    }
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()),
        [&](std::size_t seed) {
            lengths = of.draw(seed);
            whole();
        },
        run,
        [&] {
            auto const& quality = space.buffers().result.quality;
            auto const weights = weigh(lengths, model);
            found.add(quality.max_load, quality.lower_bound, weights.heaviest);
            over_area = std::max(over_area, excess(quality.max_load, area_bound(weights, of.shape.ranks)));
        });
    found.show(state);
    state.counters["over_area"] = over_area;
}

template <class Model>
void run_linear_scan(benchmark::State& state, batches const& of, Model const& model) {
    lengths_of lengths;
    rising_weights weights;
    std::vector<std::uint32_t> rank_of;
    std::uint64_t busiest = 0;
    verdict found;
    double over_area = 0;
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()),
        [&](std::size_t seed) {
            lengths = of.draw(seed);
            weights = weigh(lengths, model);
        },
        [&] { benchmark::DoNotOptimize(busiest = linear_scan(weights, of.shape.ranks, rank_of)); },
        [&] {
            auto const known = balance(lengths, rank_count{of.shape.ranks}, model).quality.lower_bound;
            found.add(busiest, known, weights.heaviest);
            over_area = std::max(over_area, excess(busiest, area_bound(weights, of.shape.ranks)));
        });
    found.show(state);
    state.counters["over_area"] = over_area;
}

template <class Model>
void add_rows(std::string_view question, batches const& of, Model const& model) {
    add_seeds_row(of.row(question, "evenkeel"),
                  [=](benchmark::State& state) { run_evenkeel(state, of, model, false); });
    if constexpr (padded_model<Model>) {
        add_seeds_row(of.row(question, "evenkeel_sorted"),
                      [=](benchmark::State& state) { run_evenkeel(state, of, model, true); });
    }
    add_seeds_row(of.row(question, "linear_scan"), [=](benchmark::State& state) { run_linear_scan(state, of, model); });
}

}  // namespace

void add_padded_rows(batches const& batches) {
    add_rows("balance_padded", batches, padded_cost{});
    add_rows("balance_padded_attention", batches, padded_cost{.linear = 24'576, .quadratic = 1});
    add_rows("balance_mixed", batches, conv_attention_cost{.padded = 4'915, .linear = 24'576, .quadratic = 1});
}

}  // namespace evenkeel::bench
