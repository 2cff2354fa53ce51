// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/orchestrate/detail/parcels.hpp>

namespace evenkeel::detail {

/// What a node has, and how its items are split over its ranks.
struct parcel_node {
    std::vector<std::uint32_t> parcels;
    std::vector<std::uint32_t> items;
    std::vector<std::uint32_t> rank_of;  ///< of each of these, among the ranks of the node
    std::uint64_t load = 0;
    bool is_even = false;
};

/// A parcel to give away, and perhaps one to take for it.
struct node_trade {
    std::uint64_t cost = 0;
    std::uint32_t given = 0;
    std::uint32_t node = 0;
    std::uint32_t taken = 0;
    bool takes = false;
};

/// Lists what a node can trade with others that are even, the cheapest first.
///
/// What weighs nothing makes no room: given away it would only dress up as an exchange that a node takes on more, which
/// the search for a split may by chance do better with.
class node_trades {
  public:
    /// @param most  What a node may have.
    /// @return      Valid until the next use.
    std::vector<node_trade> const& operator()(parcels const& parcels, std::span<parcel_node const> nodes,
                                              std::uint32_t node, std::uint64_t most) {
        trades_.clear();
        auto const& mine = nodes[node];
        for (auto const given : mine.parcels) {
            if (parcels.weight(given) == 0) {
                continue;
            }
            for (std::uint32_t other = 0; other < nodes.size(); ++other) {
                auto const& theirs = nodes[other];
                if (other == node || !theirs.is_even) {
                    continue;
                }
                std::uint64_t const weight = parcels.weight(given);
                auto const gone = parcels.cost(given, node, other);
                if (theirs.load + weight <= most) {
                    add({.given = given, .node = other}, gone);
                }
                if (mine.parcels.size() > most_exchanged || theirs.parcels.size() > most_exchanged) {
                    continue;
                }
                for (auto const taken : theirs.parcels) {
                    std::uint64_t const back = parcels.weight(taken);
                    if (back > 0 && theirs.load + weight - back <= most && mine.load + back - weight <= most) {
                        add({.given = given, .node = other, .taken = taken, .takes = true},
                            gone + parcels.cost(taken, other, node));
                    }
                }
            }
        }
        auto const cheaper = [](node_trade const& a, node_trade const& b) {
            return std::tie(a.cost, a.given, a.node, a.takes, a.taken) <
                   std::tie(b.cost, b.given, b.node, b.takes, b.taken);
        };
        std::sort(trades_.begin(), trades_.end(), cheaper);
        return trades_;
    }

  private:
    static constexpr std::size_t most_exchanged = 256;  ///< parcels of a node, for all pairs to be considered

    void add(node_trade one, std::int64_t cost) {
        // What comes home is as good as free.
        one.cost = cost > 0 ? static_cast<std::uint64_t>(cost) : 0;
        trades_.push_back(one);
    }

    std::vector<node_trade> trades_;
};

}  // namespace evenkeel::detail
