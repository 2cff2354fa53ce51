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

#include "byte_shares.hpp"
#include "measure.hpp"

namespace evenkeel::bench {
namespace {

/// Calls `run` with the lengths of each seed, timed, and `judge` with what the seeds came to.
template <class Run, class Judge>
void run_padded(benchmark::State& state, batches const& of, Run run, Judge judge) {
    std::vector<std::uint64_t> lengths;
    byte_shares found;
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
                [&](byte_shares& found) {
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
            [&](byte_shares& found) {
                found.add(close->total, close->between_nodes, close->between_nodes_bound, close->moved, gap);
            });
    });
}

}  // namespace evenkeel::bench
