// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <benchmark/benchmark.h>

namespace evenkeel::bench {

/// The bytes that the plans of a row move, as shares of all: the mean over its seeds, and the worst gap.
struct byte_shares {
    void add(std::uint64_t total, std::uint64_t between, std::uint64_t bound, std::uint64_t moved_bytes,
             double gap_of_seed) {
        double const all = static_cast<double>(std::max<std::uint64_t>(total, 1));
        seeds += 1;
        inter_node += static_cast<double>(between) / all;
        inter_node_bound += static_cast<double>(bound) / all;
        moved += static_cast<double>(moved_bytes) / all;
        gap = std::max(gap, gap_of_seed);
        if (between > 0) {
            over_bound = std::max(
                over_bound, static_cast<double>(between) / static_cast<double>(std::max<std::uint64_t>(bound, 1)));
        }
    }

    void show_between_nodes(benchmark::State& state) const {
        state.counters["inter_node"] = inter_node / seeds;
        state.counters["inter_node_bound"] = inter_node_bound / seeds;
        state.counters["gap"] = gap;
    }

    /// All but `over_bound`.
    void show(benchmark::State& state) const {
        show_between_nodes(state);
        state.counters["moved"] = moved / seeds;
    }

    double seeds = 0;
    double inter_node = 0;
    double inter_node_bound = 0;
    double moved = 0;
    double gap = 0;
    double over_bound = 1;  ///< the worst ratio to the bound
};

}  // namespace evenkeel::bench
