// SPDX-License-Identifier: Apache-2.0
#include "flows.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/core/topology.hpp>
#include <evenkeel/solve/flows.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/settle.hpp>

#include "byte_shares.hpp"
#include "measure.hpp"

namespace evenkeel::bench {
namespace {

constexpr std::size_t per_node = 8;

/// All nodes of a cluster in one process, each with what its own ranks drew.
class nodes_bench {
  public:
    explicit nodes_bench(batches const& of)
        : of_{of},
          cluster_{uniform_topology({of.shape.ranks}, {per_node})},
          weights_(cluster_.nodes()),
          homes_(cluster_.nodes()),
          arrived_(cluster_.nodes()) {}

    /// Plans the flows of a seed and lets all nodes choose what they give; what they hold then is what they settle.
    void draw(std::size_t seed) {
        lengths_ = of_.draw(seed);
        seed_ = seed;
        summaries_.assign(of_.shape.ranks, {});
        for (std::size_t item = 0; item < lengths_.size(); ++item) {
            auto& summary = summaries_[item / of_.shape.per_rank];
            summary.load += lengths_[item];
            summary.heaviest = std::max(summary.heaviest, lengths_[item]);
        }
        auto const start = std::chrono::steady_clock::now();
        flows_ = plan_flows(summaries_, cluster_);
        plan_time = std::chrono::steady_clock::now() - start;
        for (auto& items : arrived_) {
            items.clear();
        }
        moved = 0;
        for (std::size_t node = 0; node < cluster_.nodes(); ++node) {
            give(node);
        }
        for (std::size_t node = 0; node < cluster_.nodes(); ++node) {
            weights_[node].insert(weights_[node].end(), arrived_[node].begin(), arrived_[node].end());
            homes_[node].resize(weights_[node].size(), static_cast<std::uint32_t>(members(node)));
        }
    }

    /// What one node does.
    void settle_one() {
        std::size_t const node = seed_ * 7 % cluster_.nodes();
        benchmark::DoNotOptimize(settle_exports(of_node(node), flows_.from(to_id<node_id>(node))));
        benchmark::DoNotOptimize(settle(node).data());
    }

    /// The busiest rank once all nodes have settled.
    [[nodiscard]] std::uint64_t busiest() {
        std::uint64_t most = 0;
        for (std::size_t node = 0; node < cluster_.nodes(); ++node) {
            std::vector<std::uint64_t> loads(members(node));
            auto const& ranks = settle(node);
            for (std::size_t item = 0; item < ranks.size(); ++item) {
                loads[ranks[item]] += weights_[node][item];
            }
            most = std::max(most, *std::max_element(loads.begin(), loads.end()));
        }
        return most;
    }

    [[nodiscard]] std::uint64_t fewest_moved(std::uint64_t busiest) const {
        std::uint64_t bytes = 0;
        for (std::size_t node = 0; node < cluster_.nodes(); ++node) {
            auto const own = of_node(node);
            std::uint64_t const load = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
            bytes += load - std::min(load, members(node) * busiest);
        }
        return bytes;
    }

    [[nodiscard]] std::span<std::uint64_t const> lengths() const noexcept { return lengths_; }

    std::uint64_t moved = 0;
    std::chrono::duration<double> plan_time{};

  private:
    [[nodiscard]] std::size_t members(std::size_t node) const noexcept {
        return std::min(per_node, of_.shape.ranks - node * per_node);
    }

    [[nodiscard]] std::span<std::uint64_t const> of_node(std::size_t node) const noexcept {
        std::size_t const per_rank = of_.shape.per_rank;
        return std::span{lengths_}.subspan(node * per_node * per_rank, members(node) * per_rank);
    }

    void give(std::size_t node) {
        auto const own = of_node(node);
        auto const exports = settle_exports(own, flows_.from(to_id<node_id>(node)));
        std::vector<bool> leaves(own.size());
        for (std::size_t flow = 0; flow < exports.receivers.size(); ++flow) {
            for (std::size_t at = exports.offsets[flow]; at < exports.offsets[flow + 1]; ++at) {
                std::uint64_t const weight = own[exports.items[at]];
                leaves[exports.items[at]] = true;
                arrived_[to_index(exports.receivers[flow])].push_back(weight);
                moved += weight;
            }
        }
        weights_[node].clear();
        homes_[node].clear();
        for (std::size_t item = 0; item < own.size(); ++item) {
            if (!leaves[item]) {
                weights_[node].push_back(own[item]);
                homes_[node].push_back(static_cast<std::uint32_t>(item / of_.shape.per_rank));
            }
        }
    }

    std::vector<std::uint32_t> const& settle(std::size_t node) {
        return settle_ranks(space_, weights_[node], homes_[node], rank_count{members(node)}, flows_.target);
    }

    batches of_;
    topology cluster_;
    std::size_t seed_ = 0;
    std::vector<std::uint64_t> lengths_;
    std::vector<rank_summary> summaries_;
    node_flows flows_;
    settle_workspace space_;
    std::vector<std::vector<std::uint64_t>> weights_;  ///< of each node: what it settles
    std::vector<std::vector<std::uint32_t>> homes_;
    std::vector<std::vector<std::uint64_t>> arrived_;
};

void run_each_node(benchmark::State& state, batches const& of) {
    auto const task = std::make_unique<nodes_bench>(of);
    byte_shares found;
    double flows_us = 0;
    measure_seeds(
        state, std::max(fewest_keys, of.shape.samples()), [&](std::size_t seed) { task->draw(seed); },
        [&] { task->settle_one(); },
        [&] {
            auto const lengths = task->lengths();
            auto const total = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
            auto const busiest = task->busiest();
            auto const bound = lower_bound(lengths, {of.shape.ranks});
            double const gap =
                static_cast<double>(busiest - bound) / static_cast<double>(std::max<std::uint64_t>(1, bound));
            found.add(total, task->moved, task->fewest_moved(busiest), task->moved, gap);
            flows_us = std::max(flows_us, task->plan_time.count() * 1e6);
        });
    found.show_between_nodes(state);  // what moves inside nodes it does not count
    state.counters["over_bound"] = found.over_bound;
    state.counters["flows_us"] = flows_us;
}

}  // namespace

void add_flow_rows(batches const& batches) {
    add_seeds_row(batches.row("rebalance", "each_node"),
                  [=](benchmark::State& state) { run_each_node(state, batches); });
}

}  // namespace evenkeel::bench
