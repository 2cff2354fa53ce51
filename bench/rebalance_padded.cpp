// SPDX-License-Identifier: Apache-2.0
#include "rebalance_padded.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/cost/padded.hpp>
#include <evenkeel/place.hpp>
#include <evenkeel/solve/balance_padded.hpp>
#include <evenkeel/solve/rebalance_padded.hpp>

#include "measure.hpp"

namespace evenkeel::bench {
namespace {

/// Below this, a batch is compared with `std::sort` of a batch of a large job.
constexpr std::size_t fewest_keys = 102'400;

/// What the seeds of a row came to.
struct padded_shares {
    void add(std::uint64_t total, std::uint64_t between, std::uint64_t bound, std::uint64_t moved_bytes,
             double excess) {
        double const all = static_cast<double>(std::max<std::uint64_t>(total, 1));
        seeds += 1;
        inter_node += static_cast<double>(between) / all;
        inter_node_bound += static_cast<double>(bound) / all;
        moved += static_cast<double>(moved_bytes) / all;
        gap = std::max(gap, excess);
    }

    void show(benchmark::State& state) const {
        state.counters["inter_node"] = inter_node / seeds;
        state.counters["inter_node_bound"] = inter_node_bound / seeds;
        state.counters["moved"] = moved / seeds;
        state.counters["gap"] = gap;
    }

    double seeds = 0;
    double inter_node = 0;
    double inter_node_bound = 0;
    double moved = 0;
    double gap = 0;
};

/// Calls `run` with the lengths of each seed, timed, and `judge` with what the seeds came to.
template <class Run, class Judge>
void run_padded(benchmark::State& state, batches const& of, Run run, Judge judge) {
    std::vector<std::uint64_t> lengths;
    padded_shares found;
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()), [&](std::size_t seed) { lengths = of.draw(seed); },
        [&] { run(lengths); }, [&] { judge(found); });
    found.show(state);
}

}  // namespace

void add_rebalance_padded_rows(batches const& batches) {
    auto const home = home_layout(std::vector<std::size_t>(batches.shape.ranks, batches.shape.per_rank));
    auto const cluster = uniform_topology({batches.shape.ranks}, {8});
    auto const stay = [&](std::string_view subject, double tolerance) {
        add_seeds_row(batches.row("rebalance_padded", subject), [=](benchmark::State& state) {
            padded_rebalance_workspace space;
            rebalanced const* kept = nullptr;
            run_padded(
                state, batches,
                [&](auto const& lengths) {
                    kept = &rebalance(space, lengths, home, cluster, padded_cost{}, {.tolerance = tolerance});
                },
                [&](padded_shares& found) {
                    found.add(kept->total, kept->between_nodes, *kept->between_nodes_bound, kept->moved,
                              kept->quality.gap());
                });
        });
    };
    stay("stay_2", 0.02);
    stay("stay_5", 0.05);
    stay("stay_10", 0.1);
    add_seeds_row(batches.row("rebalance_padded", "optimal_relabel"), [=](benchmark::State& state) {
        workspace space;
        relabel_workspace relabelling;
        relabelled const* close = nullptr;
        double gap = 0;
        run_padded(
            state, batches,
            [&](auto const& lengths) {
                auto const& even = balance(space, lengths, rank_count{batches.shape.ranks}, padded_cost{});
                gap = even.quality.gap();
                close = &relabel(relabelling, even.plan, home, cluster, lengths);
            },
            [&](padded_shares& found) {
                found.add(close->total, close->between_nodes, close->between_nodes_bound, close->moved, gap);
            });
    });
}

}  // namespace evenkeel::bench
