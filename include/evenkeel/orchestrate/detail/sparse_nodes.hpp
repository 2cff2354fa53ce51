// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/node_splits.hpp>
#include <evenkeel/orchestrate/detail/node_trades.hpp>
#include <evenkeel/orchestrate/detail/parcels.hpp>
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
/// is left to `polisher`. Where samples stay whole, they are exchanged instead of items.
class sparse_nodes {
  public:
    /// Nodes of different sizes are not tried.
    ///
    /// @param target  What no rank may exceed.
    /// @param kind    What leaves a node as a whole. Of samples, nodes have to have as much as each other already.
    /// @return        Whether no rank has more; `rank_of` and `between_nodes` then say how.
    bool operator()(phase_task const& task, group_view const& view, std::uint64_t target, std::uint64_t effort,
                    parcel_of kind = parcel_of::item) {
        size_ = view.on_node(0).size();
        for (std::size_t node = 0; node < view.nodes(); ++node) {
            if (view.on_node(node).size() != size_) {
                return false;
            }
        }
        task_ = &task;
        // Nodes have about as much as each other; which has a little more differs from step to step.
        usual_ = std::bit_ceil(2 * (task.size() / view.nodes() + 1));
        space_.reserve(task.size(), view.nodes(), view.nodes());
        splitter_.start(task, size_, target, std::min(effort, most_effort), usual_);
        effort_ = effort;
        if (view.nodes() == 1 || __builtin_mul_overflow(target, size_, &most_)) {
            return false;
        }
        homes_.resize(task.size());
        for (std::size_t item = 0; item < task.size(); ++item) {
            homes_[item] = view.nodes_of_ranks()[task.home_ranks[item]];
        }
        bool const together = kind == parcel_of::sample;
        if (!together && !level_nodes(view)) {
            return false;
        }
        parcels_.assign(task, homes_, kind);
        fill_nodes(together ? homes_ : space_.rank_of_item, view.nodes());
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            auto& of = nodes_[node];
            of.is_even =
                splitter_.stay(view.on_node(node), of.items, of.rank_of) || splitter_.split(of.items, of.rank_of);
        }
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (!nodes_[node].is_even && !relieve(node) && together) {
                return false;
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
    bool level_nodes(group_view const& view) {
        std::size_t const nodes = view.nodes();
        of_nodes_.resize(nodes);
        std::iota(of_nodes_.begin(), of_nodes_.end(), 0U);
        double total = 0;
        for (auto const weight : task_->weights) {
            total += static_cast<double>(weight);
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

    void fill_nodes(std::span<std::uint32_t const> node_of, std::size_t count) {
        nodes_.resize(count);
        mine_.reserve(usual_);
        theirs_.reserve(usual_);
        for (auto& node : nodes_) {
            node.parcels.reserve(usual_);
            node.items.reserve(usual_);
            node.rank_of.reserve(usual_);
            node.parcels.clear();
            node.items.clear();
            node.load = 0;
        }
        for_each_run(
            node_of.size(), [&](std::size_t item) { return node_of[item]; },
            [&](std::uint32_t node, std::size_t first, std::size_t last) {
                append_numbers(nodes_[node].items, first, last);
            });
        for_each_run(
            parcels_.size(), [&](std::size_t parcel) { return node_of[parcels_.first(parcel)]; },
            [&](std::uint32_t node, std::size_t first, std::size_t last) {
                append_numbers(nodes_[node].parcels, first, last);
                nodes_[node].load += parcels_.weight(first, last);
            });
    }

    /// Trades with other nodes, the cheapest first, until both can be split evenly.
    bool relieve(std::uint32_t node) {
        auto const& trades = trades_(parcels_, nodes_, node, most_);
        tries_.assign(parcels_.size(), {});
        for (std::size_t at = 0, tried = 0; at < trades.size() && tried < most_trades; ++at) {
            auto const& one = trades[at];
            auto& tries = one.takes ? tries_[one.given].exchanges : tries_[one.given].gifts;
            if (tries == tries_of_parcel) {
                continue;  // not the same parcel over and over
            }
            ++tries;
            ++tried;
            apply(node, one);
            bool const rest_is_even = splitter_.split(mine_, mine_rank_of_);
            if (!rest_is_even && !one.takes) {
                tries = tries_of_parcel;  // what is left without it is the same whoever takes it
            }
            if (rest_is_even && splitter_.split(theirs_, theirs_rank_of_)) {
                accept(nodes_[node], mine_, mine_rank_of_);
                accept(nodes_[one.node], theirs_, theirs_rank_of_);
                hand_over(one.given, nodes_[node], nodes_[one.node]);
                if (one.takes) {
                    hand_over(one.taken, nodes_[one.node], nodes_[node]);
                }
                return true;
            }
        }
        return false;
    }

    /// What the two nodes of a trade have after it.
    void apply(std::uint32_t node, node_trade const& one) {
        mine_.assign(nodes_[node].items.begin(), nodes_[node].items.end());
        theirs_.assign(nodes_[one.node].items.begin(), nodes_[one.node].items.end());
        parcels_.move(one.given, mine_, theirs_);
        if (one.takes) {
            parcels_.move(one.taken, theirs_, mine_);
        }
    }

    /// Copied, not swapped: memory that goes round would have to grow again in steps like those before.
    static void accept(parcel_node& node, std::span<std::uint32_t const> items,
                       std::span<std::uint32_t const> rank_of) {
        node.items.assign(items.begin(), items.end());
        node.rank_of.assign(rank_of.begin(), rank_of.end());
        node.is_even = true;
    }

    void hand_over(std::uint32_t parcel, parcel_node& from, parcel_node& to) const {
        std::erase(from.parcels, parcel);
        to.parcels.push_back(parcel);
        from.load -= parcels_.weight(parcel);
        to.load += parcels_.weight(parcel);
    }

    static constexpr std::uint64_t most_effort = 16384;
    static constexpr std::size_t most_trades = 64;
    static constexpr std::uint8_t tries_of_parcel = 6;

    /// How often a parcel was offered, for nothing and for another.
    struct parcel_tries {
        std::uint8_t gifts = 0;
        std::uint8_t exchanges = 0;
    };

    phase_task const* task_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t effort_ = 0;
    std::size_t usual_ = 0;   ///< items of a node that room is made for at once
    std::uint64_t most_ = 0;  ///< what the ranks of a node may have together
    std::vector<std::uint32_t> of_nodes_;
    std::vector<std::uint32_t> homes_;  ///< the node of each item
    parcels parcels_;
    std::vector<parcel_node> nodes_;
    node_trades trades_;
    std::vector<parcel_tries> tries_;
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
