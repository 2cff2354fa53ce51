// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include <evenkeel/core/layout.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/place/relabel.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/rebalance.hpp>

#include "examples/support/command_line.hpp"
#include "examples/support/input_error.hpp"
#include "examples/support/phases.hpp"
#include "examples/support/trace.hpp"

namespace evenkeel::perf {
namespace {

using examples::input_error;

pair_traffic equal_blocks(std::size_t ranks, std::uint64_t bytes) {
    return pair_traffic_of(std::vector<std::uint64_t>(ranks * ranks, bytes), world_size{ranks});
}

pair_traffic read_matrix(options const& options) {
    auto const name = options.matrix->string();
    std::ifstream file{*options.matrix};
    if (!file) {
        throw input_error{name + ": cannot be read"};
    }
    std::vector<std::uint64_t> cells;
    for (std::string cell; file >> cell;) {
        cells.push_back(examples::whole_number(name, cell, 0, std::uint64_t{1} << 40U));
    }
    // A folder can be opened, not read.
    if (file.bad()) {
        throw input_error{name + ": cannot be read"};
    }
    if (cells.size() != options.ranks * options.ranks) {
        throw input_error{
            fmt::format("{}: expected {} x {} cells, got {}", name, options.ranks, options.ranks, cells.size())};
    }
    return pair_traffic_of(cells, world_size{options.ranks});
}

pair_traffic planned(options const& options) {
    auto const phases = examples::phases_of(examples::read_trace(*options.lengths));
    auto const phase = std::ranges::find(phases, options.phase, &examples::phase_lengths::name);
    if (phase == phases.end()) {
        examples::refuse("--phase", "a column of the lengths, or llm", options.phase);
    }
    examples::drawing const drawing{.ranks = options.ranks, .samples_per_rank = options.samples_per_rank};
    std::vector<std::uint64_t> lengths;
    for (std::size_t rank = 0; rank < options.ranks; ++rank) {
        auto const drawn = drawing.lengths(0, rank, phase->lengths);
        lengths.insert(lengths.end(), drawn.begin(), drawn.end());
    }
    auto const home = home_layout(std::vector<std::size_t>(options.ranks, options.samples_per_rank));
    auto const nodes = uniform_topology(world_size{options.ranks}, node_size{options.ranks_per_node});
    linear_cost const cost{.linear = 1};
    evenkeel::plan plan;
    if (options.plan == "stay") {
        plan = rebalance(lengths, home, nodes, cost).plan;
    } else {
        plan = balance(lengths, rank_count{options.ranks}, cost).plan;
        if (options.plan == "relabel") {
            plan = relabel(plan, home, nodes, lengths).plan;
        }
    }
    for (auto& bytes : lengths) {
        bytes *= options.bytes_per_token;
    }
    return pair_traffic_of(rearrangement{home, layout_of(plan)}, lengths);
}

}  // namespace

std::vector<pair_traffic> workloads(options const& options) {
    if (options.matrix) {
        return {read_matrix(options)};
    }
    if (options.lengths) {
        return {planned(options)};
    }
    std::vector<pair_traffic> result;
    for (auto bytes = options.smallest;;) {
        result.push_back(equal_blocks(options.ranks, bytes / options.ranks));
        auto const next = std::max<std::uint64_t>(bytes, 1) * options.factor;
        if (next > options.largest) {
            return result;
        }
        bytes = next;
    }
}

std::uint64_t size_of(pair_traffic const& all, bool equal_blocks) {
    std::vector<std::uint64_t> out(all.ranks.value);
    std::vector<std::uint64_t> in(all.ranks.value);
    for (auto const& pair : all.pairs) {
        out[to_index(pair.from)] += pair.bytes;
        in[to_index(pair.to)] += pair.bytes;
    }
    auto const most = std::max(*std::ranges::max_element(out), *std::ranges::max_element(in));
    return equal_blocks && all.ranks.value > 1 ? most / (all.ranks.value - 1) * all.ranks.value : most;
}

}  // namespace evenkeel::perf
