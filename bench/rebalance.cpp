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

#include "flows.hpp"
#include "measure.hpp"

namespace evenkeel::bench {
namespace {

constexpr double tolerance = 1e-3;

/// Below this, a batch is compared with `std::sort` of a batch of a large job.
constexpr std::size_t fewest_keys = 102'400;

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

/// What the seeds of a row came to.
struct byte_verdict {
    void add(std::uint64_t total, std::uint64_t between, std::uint64_t bound, std::uint64_t moved, double gap_of_seed) {
        double const all = static_cast<double>(std::max<std::uint64_t>(total, 1));
        seeds += 1;
        inter_node += static_cast<double>(between) / all;
        inter_node_bound += static_cast<double>(bound) / all;
        moved_share += static_cast<double>(moved) / all;
        gap = std::max(gap, gap_of_seed);
        if (between > 0) {
            over_bound = std::max(
                over_bound, static_cast<double>(between) / static_cast<double>(std::max<std::uint64_t>(bound, 1)));
        }
    }

    void show(benchmark::State& state) const {
        state.counters["inter_node"] = inter_node / seeds;
        state.counters["inter_node_bound"] = inter_node_bound / seeds;
        state.counters["moved"] = moved_share / seeds;
        state.counters["gap"] = gap;
    }

    double seeds = 0;
    double inter_node = 0;
    double inter_node_bound = 0;
    double moved_share = 0;
    double gap = 0;
    double over_bound = 1;
    double from_scratch = 0;
};

void run_stay(benchmark::State& state, batches const& of) {
    auto const task = std::make_unique<stay_bench>(of);
    byte_verdict verdict;
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
            verdict.from_scratch += kept.from_scratch ? 1 : 0;
        });
    verdict.show(state);
    state.counters["over_bound"] = verdict.over_bound;
    state.counters["from_scratch"] = verdict.from_scratch / verdict.seeds;
}

void run_lpt_relabel(benchmark::State& state, batches const& of) {
    auto const task = std::make_unique<stay_bench>(of);
    byte_verdict verdict;
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
