// SPDX-License-Identifier: Apache-2.0
#include "relabel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/cost/linear.hpp>
#include <evenkeel/place.hpp>
#include <evenkeel/rearrange/traffic.hpp>
#include <evenkeel/solve/balance.hpp>

#include "measure.hpp"

namespace evenkeel::bench {
namespace {

constexpr std::size_t ranks_per_node = 8;

/// A balanced batch, and where its samples were drawn: the first `per_rank` on rank 0, and so on.
struct task {
    explicit task(batches const& of)
        : batch{of},
          home{home_layout(std::vector<std::size_t>(of.shape.ranks, of.shape.per_rank))},
          cluster{uniform_topology({of.shape.ranks}, {ranks_per_node})} {}

    void draw(std::size_t seed) {
        bytes = batch.draw(seed);
        given = balance(bytes, rank_count{batch.shape.ranks}, linear_cost{}).plan;
    }

    batches batch;
    layout home;
    topology cluster;
    std::vector<std::uint64_t> bytes;
    plan given;
};

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

/// What the seeds of a row came to, on the average.
struct shares {
    void add(traffic const& traffic) {
        seeds += 1;
        inter_node += share(traffic.between_nodes, traffic.total);
        moved += share(traffic.moved, traffic.total);
    }

    void show(benchmark::State& state) const {
        state.counters["inter_node"] = inter_node / seeds;
        state.counters["moved"] = moved / seeds;
    }

    double seeds = 0;
    double inter_node = 0;
    double moved = 0;
};

void run_evenkeel(benchmark::State& state, batches const& of, relabel_objective objective) {
    task task{of};
    relabel_workspace space;
    relabelled const* close = nullptr;
    shares found;
    double inter_node_bound = 0;
    double certificate = 1;
    double busiest = 0;
    double busiest_bound = 0;
    double at_bound = 0;
    measure_seeds(
        state, of.shape.samples(), [&](std::size_t seed) { task.draw(seed); },
        [&] {
            close = &relabel(space, task.given, task.home, task.cluster, task.bytes, {.objective = objective});
            benchmark::DoNotOptimize(close);
        },
        [&] {
            found.add(traffic_of({task.home, layout_of(close->plan)}, task.cluster, task.bytes));
            inter_node_bound += share(close->between_nodes_bound, close->total);
            certificate = std::min(certificate, close->certificate());
            auto const nodes = static_cast<double>(task.cluster.nodes());
            busiest += nodes * share(close->busiest_node, close->total);
            busiest_bound += nodes * share(close->busiest_node_bound, close->total);
            at_bound += close->busiest_node == close->busiest_node_bound ? 1 : 0;
        });
    found.show(state);
    state.counters["inter_node_bound"] = inter_node_bound / found.seeds;
    state.counters["certificate"] = certificate;
    state.counters["busiest"] = busiest / found.seeds;
    state.counters["busiest_bound"] = busiest_bound / found.seeds;
    state.counters["at_bound"] = at_bound / found.seeds;
}

void run_greedy(benchmark::State& state, batches const& of) {
    task task{of};
    shares found;
    std::vector<std::uint32_t> rank_of;
    measure_seeds(
        state, of.shape.samples(), [&](std::size_t seed) { task.draw(seed); },
        [&] {
            rank_of = greedy(task);
            benchmark::DoNotOptimize(rank_of.data());
        },
        [&] { found.add(traffic_under(task, rank_of)); });
    found.show(state);
}

void run_identity(benchmark::State& state, batches const& of) {
    task task{of};
    shares found;
    std::optional<rearrangement> move;
    traffic counted;
    measure_seeds(
        state, of.shape.samples(),
        [&](std::size_t seed) {
            task.draw(seed);
            move.emplace(task.home, layout_of(task.given));
        },
        [&] {
            counted = traffic_of(*move, task.cluster, task.bytes);
            benchmark::DoNotOptimize(counted);
        },
        [&] { found.add(counted); });
    found.show(state);
}

}  // namespace

void add_relabel_rows(batches const& batches) {
    auto const add = [&](std::string_view subject, auto run) {
        add_seeds_row(batches.row("relabel", subject), [=](benchmark::State& state) { run(state, batches); });
    };
    add("evenkeel_total", [](auto& state, auto const& of) { run_evenkeel(state, of, relabel_objective::total); });
    add("evenkeel_busiest", [](auto& state, auto const& of) { run_evenkeel(state, of, relabel_objective::busiest); });
    add("greedy", run_greedy);
    add("identity", run_identity);
}

}  // namespace evenkeel::bench
