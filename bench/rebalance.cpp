// SPDX-License-Identifier: Apache-2.0
#include "rebalance.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/cost/linear.hpp>
#include <evenkeel/place.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/rebalance.hpp>

#include "byte_shares.hpp"
#include "flows.hpp"
#include "measure.hpp"

namespace evenkeel::bench {
namespace {

constexpr double tolerance = 1e-3;

/// A batch, and where its samples were drawn: the first `per_rank` on rank 0, and so on.
struct stay_bench {
    explicit stay_bench(batches const& of)
        : drawn{of},
          home{home_layout(std::vector<std::size_t>(of.shape.ranks, of.shape.per_rank))},
          cluster{uniform_topology({of.shape.ranks}, {8})} {}

    batches drawn;
    layout home;
    topology cluster;
    std::vector<std::uint64_t> lengths;
    rebalance_workspace staying;
    workspace balancing;
    relabel_workspace relabelling;
};

void run_stay(benchmark::State& state, batches const& of) {
    auto const task = std::make_unique<stay_bench>(of);
    byte_shares verdict;
    double from_scratch = 0;
    auto const run = [&]() -> rebalanced const& {
        return rebalance(task->staying, task->lengths, task->home, task->cluster, linear_cost{},
                         {.tolerance = tolerance});
    };
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()), [&](std::size_t seed) { task->lengths = of.draw(seed); },
        [&] { run(); },
        [&] {
            auto const& kept = task->staying.room().result;
            verdict.add(kept.total, kept.between_nodes, *kept.between_nodes_bound, kept.moved, kept.quality.gap());
            from_scratch += kept.from_scratch ? 1 : 0;
        });
    verdict.show(state);
    state.counters["over_bound"] = verdict.over_bound;
    state.counters["from_scratch"] = from_scratch / verdict.seeds;
}

void run_lpt_relabel(benchmark::State& state, batches const& of) {
    auto const task = std::make_unique<stay_bench>(of);
    byte_shares verdict;
    double gap = 0;
    relabelled const* close = nullptr;
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()), [&](std::size_t seed) { task->lengths = of.draw(seed); },
        [&] {
            auto const& even = balance(task->balancing, task->lengths, rank_count{of.shape.ranks}, linear_cost{},
                                       {.tolerance = tolerance});
            gap = even.quality.gap();
            close = &relabel(task->relabelling, even.plan, task->home, task->cluster, task->lengths);
        },
        [&] { verdict.add(close->total, close->between_nodes, close->between_nodes_bound, close->moved, gap); });
    verdict.show(state);
}

}  // namespace

void add_rebalance_rows(batches const& batches) {
    auto const add = [&](std::string_view subject, auto run) {
        add_seeds_row(batches.row("rebalance", subject), [=](benchmark::State& state) { run(state, batches); });
    };
    add("stay", run_stay);
    add("lpt_relabel", run_lpt_relabel);
    add_flow_rows(batches);
}

}  // namespace evenkeel::bench
