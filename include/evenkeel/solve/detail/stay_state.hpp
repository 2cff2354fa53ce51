// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/departures.hpp>
#include <evenkeel/solve/detail/items_underway.hpp>
#include <evenkeel/solve/detail/list_items.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/rank_ballast.hpp>
#include <evenkeel/solve/detail/short_sorting.hpp>
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
        ballast_.reserve(nodes);
        sums_.reserve(std::max(ranks, nodes));
        underway_.reserve(items, nodes);
        departed_.reserve(items);
        is_complete_.reserve(nodes);
        rest_.reserve(short_sorting::most_items);
    }

    /// Says what each rank has besides its items and cannot give away, or nothing at all. Valid until it is said anew.
    void carry(std::span<std::uint64_t const> ballast) noexcept { ballast_.carry(ballast); }

    /// Puts everything at home. An item whose home is no rank goes to the lightest rank of its node, if that has any.
    void go_home(stay_items const& items, node_ranks const& ranks) {
        start(items, ranks, true);
        items.list_at_home(nodes_);
        rank_of_.assign(items.home_ranks().begin(), items.home_ranks().end());
        for (std::size_t rank = 0; rank < rank_loads_.size(); ++rank) {
            rank_loads_[rank] += items.at_home.loads[rank];
        }
        for (auto const item : items.at_home.some_homeless ? items.order() : std::span<std::uint32_t const>{}) {
            if (rank_of_[item] == no_rank) {
                seat(item, lightest_rank(items.home_node(item)));
            }
        }
    }

    /// Takes up another placement on ranks of all items that weigh something.
    void take_up(stay_items const& items, node_ranks const& ranks, std::span<std::uint32_t const> rank_of) {
        start(items, ranks, false);
        rank_of_.assign(rank_of.begin(), rank_of.end());
        for (auto const item : items.order()) {
            rank_loads_[rank_of[item]] += items.weight(item);
            cost_ += ranks_->node_of[rank_of[item]] == items.home_node(item) ? 0 : items.cost_of(item);
        }
        list_items(items, ranks.nodes(), sums_, nodes_,
                   [&](std::uint32_t item) { return ranks_->node_of[rank_of[item]]; });
    }

    /// Lists what each rank has, with what else it carries.
    void list_ranks(placement& lists) {
        list_items(*items_, ranks_->ranks.size(), sums_, lists, [&](std::uint32_t item) { return rank_of_[item]; });
        for (std::size_t rank = 0; rank < ballast().size(); ++rank) {
            lists.add_load(rank, ballast()[rank]);
        }
    }

    /// Whether everything that weighs something is on a rank.
    [[nodiscard]] bool all_have_ranks() const noexcept {
        return !items_->at_home.some_homeless ||
               std::ranges::all_of(items_->order(), [&](std::uint32_t item) { return rank_of_[item] != no_rank; });
    }

    [[nodiscard]] stay_items const& items() const noexcept { return *items_; }
    [[nodiscard]] node_ranks const& ranks() const noexcept { return *ranks_; }
    /// Their lists lack what has been sent and not been unpacked, and what is of later classes of those that are not
    /// complete.
    [[nodiscard]] placement const& nodes() const noexcept { return nodes_; }
    [[nodiscard]] bool is_complete(std::uint32_t node) const noexcept { return is_complete_[node] != 0; }
    /// Lists what a node has of later classes, too. Until then all of that is at home.
    void complete(std::uint32_t node) {
        if (!is_complete(node)) {
            is_complete_[node] = 1;
            items_->class_0()->list_others(node, rest_);
            nodes_.insert_falling(node, std::span<items_underway::arrival const>{rest_});
        }
    }
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t item) const noexcept { return rank_of_[item]; }
    [[nodiscard]] std::span<std::uint32_t const> ranks_of() const noexcept { return rank_of_; }
    /// The same, for good; the memory given in exchange holds as much.
    void give_up_ranks(std::vector<std::uint32_t>& ranks_of) {
        ranks_of.reserve(rank_of_.capacity());
        rank_of_.reserve(ranks_of.capacity());
        ranks_of.swap(rank_of_);
    }
    [[nodiscard]] std::uint64_t rank_load(std::uint32_t rank) const noexcept { return rank_loads_[rank]; }
    [[nodiscard]] std::uint32_t node_of_rank(std::uint32_t rank) const noexcept { return ranks_->node_of[rank]; }
    [[nodiscard]] std::span<std::uint64_t const> ballast() const noexcept { return ballast_.of_ranks(); }

    /// What the items of a node may come to, if no rank may have more than `target`.
    [[nodiscard]] std::uint64_t room_for(std::size_t node, std::uint64_t target) const noexcept {
        return ballast_.room_beside(node, ranks_->size(node), target);
    }

    [[nodiscard]] std::uint64_t busiest_load() const noexcept {
        return *std::max_element(rank_loads_.begin(), rank_loads_.end());
    }

    /// The rank on which an item would run in a node: its home, or the one with the least load.
    [[nodiscard]] std::uint32_t rank_in(std::uint32_t item, std::uint32_t node) const noexcept {
        std::uint32_t const home = items_->home_rank(item);
        return home != no_rank && ranks_->node_of[home] == node ? home : lightest_rank(node);
    }

    /// What has left its node.
    [[nodiscard]] departures const& departed() const noexcept { return departed_; }

    /// What the items that are away from their nodes cost: their weight if that may stand for bytes, else their bytes.
    [[nodiscard]] std::uint64_t cost_between_nodes() const noexcept { return cost_; }

    /// Moves an item to another node; the steps that takes, of which lists that move up are most where they are long.
    std::uint64_t move(std::uint32_t item, std::uint32_t from, std::uint32_t to, std::uint32_t rank) {
        std::uint64_t const unpacking = unpack(from) + unpack(to);
        std::uint64_t const weight = items_->weight(item);
        count_leaving(item, weight, from, to);
        nodes_.remove(from, nodes_.position_of(from, item, weight));
        seat(item, weight, rank);
        nodes_.insert(to, item, weight);
        return unpacking + 16 + (nodes_.items(from).size() + nodes_.items(to).size()) / 8;
    }

    /// Counts what is going to be sent to a node as part of its load, and no longer.
    void promise(std::uint64_t weight, std::uint32_t to) noexcept { nodes_.add_load(to, weight); }
    void withdraw(std::uint64_t weight, std::uint32_t to) noexcept { nodes_.take_load(to, weight); }

    /// Moves items, in the order of their list, to nodes to which they have been promised. Those do not list them before
    /// they are unpacked: many items that come from everywhere are then put in their places together.
    void send(std::uint32_t from, std::span<parcel const> parcels) {
        for (auto const& [item, weight, to] : parcels) {
            count_leaving(item, weight, from, to);
        }
        nodes_.remove(from, parcels);
        for (auto const& [item, weight, to] : parcels) {
            if (underway_.is_full()) {
                unpack_all();
            }
            seat(item, weight, rank_in(item, to));
            underway_.send(item, weight, to);
        }
    }

    /// Has what is known of an item brought near before it is sent.
    void fetch_ahead(std::uint32_t item) const noexcept {
        __builtin_prefetch(rank_of_.data() + item, 1);
        __builtin_prefetch(items_->home_ranks().data() + item);
    }

    /// Lists what has been sent to a node; the steps that takes.
    std::uint64_t unpack(std::uint32_t node) {
        auto const arrivals = underway_.receive(node);
        if (arrivals.empty()) {
            return 0;
        }
        nodes_.insert(node, arrivals);
        return nodes_.items(node).size() + arrivals.size() * static_cast<std::size_t>(std::bit_width(arrivals.size()));
    }

    void unpack_all() {
        for (std::uint32_t node = 0; node < ranks_->nodes() && !underway_.empty(); ++node) {
            unpack(node);
        }
        underway_.clear(ranks_->nodes());
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
    void count_leaving(std::uint32_t item, std::uint64_t weight, std::uint32_t from, std::uint32_t to) {
        std::uint32_t const home = items_->home_node(item);
        std::uint64_t const cost = items_->proportional ? weight : items_->cost_of(item);
        cost_ += from == home ? cost : 0;
        cost_ -= to == home ? cost : 0;
        departed_.add(item);
        if (items_->class_of(item) != 0) {
            complete(from);
        }
    }

    void start(stay_items const& items, node_ranks const& ranks, bool at_home) {
        items_ = &items;
        ranks_ = &ranks;
        cost_ = 0;
        rank_loads_.assign(ranks.ranks.size(), 0);
        std::ranges::copy(ballast(), rank_loads_.begin());
        ballast_.add_up(ranks);
        underway_.clear(ranks.nodes());
        departed_.start(items.batch(), at_home);
        is_complete_.assign(ranks.nodes(), at_home && items.class_0() != nullptr ? 0 : 1);
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
    rank_ballast ballast_;
    std::vector<placement::summary> sums_;
    std::vector<std::uint8_t> is_complete_;  ///< each node's list
    std::vector<items_underway::arrival> rest_;
    items_underway underway_;  ///< from node to node
    departures departed_;
};

}  // namespace evenkeel::detail
