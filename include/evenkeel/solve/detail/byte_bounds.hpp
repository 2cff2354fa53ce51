// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/least_cover.hpp>
#include <evenkeel/solve/detail/packing_cover.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// What must leave its home, in bytes, if no rank may have more than some load.
///
/// A home with more than its ranks may have, loses at least the difference: the items that are cheapest per weight, the
/// last one cut to measure (G. B. Dantzig 1957). Different homes lose different items, so their losses add up. Where a
/// plan moves clearly more than that between nodes, nodes are asked what really can leave: some items as they are
/// (`least_cover`), and no more stays than the ranks hold without cutting (`packing_cover`).
class byte_bounds {
  public:
    struct bounds {
        std::uint64_t moved = 0;
        std::uint64_t between_nodes = 0;
    };

    void reserve(std::size_t items, std::size_t ranks, std::size_t nodes) {
        order_.reserve(items);
        of_ranks_.reserve(ranks);
        of_nodes_.reserve(nodes);
        costs_.reserve(nodes);
        offsets_.reserve(nodes + 1);
        by_node_.reserve(items);
        weights_.reserve(items);
        least_.reserve();
        packing_.reserve(items);
    }

    /// @param home_loads  Of each rank, in units.
    /// @param rooms       What each rank may have, in units.
    /// @param between     Bytes that a plan moves between nodes: what there is to explain.
    bounds operator()(stay_items const& items, node_ranks const& ranks, std::span<std::uint64_t const> home_loads,
                      std::span<std::uint64_t const> rooms, std::uint64_t between) {
        of_ranks_.assign(home_loads.begin(), home_loads.end());
        of_nodes_.assign(ranks.nodes(), 0);
        for (std::size_t node = 0; node < ranks.nodes(); ++node) {
            for (auto const rank : ranks[node]) {
                of_nodes_[node] += home_loads[rank];
            }
        }
        auto const homeless = items.at_home.some_homeless ? items.order() : std::span<std::uint32_t const>{};
        for (auto const item : homeless) {
            of_nodes_[items.home_node(item)] += items.home_rank(item) == no_rank ? items.weight(item) : 0;
        }
        for (std::size_t rank = 0; rank < of_ranks_.size(); ++rank) {
            of_ranks_[rank] -= std::min(of_ranks_[rank], rooms[rank]);
        }
        for (std::size_t node = 0; node < of_nodes_.size(); ++node) {
            for (auto const rank : ranks[node]) {
                of_nodes_[node] -= std::min(of_nodes_[node], rooms[rank]);
            }
        }
        std::uint64_t const cost = items.proportional ? items.bytes_per_unit : 1;
        bounds result;
        if (items.proportional) {
            result.moved = cost * std::accumulate(of_ranks_.begin(), of_ranks_.end(), std::uint64_t{0});
            costs_.assign(of_nodes_.begin(), of_nodes_.end());
        } else {
            costs_.assign(of_nodes_.size(), 0);
            take_cheapest(items, result);
        }
        std::uint64_t all = std::accumulate(costs_.begin(), costs_.end(), std::uint64_t{0});
        if (cost > 0 && between / cost > all + all / 50) {
            all = ask_nodes(items, ranks, rooms);
        }
        result.between_nodes = cost * all;
        for (auto const item : homeless) {
            result.moved += items.home_rank(item) == no_rank ? items.bytes_of(item) : 0;
        }
        // Whatever leaves its node leaves its rank.
        result.moved = std::max(result.moved, result.between_nodes);
        return result;
    }

  private:
    void take_cheapest(stay_items const& items, bounds& result) {
        order_.assign(items.order().begin(), items.order().end());
        if (!items.heavier_is_cheaper) {
            std::sort(order_.begin(), order_.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return items.costs_less(a, b); });
        }
        for (auto const item : order_) {
            std::uint32_t const node = items.home_node(item);
            costs_[node] += take(of_nodes_[node], items, item);
            if (items.home_rank(item) != no_rank) {
                result.moved += take(of_ranks_[items.home_rank(item)], items, item);
            }
        }
    }

    /// The bytes that go with what `need` takes of an item.
    [[nodiscard]] static std::uint64_t take(std::uint64_t& need, stay_items const& items, std::uint32_t item) {
        __extension__ typedef unsigned __int128 wide;
        std::uint64_t const weight = items.weight(item);
        std::uint64_t const part = std::min(need, weight);
        need -= part;
        return static_cast<std::uint64_t>(static_cast<wide>(items.bytes_of(item)) * part / weight);
    }

    /// Raises what nodes lose, and adds it up.
    std::uint64_t ask_nodes(stay_items const& items, node_ranks const& ranks, std::span<std::uint64_t const> rooms) {
        constexpr std::size_t few_per_rank = 16;
        step_budget steps{1024 * std::max<std::uint64_t>(1024, items.size())};
        list_by_node(items, ranks.nodes());
        std::uint64_t all = 0;
        for (std::size_t node = 0; node < ranks.nodes(); ++node) {
            auto const own = std::span{by_node_}.subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
            if (items.proportional && costs_[node] > 0 && ranks.size(node) > 0) {
                weights_.clear();
                for (auto const& item : own) {
                    weights_.push_back(item.weight);
                }
                costs_[node] = least_(weights_, costs_[node], steps);
            }
            if (own.size() <= few_per_rank * ranks.size(node)) {
                std::uint64_t most = 0;
                for (auto const rank : ranks[node]) {
                    most = std::max(most, rooms[rank]);
                }
                costs_[node] = std::max(costs_[node], packing_(own, ranks.size(node), most, steps));
            }
            all += costs_[node];
        }
        return all;
    }

    void list_by_node(stay_items const& items, std::size_t nodes) {
        offsets_.assign(nodes + 1, 0);
        for (auto const item : items.order()) {
            ++offsets_[items.home_node(item) + 1];
        }
        std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
        by_node_.resize(items.size());
        for (auto const item : items.order()) {
            by_node_[offsets_[items.home_node(item)]++] = {items.weight(item), items.cost_of(item), item};
        }
        for (std::size_t node = nodes; node > 0; --node) {
            offsets_[node] = offsets_[node - 1];
        }
        offsets_[0] = 0;
    }

    std::vector<std::uint32_t> order_;
    std::vector<std::uint64_t> of_ranks_;  ///< what each has too much
    std::vector<std::uint64_t> of_nodes_;
    std::vector<std::uint64_t> costs_;  ///< what each node loses: weight where that may stand for bytes
    std::vector<std::size_t> offsets_;
    std::vector<export_item> by_node_;  ///< heaviest first in each node
    std::vector<std::uint64_t> weights_;
    least_cover least_;
    packing_cover packing_;
};

}  // namespace evenkeel::detail
