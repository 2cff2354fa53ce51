// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/rebalance.hpp>

namespace evenkeel::detail {

/// Evens out nodes by moving whole samples, all units of each together, before units even out the ranks of a node.
///
/// Units that leave their node one by one leave the sample's other outputs behind, and all of them have to meet again.
class whole_samples {
  public:
    /// Moves the places of units whose sample has to leave its node to ranks of another. Nodes of different sizes are left
    /// as they are.
    void operator()(phase_task const& task, group_view const& view, double tolerance, std::uint64_t effort,
                    layout& where) {
        std::size_t const nodes = view.nodes();
        std::size_t const ranks = view.instances().size().value;
        std::size_t const size = view.on_node(0).size();
        if (nodes == 1 || size * nodes != ranks) {
            return;
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            if (view.on_node(node).size() != size) {
                return;
            }
        }
        gather(task, view, where);
        auto const& kept = rebalance(space_, weights_, homes_, one_rank_each(nodes), linear_cost{},
                                     {.tolerance = slack_of_nodes(task, ranks, nodes, size, tolerance),
                                      .effort = effort,
                                      .bytes = bytes_,
                                      .classes = classes_});
        // A plan that was made without regard to homes would move all samples; units one by one do better.
        if (kept.from_scratch) {
            return;
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            for (item_id const sample : kept.plan[to_id<rank_id>(node)]) {
                if (to_index(homes_.places[to_index(sample)].rank) != node) {
                    move(view, to_index(sample), node, where);
                }
            }
        }
    }

  private:
    void gather(phase_task const& task, group_view const& view, layout const& where) {
        weights_.clear();
        bytes_.clear();
        classes_.clear();
        offsets_.assign(1, 0);
        homes_.places.clear();
        homes_.ranks = {view.nodes()};
        for (std::size_t item = 0; item < task.size(); ++item) {
            if (item == 0 || task.samples[item] != task.samples[item - 1]) {
                weights_.push_back(0);
                bytes_.push_back(0);
                classes_.push_back(task.classes[item]);
                offsets_.push_back(item + 1);
                auto const node = view.instances().node_of(where.places[item].rank);
                homes_.places.push_back({world_rank{static_cast<std::uint32_t>(node)}, {}, 0});
            }
            weights_.back() += task.weights[item];
            bytes_.back() += task.bytes[item];
            offsets_.back() = item + 1;
        }
    }

    [[nodiscard]] static topology one_rank_each(std::size_t nodes) {
        return uniform_topology(world_size{nodes}, node_size{1});
    }

    /// How much busier than their bound nodes may be: what the ranks may, but for six tenths of the slack, with which the
    /// ranks of a node come out even easily.
    [[nodiscard]] double slack_of_nodes(phase_task const& task, std::size_t ranks, std::size_t nodes, std::size_t size,
                                        double tolerance) const {
        auto const of_rank = static_cast<double>(evenkeel::lower_bound(task.weights, {ranks})) * (1 + tolerance);
        auto const of_node = static_cast<double>(evenkeel::lower_bound(weights_, {nodes}));
        double total = 0;
        for (auto const weight : weights_) {
            total += static_cast<double>(weight);
        }
        double const mean = total / static_cast<double>(nodes);
        double const cap = mean + 0.4 * (static_cast<double>(size) * of_rank - mean);
        return of_node == 0 ? 0.0 : std::max(0.0, cap / of_node - 1);
    }

    /// The units of a sample to ranks of another node, in turn.
    void move(group_view const& view, std::size_t sample, std::size_t node, layout& where) const {
        auto const ranks = view.on_node(node);
        for (std::size_t item = offsets_[sample]; item < offsets_[sample + 1]; ++item) {
            where.places[item].rank = world_rank{ranks[item % ranks.size()]};
        }
    }

    std::vector<std::uint64_t> weights_;  ///< of each sample
    std::vector<std::uint64_t> bytes_;
    std::vector<std::uint8_t> classes_;
    std::vector<std::size_t> offsets_;  ///< of each sample's items
    layout homes_;                      ///< nodes as ranks
    rebalance_workspace space_;
};

}  // namespace evenkeel::detail
