// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <evenkeel/solve/detail/node_runs.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// What is at home on each rank and in each node.
struct home_sums {
    std::vector<std::uint64_t> loads;         ///< of each rank, what its items weigh
    std::vector<placement::summary> nodes;    ///< of each node, those of its items that weigh something
    std::vector<std::size_t> drawn_on_ranks;  ///< how many items each has, with those that weigh nothing
    std::vector<std::size_t> drawn_on_nodes;

    node_runs runs;              ///< of all items
    std::size_t present = 0;     ///< how many items weigh something
    std::uint64_t total = 0;     ///< what they weigh
    std::uint64_t most = 0;      ///< no item weighs more, but it may be up to twice the heaviest
    bool some_homeless = false;  ///< the home of some is no rank

    void reserve(std::size_t batch, std::size_t node_count) { runs.reserve(batch, node_count); }

    /// In the order of the batch, where the items of a rank follow one another as a rule, and the memory of its sums is
    /// at hand.
    ///
    /// @throws std::overflow_error  if the sum of the weights exceeds 64 bits; names `function`.
    void add_up(std::string_view function, stay_task const& task) {
        loads.assign(task.nodes_of_ranks.size(), 0);
        nodes.assign(task.nodes, {});
        drawn_on_ranks.assign(task.nodes_of_ranks.size(), 0);
        drawn_on_nodes.assign(task.nodes, 0);
        runs.clear();
        some_homeless = false;
        std::uint64_t bits = 0;
        std::size_t const size = task.weights.size();
        for (std::size_t item = 0; item < size;) {
            std::uint32_t const rank = task.home_ranks[item];
            std::uint32_t const node = task.home_node(item);
            std::size_t const first = item;
            std::size_t const end = rank != no_rank ? size : item + 1;
            std::uint64_t load = 0;
            std::size_t count = 0;
            do {
                std::uint64_t const weight = task.weights[item];
                load += weight;
                count += weight != 0 ? 1U : 0U;
                bits |= weight;
                ++item;
            } while (item < end && task.home_ranks[item] == rank);
            runs.add(node, first, item - first);
            drawn_on_nodes[node] += item - first;
            nodes[node].count += count;
            nodes[node].load += load;
            if (rank != no_rank) {
                loads[rank] += load;
                drawn_on_ranks[rank] += item - first;
            } else {
                some_homeless = true;
            }
        }
        most = bits;
        runs.sort_by_node(task.nodes);
        present = 0;
        total = 0;
        for (auto const& node : nodes) {
            present += node.count;
            total += node.load;
        }
        if (std::bit_width(most) + std::bit_width(size) > 64) {
            total = summarize(function, task.weights).total;
        }
    }

    void divide_by(std::uint64_t unit) noexcept {
        if (unit == 1) {
            return;
        }
        most /= unit;
        total /= unit;
        for (auto& load : loads) {
            load /= unit;
        }
        for (auto& node : nodes) {
            node.load /= unit;
        }
    }
};

}  // namespace evenkeel::detail
