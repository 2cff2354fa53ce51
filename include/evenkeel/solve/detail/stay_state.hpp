// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// Where the items are while a search moves them: which node has which items, and which of its ranks.
class stay_state {
  public:
    void reserve(std::size_t items, std::size_t ranks, std::size_t nodes) {
        nodes_.reserve(items, nodes);
        rank_of_.reserve(items);
        rank_loads_.reserve(ranks);
        node_of_rank_.reserve(ranks);
        ballast_of_nodes_.reserve(nodes);
    }

    /// Says what each rank has besides its items and cannot give away, or nothing at all. Valid until it is said anew.
    void carry(std::span<std::uint64_t const> ballast) noexcept { ballast_ = ballast; }

    /// Puts everything at home. An item whose home is no rank goes to the lightest rank of its node, if that has any.
    void go_home(stay_items const& items, node_ranks const& ranks) {
        start(items, ranks);
        nodes_.reset(items.sorted.weights, items.home_node, items.node_sums);
        rank_of_.assign(items.home_rank.begin(), items.home_rank.end());
        for (std::size_t rank = 0; rank < rank_loads_.size(); ++rank) {
            rank_loads_[rank] += items.home_loads[rank];
        }
        for (std::size_t item = 0; item < items.size() && items.some_homeless; ++item) {
            if (rank_of_[item] == no_rank) {
                seat(static_cast<std::uint32_t>(item), lightest_rank(items.home_node[item]));
            }
        }
    }

    /// Takes up another placement of all items on ranks.
    void take_up(stay_items const& items, node_ranks const& ranks, std::span<std::uint32_t const> rank_of,
                 std::vector<std::uint32_t>& spare) {
        start(items, ranks);
        rank_of_.assign(rank_of.begin(), rank_of.end());
        spare.resize(items.size());
        for (std::size_t item = 0; item < items.size(); ++item) {
            rank_loads_[rank_of[item]] += items.weight(item);
            spare[item] = node_of_rank_[rank_of[item]];
            cost_ += spare[item] == items.home_node[item] ? 0 : items_->cost_of(item);
        }
        nodes_.reset(items.sorted.weights, spare, ranks.nodes());
    }

