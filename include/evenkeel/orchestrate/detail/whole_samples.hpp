// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/orchestrate/detail/bound_space.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/solve/rebalance.hpp>

namespace evenkeel::detail {

/// Evens out nodes by moving whole samples, all units of each together, before units even out the ranks of a node.
///
/// Units that leave their node one by one leave the sample's other outputs behind, and all of them have to meet again.
class whole_samples {
  public:
    /// Moves the homes of units whose sample has to leave its node to ranks of another. Nodes of different sizes are
    /// left as they are.
    void operator()(phase_task& task, group_view const& view, double tolerance, std::uint64_t effort) {
        between_nodes_ = 0;
        std::size_t const nodes = view.nodes();
        std::size_t const size = view.on_node(0).size();
        if (nodes == 1 || size * nodes != view.ranks()) {
            return;
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            if (view.on_node(node).size() != size) {
                return;
            }
        }
        gather(task, view);
        bool const weights_are_bytes = task.bytes.data() == task.weights.data();
        rebalance(space_, {.weights = weights_,
                           .bytes = weights_are_bytes ? weights_ : bytes_,
                           .home_ranks = homes_,
                           .home_nodes = {},
                           .classes = classes_,
                           .nodes_of_ranks = nodes_,
                           .nodes = nodes,
                           .tolerance = slack_of_nodes(task, view, size, tolerance),
                           .effort = effort,
                           .slack_tenths = 0,
                           // Where there are many to choose from, as of units that are planned one by one.
                           .limit_imports = task.limit_imports && !is_sparse(weights_, view.ranks()),
                           .bounds = false,
                           .plan = false});
        // A plan that was made without regard to homes would move all samples; units one by one do better.
        if (space_.result.from_scratch) {
            return;
        }
        between_nodes_ = space_.result.between_nodes;
        for (std::size_t sample = 0; sample < homes_.size(); ++sample) {
            if (std::uint32_t const node = space_.rank_of_item[sample]; node != homes_[sample]) {
                // To the ranks of the other node in turn.
                auto const ranks = view.on_node(node);
                for (std::size_t item = first(task, sample); item < first(task, sample + 1); ++item) {
                    task.home_ranks[item] = ranks[item % ranks.size()];
                }
            }
        }
    }

    void reserve(std::size_t items, std::size_t nodes) {
        weights_.reserve(items);
        bytes_.reserve(items);
        sums_.reserve(items + 1);
        classes_.reserve(items);
        homes_.reserve(items);
        space_.reserve(items, nodes, nodes);
    }

    /// Bytes of the samples that have moved.
    [[nodiscard]] std::uint64_t between_nodes() const noexcept { return between_nodes_; }

  private:
    /// `lower_bound`, of which with many items per rank the mean and the heaviest item are all.
    [[nodiscard]] std::uint64_t bound_of(std::span<std::uint64_t const> weights, std::size_t ranks) {
        if (is_sparse(weights, ranks)) {
            return bound_(weights, {ranks});
        }
        // Mostly no item has as many bits as the mean, so that none need be looked for.
        std::uint64_t sum = 0;
        std::uint64_t bits = 0;
        for (auto const weight : weights) {
            sum += weight;
            bits |= weight;
        }
        if (std::bit_width(bits) + std::bit_width(weights.size()) <= 64 && bits <= sum / ranks) {
            return sum / ranks + (sum % ranks != 0 ? 1 : 0);
        }
        auto const [total, heaviest, present] = summarize("orchestrate", weights);
        return std::max(total / ranks + (total % ranks != 0 ? 1 : 0), heaviest);
    }

    [[nodiscard]] static std::size_t first(phase_task const& task, std::size_t sample) noexcept {
        return sample < task.starts.size() ? task.starts[sample] : task.size();
    }

    void gather(phase_task const& task, group_view const& view) {
        std::size_t const count = task.starts.size();
        add_up(task, task.weights, weights_);
        if (task.bytes.data() != task.weights.data()) {
            add_up(task, task.bytes, bytes_);
        }
        classes_.resize(task.classes.empty() ? 0 : count);
        homes_.resize(count);
        for (std::size_t sample = 0; sample < count; ++sample) {
            std::size_t const start = task.starts[sample];
            homes_[sample] = view.nodes_of_ranks()[task.home_ranks[start]];
            if (!classes_.empty()) {
                classes_[sample] = task.classes[start];
            }
        }
        nodes_.resize(view.nodes());
        std::iota(nodes_.begin(), nodes_.end(), 0U);
    }

    /// What the items of each sample have together: differences of a running sum, as no processor foresees how many
    /// items a sample has. So many samples at a time, that a cache has their sums.
    void add_up(phase_task const& task, std::span<std::uint64_t const> of_items,
                std::vector<std::uint64_t>& of_samples) {
        constexpr std::size_t at_once = 512;
        of_samples.resize(task.starts.size());
        sums_.reserve(of_items.size() + 1);
        for (std::size_t begin = 0, end = 0; begin < of_samples.size(); begin = end) {
            end = std::min(begin + at_once, of_samples.size());
            std::size_t const before = task.starts[begin];
            auto const some = of_items.subspan(before, first(task, end) - before);
            sums_.resize(std::max(sums_.size(), some.size() + 1));
            std::uint64_t sum = 0;
            for (std::size_t item = 0; item < some.size(); ++item) {
                sums_[item] = sum;
                sum += some[item];
            }
            sums_[some.size()] = sum;
            for (std::size_t sample = begin; sample < end; ++sample) {
                of_samples[sample] = sums_[first(task, sample + 1) - before] - sums_[task.starts[sample] - before];
            }
        }
    }

    /// How much busier than their bound nodes may be: what the ranks may, but for six tenths of the slack, with which
    /// the ranks of a node come out even easily.
    [[nodiscard]] double slack_of_nodes(phase_task const& task, group_view const& view, std::size_t size,
                                        double tolerance) {
        auto const of_rank = static_cast<double>(bound_of(task.weights, view.ranks())) * (1 + tolerance);
        auto const of_node = static_cast<double>(bound_of(weights_, view.nodes()));
        auto const total = static_cast<double>(std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0}));
        double const mean = total / static_cast<double>(view.nodes());
        double const cap = mean + 0.4 * (static_cast<double>(size) * of_rank - mean);
        return of_node == 0 ? 0.0 : std::max(0.0, cap / of_node - 1);
    }

    std::vector<std::uint64_t> weights_;  ///< of each sample
    std::vector<std::uint64_t> bytes_;    ///< where they are other numbers than the weights
    std::vector<std::uint64_t> sums_;     ///< of the items before each of some
    std::vector<std::uint8_t> classes_;
    std::vector<std::uint32_t> homes_;  ///< nodes as ranks
    std::vector<std::uint32_t> nodes_;  ///< of these ranks: themselves
    std::uint64_t between_nodes_ = 0;
    bound_space bound_;
    stay_room space_;
};

}  // namespace evenkeel::detail
