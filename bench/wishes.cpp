// SPDX-License-Identifier: Apache-2.0
#include "wishes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/micro_batches.hpp>

#include "measure.hpp"

namespace evenkeel::bench {
namespace {

using numbers = std::vector<std::uint64_t>;

/// `std::sort` of what a large job draws is the yardstick.
constexpr std::size_t keys = 102'400;
constexpr double tolerance = 1e-4;
constexpr attention_cost attention{.linear = 24'576, .quadratic = 1};

std::uint64_t largest(numbers const& of) { return of.empty() ? 0 : *std::max_element(of.begin(), of.end()); }
std::uint64_t total(numbers const& of) { return std::accumulate(of.begin(), of.end(), std::uint64_t{0}); }

void keep_worst(benchmark::State& state, std::string const& counter, double value) {
    auto& own = state.counters[counter];
    own = std::max<double>(own, value);
}

std::vector<std::uint32_t> longest_first_order(numbers const& weights) {
    std::vector<std::uint32_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
    });
    return order;
}

using least_loaded_first = std::priority_queue<std::pair<std::uint64_t, std::uint32_t>,
                                               std::vector<std::pair<std::uint64_t, std::uint32_t>>, std::greater<>>;

least_loaded_first idle(std::size_t bins) {
    least_loaded_first result;
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
        result.emplace(0, bin);
    }
    return result;
}

/// The load of the busiest rank.
std::uint64_t equal_lpt(numbers const& weights, std::size_t ranks) {
    auto loads = idle(ranks);
    std::vector<std::size_t> counts(ranks);
    std::size_t const most = (weights.size() + ranks - 1) / ranks;
    std::uint64_t busiest = 0;
    for (auto const sample : longest_first_order(weights)) {
        auto const [load, rank] = loads.top();
        loads.pop();
        busiest = std::max(busiest, load + weights[sample]);
        if (++counts[rank] < most) {
            loads.emplace(load + weights[sample], rank);
        }
    }
    return busiest;
}

struct slots {
    std::size_t number = 0;
    std::uint64_t sum_of_slowest = 0;
};

slots sum_over_cap(numbers const& weights, numbers const& tokens, std::size_t ranks, std::uint64_t cap) {
    auto const order = longest_first_order(weights);
    std::size_t number = static_cast<std::size_t>((total(tokens) + cap * ranks - 1) / (cap * ranks));
    for (;; ++number) {
        std::size_t const bins = ranks * std::max<std::size_t>(1, number);
        auto queue = idle(bins);
        numbers loads(bins);
        numbers held(bins);
        for (auto const sample : order) {
            auto const [load, bin] = queue.top();
            queue.pop();
            loads[bin] = load + weights[sample];
            held[bin] += tokens[sample];
            queue.emplace(loads[bin], bin);
        }
        if (largest(held) <= cap) {
            slots result{.number = bins / ranks, .sum_of_slowest = 0};
            for (std::size_t first = 0; first < bins; first += ranks) {
                auto const begin = loads.begin() + static_cast<std::ptrdiff_t>(first);
                result.sum_of_slowest += *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(ranks));
            }
            return result;
        }
    }
}

/// @param wish   Makes the options from the lengths of a seed; they may refer to the memory it is given.
/// @param judge  Looks at the result, besides its gap.
template <class Model, class Wish, class Judge>
void run_wish(benchmark::State& state, batches const& of, Model const& model, Wish wish, Judge judge) {
    workspace space;
    numbers lengths;
    numbers memory;
    balance_options options;
    rank_count const ranks{of.shape.ranks};
    measure_seeds(
        state, keys,
        [&](std::size_t seed) {
            lengths = of.draw(seed);
            options = wish(lengths, memory);
        },
        [&] { benchmark::DoNotOptimize(balance(space, lengths, ranks, model, options)); },
        [&] {
            auto const& result = space.buffers().result;
            keep_worst(state, "gap", result.quality.gap());
            judge(lengths, result);
        });
}

void run_equal(benchmark::State& state, batches const& of) {
    run_wish(
        state, of, linear_cost{},
        [](numbers const&, numbers&) {
            return balance_options{.tolerance = tolerance, .wishes = {.equal_counts = true}};
        },
        [](numbers const&, balanced const&) {});
}