    [[nodiscard]] stay_items const& items() const noexcept { return *items_; }
    [[nodiscard]] node_ranks const& ranks() const noexcept { return *ranks_; }
    [[nodiscard]] placement const& nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t item) const noexcept { return rank_of_[item]; }
    [[nodiscard]] std::span<std::uint32_t const> ranks_of() const noexcept { return rank_of_; }
    [[nodiscard]] std::uint64_t rank_load(std::uint32_t rank) const noexcept { return rank_loads_[rank]; }
    [[nodiscard]] std::uint32_t node_of_rank(std::uint32_t rank) const noexcept { return node_of_rank_[rank]; }
    [[nodiscard]] std::span<std::uint64_t const> ballast() const noexcept { return ballast_; }

    /// What the items of a node may come to, if no rank may have more than `target`.
    [[nodiscard]] std::uint64_t room_for(std::size_t node, std::uint64_t target) const noexcept {
        std::uint64_t room = 0;
        // What does not fit into 64 bits is room for everything.
        bool const plenty = __builtin_mul_overflow(target, ranks_->size(node), &room);
        return (plenty ? std::numeric_limits<std::uint64_t>::max() : room) -
               (ballast_.empty() ? 0 : ballast_of_nodes_[node]);
    }

    /// What a node has to spare on average, if no rank has more than `target`: no more than a few parts in a thousand,
    /// however much there is.
    [[nodiscard]] std::uint64_t slack_of_node(std::uint64_t target) const noexcept {
        __extension__ typedef unsigned __int128 wide;
        wide const room = static_cast<wide>(target) * ranks_->ranks.size();
        wide const load = std::accumulate(ballast_.begin(), ballast_.end(), static_cast<wide>(items_->sorted.total));
        return static_cast<std::uint64_t>(std::min(room - std::min(room, load), room / 400) / ranks_->nodes());
    }

    struct node_excess {
        std::uint64_t weight = 0;
        std::uint64_t nodes = 0;
    };

    /// What nodes have above what their ranks may have, and how many nodes these are.
    [[nodiscard]] node_excess excess_over(std::uint64_t target) const noexcept {
        node_excess result;
        for (std::uint32_t node = 0; node < ranks_->nodes(); ++node) {
            std::uint64_t const whole = room_for(node, target);
            std::uint64_t const load = nodes_.load(node);
            result.weight += load - std::min(load, whole);
            result.nodes += load > whole ? 1U : 0U;
        }
        return result;
    }

    [[nodiscard]] std::uint64_t busiest_load() const noexcept {
        return *std::max_element(rank_loads_.begin(), rank_loads_.end());
    }

    /// The rank on which an item would run in a node: its home, or the one with the least load.
    [[nodiscard]] std::uint32_t rank_in(std::uint32_t item, std::uint32_t node) const noexcept {
        std::uint32_t const home = items_->home_rank[item];
        return home != no_rank && items_->home_node[item] == node ? home : lightest_rank(node);
    }

    /// What the items that are away from their nodes cost: their weight if that may stand for bytes, else their bytes.
    [[nodiscard]] std::uint64_t cost_between_nodes() const noexcept { return cost_; }

    /// Moves an item to another node.
    void move(std::uint32_t item, std::uint32_t from, std::uint32_t to, std::uint32_t rank) {
        std::uint32_t const home = items_->home_node[item];
        cost_ += from == home ? items_->cost_of(item) : 0;
        cost_ -= to == home ? items_->cost_of(item) : 0;
        auto const held = nodes_.items(from);
        auto const place = std::lower_bound(held.begin(), held.end(), item);
        nodes_.remove(from, static_cast<std::size_t>(place - held.begin()));
        nodes_.insert(to, item, items_->weight(item));
        seat(item, rank);
    }

    /// Moves an item to another rank of its node.
    void seat(std::uint32_t item, std::uint32_t rank) noexcept { seat(item, items_->weight(item), rank); }

    /// The same for who knows what the item weighs.
    void seat(std::uint32_t item, std::uint64_t weight, std::uint32_t rank) noexcept {
        if (rank_of_[item] != no_rank) {
            rank_loads_[rank_of_[item]] -= weight;
        }
        if (rank != no_rank) {
            rank_loads_[rank] += weight;
        }
        rank_of_[item] = rank;
    }

  private:
    void start(stay_items const& items, node_ranks const& ranks) {
        items_ = &items;
        ranks_ = &ranks;
        cost_ = 0;
        rank_loads_.assign(ranks.ranks.size(), 0);
        std::copy(ballast_.begin(), ballast_.end(), rank_loads_.begin());
        ballast_of_nodes_.assign(ballast_.empty() ? 0 : ranks.nodes(), 0);
        node_of_rank_.resize(ranks.ranks.size());
        for (std::uint32_t node = 0; node < ranks.nodes(); ++node) {
            for (auto const rank : ranks[node]) {
                node_of_rank_[rank] = node;
                if (!ballast_.empty()) {
                    ballast_of_nodes_[node] += ballast_[rank];
                }
            }
        }
    }

    [[nodiscard]] std::uint32_t lightest_rank(std::uint32_t node) const noexcept {
        std::uint32_t lightest = no_rank;
        for (auto const rank : (*ranks_)[node]) {
            if (lightest == no_rank || rank_loads_[rank] < rank_loads_[lightest]) {
                lightest = rank;
            }
        }
        return lightest;
    }

    stay_items const* items_ = nullptr;
    node_ranks const* ranks_ = nullptr;
    placement nodes_;
    std::uint64_t cost_ = 0;
    std::vector<std::uint32_t> rank_of_;
    std::vector<std::uint64_t> rank_loads_;
    std::vector<std::uint32_t> node_of_rank_;
    std::span<std::uint64_t const> ballast_;
    std::vector<std::uint64_t> ballast_of_nodes_;
};

}  // namespace evenkeel::detail
