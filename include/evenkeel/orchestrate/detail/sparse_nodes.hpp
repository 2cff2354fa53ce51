// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/node_splits.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/polish.hpp>
#include <evenkeel/solve/rebalance.hpp>

namespace evenkeel::detail {

/// Evens out a phase with a few heavy items per rank: first nodes, by moving little, then the ranks of each from
/// scratch.
///
/// Inside a node bytes are cheap, and the items of eight ranks can be split in so many ways that some are even to a
/// thousandth, where a rank's own few items have no exchange that fits. A node of which no even split is found gives an
/// item to a node with room, or exchanges two, the cheapest that helps, and both are split again. What is still uneven
/// is left to `polisher`.
class sparse_nodes {
  public:
    /// Nodes of different sizes are not tried.
    ///
    /// @param target  What no rank may exceed.
    /// @return        Whether none does; `rank_of` and `between_nodes` then say how.
    bool operator()(phase_task const& task, group_view const& view, std::uint64_t target, std::uint64_t effort) {
        size_ = view.on_node(0).size();
        for (std::size_t node = 0; node < view.nodes(); ++node) {
            if (view.on_node(node).size() != size_) {
                return false;
            }
        }
        task_ = &task;
        splitter_.start(task, size_, target, std::min(effort, most_effort));
        effort_ = effort;
        if (view.nodes() == 1 || __builtin_mul_overflow(target, size_, &most_) || !level_nodes(view)) {
            return false;
        }
        nodes_.resize(view.nodes());
        for (auto& node : nodes_) {
            node.items.clear();
            node.load = 0;
        }
        for (std::uint32_t item = 0; item < task.size(); ++item) {
            auto& node = nodes_[space_.rank_of_item[item]];
            node.items.push_back(item);
            node.load += task.weights[item];
        }
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            auto& of = nodes_[node];
            of.is_even =
                splitter_.stay(view.on_node(node), of.items, of.rank_of) || splitter_.split(of.items, of.rank_of);
        }
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (!nodes_[node].is_even) {
                relieve(node);
            }
        }
        rank_of_.resize(task.size());
        busiest_ = 0;
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            busiest_ = std::max(busiest_,
                                splitter_.seat(view.on_node(node), nodes_[node].items, nodes_[node].rank_of, rank_of_));
        }
        if (busiest_ > target) {
            std::uint64_t const splits = std::max<std::uint64_t>(task.size(), 1024) * std::min(effort, most_effort) * 8;
            if (!polish_(task.weights, task.bytes, homes_, view.nodes_of_ranks(), target, splits, rank_of_)) {
                return false;
            }
            busiest_ = polish_.busiest();
        }
        between_nodes_ = 0;
        for (std::size_t item = 0; item < task.size(); ++item) {
            between_nodes_ += view.nodes_of_ranks()[rank_of_[item]] != homes_[item] ? task.bytes[item] : 0;
        }
        return true;
    }

    [[nodiscard]] std::span<std::uint32_t const> rank_of() const noexcept { return rank_of_; }
    [[nodiscard]] std::uint64_t busiest() const noexcept { return busiest_; }
    [[nodiscard]] std::uint64_t between_nodes() const noexcept { return between_nodes_; }

  private:
    struct node_items {
        std::vector<std::uint32_t> items;
        std::vector<std::uint32_t> rank_of;  ///< of each of these, among the ranks of the node
        std::uint64_t load = 0;
        bool is_even = false;
    };

    /// An item to give away, and perhaps one to take for it.
    struct trade {
        std::uint64_t cost = 0;
        std::uint32_t given = 0;
        std::uint32_t node = 0;
        std::uint32_t taken = 0;
        bool takes = false;
    };

    bool level_nodes(group_view const& view) {
        std::size_t const nodes = view.nodes();
        of_nodes_.resize(nodes);
        std::iota(of_nodes_.begin(), of_nodes_.end(), 0U);
        homes_.resize(task_->size());
        double total = 0;
        for (std::size_t item = 0; item < task_->size(); ++item) {
            homes_[item] = view.nodes_of_ranks()[task_->home_ranks[item]];
            total += static_cast<double>(task_->weights[item]);
        }
        // Six tenths of the slack are kept back for the ranks of the node.
        double const mean = total / static_cast<double>(nodes);
        double const tolerance = mean > 0 ? 0.4 * (static_cast<double>(most_) / mean - 1) : 0.0;
        rebalance(space_, {.weights = task_->weights,
                           .bytes = task_->bytes,
                           .home_ranks = homes_,
                           .home_nodes = {},
                           .classes = task_->classes,
                           .nodes_of_ranks = of_nodes_,
                           .nodes = nodes,
                           .tolerance = std::max(0.0, tolerance),
                           .effort = effort_,
                           .slack_tenths = 0,  // no slack is kept back twice
                           .bounds = false,
                           .plan = false});
        return !space_.result.from_scratch;
    }

    [[nodiscard]] std::int64_t cost_of(std::uint32_t item, std::uint32_t from, std::uint32_t to) const noexcept {
        auto const bytes = static_cast<std::int64_t>(task_->bytes[item]);
        return (to != homes_[item] ? bytes : 0) - (from != homes_[item] ? bytes : 0);
    }

    /// Trades with other nodes, the cheapest first, until both can be split evenly.
    void relieve(std::uint32_t node) {
        collect(node);
        tries_.assign(task_->size(), 0);
        for (std::size_t at = 0, tried = 0; at < trades_.size() && tried < most_trades; ++at) {
            auto const& one = trades_[at];
            // Not the same item over and over; and what is left without it is the same whoever takes it.
            if (tries_[one.given] == (one.takes ? tries_of_item : 1)) {
                continue;
            }
            ++tries_[one.given];
            ++tried;
            apply(node, one);
            if (splitter_.split(mine_, mine_rank_of_) && splitter_.split(theirs_, theirs_rank_of_)) {
                accept(nodes_[node], mine_, mine_rank_of_);
                accept(nodes_[one.node], theirs_, theirs_rank_of_);
                return;
            }
        }
    }

    /// What the two nodes of a trade have after it.
    void apply(std::uint32_t node, trade const& one) {
        mine_.assign(nodes_[node].items.begin(), nodes_[node].items.end());
        theirs_.assign(nodes_[one.node].items.begin(), nodes_[one.node].items.end());
        std::erase(mine_, one.given);
        theirs_.push_back(one.given);
        if (one.takes) {
            std::erase(theirs_, one.taken);
            mine_.push_back(one.taken);
        }
    }

    void accept(node_items& node, std::vector<std::uint32_t>& items, std::vector<std::uint32_t>& rank_of) {
        node.items.swap(items);
        node.rank_of.swap(rank_of);
        node.is_even = true;
        node.load = 0;
        for (auto const item : node.items) {
            node.load += task_->weights[item];
        }
    }

    void collect(std::uint32_t node) {
        trades_.clear();
        for (auto const given : nodes_[node].items) {
            for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
                if (other == node || !nodes_[other].is_even) {
                    continue;
                }
                std::uint64_t const weight = task_->weights[given];
                auto const gone = cost_of(given, node, other);
                if (nodes_[other].load + weight <= most_) {
                    add({.given = given, .node = other}, gone);
                }
                for (auto const taken : nodes_[other].items) {
                    if (nodes_[node].items.size() <= most_exchanged && nodes_[other].items.size() <= most_exchanged &&
                        nodes_[other].load + weight - task_->weights[taken] <= most_ &&
                        nodes_[node].load + task_->weights[taken] - weight <= most_) {
                        add({.given = given, .node = other, .taken = taken, .takes = true},
                            gone + cost_of(taken, other, node));
                    }
                }
            }
        }
        auto const cheaper = [](trade const& a, trade const& b) {
            return std::tie(a.cost, a.given, a.node, a.takes, a.taken) <
                   std::tie(b.cost, b.given, b.node, b.takes, b.taken);
        };
        std::sort(trades_.begin(), trades_.end(), cheaper);
    }

    void add(trade one, std::int64_t cost) {
        // What comes home is as good as free.
        one.cost = cost > 0 ? static_cast<std::uint64_t>(cost) : 0;
        trades_.push_back(one);
    }

    static constexpr std::uint64_t most_effort = 16384;
    static constexpr std::size_t most_trades = 64;
    static constexpr std::size_t most_exchanged = 256;  ///< items of a node, for all pairs to be considered
    static constexpr std::uint8_t tries_of_item = 6;

    phase_task const* task_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t effort_ = 0;
    std::uint64_t most_ = 0;  ///< what the ranks of a node may have together
    std::vector<std::uint32_t> of_nodes_;
    std::vector<std::uint32_t> homes_;  ///< the node of each item
    std::vector<node_items> nodes_;
    std::vector<trade> trades_;
    std::vector<std::uint8_t> tries_;  ///< of each item, how often it was offered
    std::vector<std::uint32_t> mine_;
    std::vector<std::uint32_t> theirs_;
    std::vector<std::uint32_t> mine_rank_of_;
    std::vector<std::uint32_t> theirs_rank_of_;
    std::vector<std::uint32_t> rank_of_;
    std::uint64_t busiest_ = 0;
    std::uint64_t between_nodes_ = 0;
    polisher polish_;
    stay_room space_;
    node_splitter splitter_;
};

}  // namespace evenkeel::detail
