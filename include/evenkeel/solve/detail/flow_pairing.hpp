// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/node_flows.hpp>

namespace evenkeel::detail {

/// What the nodes have, and what their ranks are to have.
struct node_totals {
    std::vector<std::uint64_t> loads;  ///< of each node
    std::vector<std::uint64_t> sizes;  ///< of each node: its ranks
    std::uint64_t total = 0;
    std::uint64_t target = 0;  ///< of a rank, at most
    std::uint64_t unit = 1;    ///< every load is a multiple of it

    /// What the ranks of a node may have together. What does not fit into 64 bits is room for everything.
    [[nodiscard]] std::uint64_t room(std::size_t node) const noexcept {
        std::uint64_t room = 0;
        return __builtin_mul_overflow(target, sizes[node], &room) ? total : std::min(room, total);
    }
};

/// How much less than its room each node that gives or takes is to have: what is kept back in the nodes makes it easy
/// to even out their ranks, and costs a percent more bytes, at most.
[[nodiscard]] inline std::uint64_t flow_margin(node_totals const& nodes, std::size_t ranks) {
    std::uint64_t const above_mean = nodes.target - std::min(nodes.target, nodes.total / ranks);
    std::uint64_t const slack_of_rank = above_mean - std::min<std::uint64_t>(above_mean, 1);
    std::uint64_t excess_of_all = 0;
    std::uint64_t nodes_above = 0;
    std::uint64_t slack = 0;
    for (std::size_t node = 0; node < nodes.loads.size(); ++node) {
        std::uint64_t const room = nodes.room(node);
        excess_of_all += nodes.loads[node] - std::min(nodes.loads[node], room);
        nodes_above += nodes.loads[node] > room ? 1U : 0U;
        std::uint64_t slack_of_node = 0;
        if (__builtin_mul_overflow(slack_of_rank, nodes.sizes[node], &slack_of_node)) {
            slack_of_node = nodes.total;
        }
        slack = std::max(slack, slack_of_node);
    }
    std::uint64_t const margin = std::min(slack / 2, excess_of_all / 150 / std::max<std::uint64_t>(1, nodes_above));
    return margin - margin % nodes.unit;
}

/// Which nodes have too much and which have room, and who gives to whom.
class flow_pairing {
  public:
    /// Divides the nodes, where each keeps `margin` back. Returns whether there is room for all that is too much.
    bool divide(node_totals const& nodes, std::uint64_t margin) {
        over_.clear();
        rooms_.clear();
        spare_ = 0;
        for (std::uint32_t node = 0; node < nodes.loads.size(); ++node) {
            std::uint64_t const load = nodes.loads[node];
            std::uint64_t const whole = nodes.room(node);
            std::uint64_t const room = whole - std::min(whole, margin);
            if (load > whole) {
                over_.push_back({load - room, node});
            } else if (load < room) {
                rooms_.push_back({room - load, node});
                // What does not fit into 64 bits is more than is shared out in any case.
                spare_ += std::min(room - load, std::numeric_limits<std::uint64_t>::max() - spare_);
            }
        }
        bool enough = true;
        for (auto const& [excess, node] : over_) {
            enough = enough && excess <= spare_;
            spare_ -= std::min(spare_, excess);
        }
        return enough;
    }

    /// Lets the node with most too much give to the one with most room, and so on.
    [[nodiscard]] std::vector<node_flow> pair(std::uint64_t unit) {
        auto const less_room = [](entry const& a, entry const& b) {
            return a.weight < b.weight || (a.weight == b.weight && a.node > b.node);
        };
        std::ranges::sort(over_, [&](entry const& a, entry const& b) { return less_room(b, a); });
        std::ranges::make_heap(rooms_, less_room);
        std::uint64_t share = spare_ / (over_.size() + rooms_.size() + 1);
        share -= share % unit;
        std::vector<node_flow> flows;
        for (auto& [excess, node] : over_) {
            while (excess > 0 && !rooms_.empty()) {
                std::ranges::pop_heap(rooms_, less_room);
                auto& [room, receiver] = rooms_.back();
                std::uint64_t const weight = std::min(excess, room);
                flows.push_back({node_id{node}, node_id{receiver}, weight});
                excess -= weight;
                room -= weight;
                room -= std::min(room, share);
                if (room == 0) {
                    rooms_.pop_back();
                } else {
                    std::ranges::push_heap(rooms_, less_room);
                }
            }
        }
        std::ranges::sort(flows, [](node_flow const& a, node_flow const& b) {
            return a.from < b.from || (a.from == b.from && a.to < b.to);
        });
        return flows;
    }

  private:
    struct entry {
        std::uint64_t weight;
        std::uint32_t node;
    };
    std::vector<entry> over_;
    std::vector<entry> rooms_;
    /// What is given is hardly ever to measure, mostly by an item too many, however little is to be given. So what
    /// nobody needs is shared out among the flows, or a node that takes little from many would take too much.
    std::uint64_t spare_ = 0;
};

}  // namespace evenkeel::detail
