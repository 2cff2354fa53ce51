// SPDX-License-Identifier: Apache-2.0
#include "relabel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/place.hpp>
#include <evenkeel/rearrange/traffic.hpp>
#include <evenkeel/solve/balance.hpp>

namespace evenkeel::bench {
namespace {

constexpr std::size_t ranks_per_node = 8;

/// A balanced batch, and where its samples were drawn: the first `per_rank` on rank 0, and so on.
struct task {
    std::vector<std::uint64_t> bytes;
    plan given;
    layout home;
    topology cluster;
};

task task_of(batches const& batches) {
    auto const lengths = batches.draw(1);
    auto const [ranks, per_rank] = batches.shape;
    return {.bytes = lengths,
            .given = balance(lengths, rank_count{ranks}, linear_cost{}).plan,
            .home = home_layout(std::vector<std::size_t>(ranks, per_rank)),
            .cluster = uniform_topology({ranks}, {ranks_per_node})};
}

/// Largest gain first: of all batches and nodes, the pair that keeps most, then the next whose batch and node are free.
std::vector<std::uint32_t> greedy(task const& task) {
    std::size_t const nodes = task.cluster.nodes();
    std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> gains;
    std::vector<std::uint64_t> sums(nodes);
    std::vector<std::uint32_t> touched;
    for (std::uint32_t batch = 0; batch < task.given.ranks().value; ++batch) {
        touched.clear();
        for (auto const item : task.given[rank_id{batch}]) {
            auto const node = static_cast<std::uint32_t>(task.cluster.node_of(task.home[item].rank));
            if (sums[node] == 0) {
                touched.push_back(node);
            }
            sums[node] += task.bytes[to_index(item)];
        }
        for (auto const node : touched) {
            if (sums[node] > 0) {
                gains.emplace_back(sums[node], batch, node);
            }
            sums[node] = 0;
        }
    }
    std::sort(gains.begin(), gains.end(), [](auto const& a, auto const& b) {
        return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b) : a < b;
    });

    constexpr auto nobody = static_cast<std::uint32_t>(-1);
    std::vector<std::uint32_t> rank_of(task.given.ranks().value, nobody);
    std::vector<std::uint32_t> taken(nodes);
    auto const seat = [&](std::uint32_t batch, std::uint32_t node) {
        rank_of[batch] = static_cast<std::uint32_t>(node * ranks_per_node) + taken[node]++;
    };
    for (auto const& [bytes, batch, node] : gains) {
        if (rank_of[batch] == nobody && taken[node] < ranks_per_node) {
            seat(batch, node);
        }
    }
    std::uint32_t node = 0;
    for (std::uint32_t batch = 0; batch < rank_of.size(); ++batch) {
        if (rank_of[batch] == nobody) {
            while (taken[node] == ranks_per_node) {
                ++node;
            }
            seat(batch, node);
        }
    }
    return rank_of;
}

/// The home of the items of each batch under `rank_of`, and what they cost to bring there.
traffic traffic_under(task const& task, std::vector<std::uint32_t> const& rank_of) {
    auto target = task.home;
    std::vector<std::uint32_t> used(rank_of.size());
    for (std::uint32_t batch = 0; batch < rank_of.size(); ++batch) {
        for (auto const item : task.given[rank_id{batch}]) {
            target.places[to_index(item)] = {world_rank{rank_of[batch]}, {}, used[rank_of[batch]]++};
        }
    }
    return traffic_of({task.home, target}, task.cluster, task.bytes);
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void report(benchmark::State& state, traffic const& traffic) {
    state.counters["inter_node"] = share(traffic.between_nodes, traffic.total);
    state.counters["moved"] = share(traffic.moved, traffic.total);
}

void run_evenkeel(benchmark::State& state, task const& task, relabel_objective objective) {
    relabel_workspace space;
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            relabel(space, task.given, task.home, task.cluster, task.bytes, {.objective = objective}));
    }
    auto const& close = relabel(space, task.given, task.home, task.cluster, task.bytes, {.objective = objective});
    report(state, traffic_of({task.home, layout_of(close.plan)}, task.cluster, task.bytes));
    auto const mean =
        static_cast<double>(std::max<std::uint64_t>(close.total, 1)) / static_cast<double>(task.cluster.nodes());
    state.counters["inter_node_bound"] = share(close.between_nodes_bound, close.total);
    state.counters["certificate"] = close.certificate();
    state.counters["busiest"] = static_cast<double>(close.busiest_node) / mean;
    state.counters["busiest_bound"] = static_cast<double>(close.busiest_node_bound) / mean;
}

void run_greedy(benchmark::State& state, task const& task) {
    std::vector<std::uint32_t> rank_of;
    for (auto _ : state) {
        rank_of = greedy(task);
        benchmark::DoNotOptimize(rank_of.data());
    }
    report(state, traffic_under(task, rank_of));
}

void run_identity(benchmark::State& state, task const& task) {
    rearrangement const move{task.home, layout_of(task.given)};
    traffic counted;
    for (auto _ : state) {
        counted = traffic_of(move, task.cluster, task.bytes);
        benchmark::DoNotOptimize(counted);
    }
    report(state, counted);
}

}  // namespace

void add_relabel_rows(batches const& batches) {
    auto const add = [&](std::string_view subject, auto run) {
        benchmark::RegisterBenchmark(batches.row("relabel", subject).c_str(), [=](benchmark::State& state) {
            run(state, task_of(batches));
        })->Unit(benchmark::kMicrosecond);
    };
    add("evenkeel_total", [](auto& state, task const& task) { run_evenkeel(state, task, relabel_objective::total); });
    add("evenkeel_busiest",
        [](auto& state, task const& task) { run_evenkeel(state, task, relabel_objective::busiest); });
    add("greedy", [](auto& state, task const& task) { run_greedy(state, task); });
    add("identity", [](auto& state, task const& task) { run_identity(state, task); });
}

}  // namespace evenkeel::bench