void run_equal_lpt(benchmark::State& state, batches const& of) {
    numbers lengths;
    std::uint64_t busiest = 0;
    measure_seeds(
        state, keys, [&](std::size_t seed) { lengths = of.draw(seed); },
        [&] { busiest = equal_lpt(lengths, of.shape.ranks); },
        [&] {
            auto quality =
                balance(lengths, rank_count{of.shape.ranks}, linear_cost{}, {.wishes = {.equal_counts = true}}).quality;
            quality.max_load = busiest;
            keep_worst(state, "gap", quality.gap());
        });
}

void run_speeds(benchmark::State& state, batches const& of) {
    run_wish(
        state, of, linear_cost{},
        [&](numbers const&, numbers& speeds) {
            constexpr std::uint64_t classes[] = {10, 8, 5};
            speeds.clear();
            for (std::size_t rank = 0; rank < of.shape.ranks; ++rank) {
                speeds.push_back(classes[rank % 3]);
            }
            return balance_options{.tolerance = tolerance, .wishes = {.speeds = speeds}};
        },
        [](numbers const&, balanced const&) {});
}

std::uint64_t cap_of(numbers const& lengths, std::size_t ranks) {
    std::uint64_t const mean = (total(lengths) + ranks - 1) / ranks;
    return std::max(mean, largest(lengths)) * 105 / 100;
}

void run_capped(benchmark::State& state, batches const& of) {
    std::size_t const ranks = of.shape.ranks;
    run_wish(
        state, of, attention,
        [&](numbers const& lengths, numbers&) {
            return balance_options{.tolerance = tolerance,
                                   .wishes = {.quantities = lengths, .cap = cap_of(lengths, ranks)}};
        },
        [&](numbers const& lengths, balanced const& capped) {
            auto const free = balance(lengths, rank_count{ranks}, attention, {.tolerance = tolerance}).quality;
            keep_worst(state, "over_uncapped",
                       static_cast<double>(capped.quality.max_load) / static_cast<double>(free.max_load));
            numbers held(ranks);
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                for (auto const item : capped.plan[to_id<rank_id>(rank)]) {
                    held[rank] += lengths[to_index(item)];
                }
            }
            keep_worst(state, "cap_used",
                       static_cast<double>(largest(held)) / static_cast<double>(cap_of(lengths, ranks)));
        });
}

void run_micro_batches(benchmark::State& state, batches const& of) {
    micro_batch_workspace space;
    numbers lengths;
    micro_batch_options options;
    rank_count const ranks{of.shape.ranks};
    measure_seeds(
        state, keys,
        [&](std::size_t seed) {
            lengths = of.draw(seed);
            options.cap = 2 * largest(lengths);
        },
        [&] { benchmark::DoNotOptimize(micro_batches(space, lengths, ranks, attention, options)); },
        [&] {
            auto const& quality = space.solver().result.quality;
            keep_worst(state, "gap", quality.gap());
            keep_worst(state, "number", static_cast<double>(quality.number.count));
            keep_worst(state, "over_bound", static_cast<double>(quality.number.count - quality.number.lower_bound));
        });
}

void run_sum_over_cap(benchmark::State& state, batches const& of) {
    numbers lengths;
    numbers weights;
    slots found;
    measure_seeds(
        state, keys,
        [&](std::size_t seed) {
            lengths = of.draw(seed);
            weights.clear();
            for (auto const length : lengths) {
                weights.push_back(attention.weight(length));
            }
        },
        [&] { found = sum_over_cap(weights, lengths, of.shape.ranks, 2 * largest(lengths)); },
        [&] {
            auto quality =
                micro_batches(lengths, rank_count{of.shape.ranks}, attention, {.cap = 2 * largest(lengths)}).quality;
            quality.sum_of_slowest = found.sum_of_slowest;
            keep_worst(state, "gap", quality.gap());
            keep_worst(state, "number", static_cast<double>(found.number));
            keep_worst(state, "over_bound", static_cast<double>(found.number - quality.number.lower_bound));
        });
}

}  // namespace

void add_wish_rows(batches const& batches) {
    auto const add = [&](char const* question, char const* subject,
                         void (*run)(benchmark::State&, bench::batches const&)) {
        add_seeds_row(batches.row(question, subject), [=](benchmark::State& state) { run(state, batches); });
    };
    add("balance_equal", "evenkeel", run_equal);
    add("balance_equal", "equal_lpt", run_equal_lpt);
    add("balance_capped", "evenkeel", run_capped);
    add("balance_speeds", "evenkeel", run_speeds);
    add("micro_batches", "evenkeel", run_micro_batches);
    add("micro_batches", "sum_over_cap", run_sum_over_cap);
}

}  // namespace evenkeel::bench
