// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// What must leave its home, in bytes, if no rank may have more than some load.
///
/// A home with more than its ranks may have, loses at least the difference: the items that are cheapest per weight, the
/// last one cut to measure (G. B. Dantzig 1957). Different homes lose different items, so their losses add up.
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
    }

    /// @param home_loads  Of each rank, in units.
    /// @param load        What no rank may exceed, in units.
    bounds operator()(stay_items const& items, node_ranks const& ranks, std::span<std::uint64_t const> home_loads,
                      std::uint64_t load) {
        of_ranks_.assign(home_loads.begin(), home_loads.end());
        of_nodes_.assign(ranks.nodes(), 0);
        for (std::size_t node = 0; node < ranks.nodes(); ++node) {
            for (auto const rank : ranks[node]) {
                of_nodes_[node] += home_loads[rank];
            }
        }
        for (std::size_t item = 0; item < items.size() && items.some_homeless; ++item) {
            of_nodes_[items.home_node[item]] += items.home_rank[item] == no_rank ? items.weight(item) : 0;
        }
        for (auto& need : of_ranks_) {
            need -= std::min(need, load);
        }
        for (std::size_t node = 0; node < of_nodes_.size(); ++node) {
            // Loads add up to no more than 64 bits, so a product that does not fit is room for everything.
            std::uint64_t room = 0;
            bool const plenty = __builtin_mul_overflow(load, ranks.size(node), &room);
            of_nodes_[node] -= plenty ? of_nodes_[node] : std::min(of_nodes_[node], room);
        }
        bounds result;
        if (items.proportional) {
            std::uint64_t const cost = items.bytes_per_unit;
            result.moved = cost * std::accumulate(of_ranks_.begin(), of_ranks_.end(), std::uint64_t{0});
            result.between_nodes = cost * std::accumulate(of_nodes_.begin(), of_nodes_.end(), std::uint64_t{0});
        } else {
            take_cheapest(items, result);
        }
        for (std::size_t item = 0; item < items.size() && items.some_homeless; ++item) {
            result.moved += items.home_rank[item] == no_rank ? items.bytes_of(item) : 0;
        }
        // Whatever leaves its node leaves its rank.
        result.moved = std::max(result.moved, result.between_nodes);
        return result;
    }

  private:
    void take_cheapest(stay_items const& items, bounds& result) {
        order_.resize(items.size());
        std::iota(order_.begin(), order_.end(), 0U);
        if (!items.heavier_is_cheaper) {
            std::sort(order_.begin(), order_.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return items.costs_less(a, b); });
        }
        for (auto const item : order_) {
            result.between_nodes += take(of_nodes_[items.home_node[item]], items, item);
            if (items.home_rank[item] != no_rank) {
                result.moved += take(of_ranks_[items.home_rank[item]], items, item);
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

    std::vector<std::uint32_t> order_;
    std::vector<std::uint64_t> of_ranks_;  ///< what each has too much
    std::vector<std::uint64_t> of_nodes_;
};

}  // namespace evenkeel::detail
