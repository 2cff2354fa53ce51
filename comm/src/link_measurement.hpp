// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/comm/deadline.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/rearrange/links.hpp>
#include <evenkeel/rearrange/node_members.hpp>

#include "circle.hpp"
#include "hops.hpp"

namespace evenkeel::comm {

/// Times what the links take, for `hierarchy::measure`. Every rank of the world makes one, with the same bytes, and
/// calls it; what comes out is the same on all.
class link_measurement {
  public:
    /// @param bytes  Of the messages that are timed.
    link_measurement(circle const& all, circle const& node, circle const& rail, node_members const& nodes,
                     deadline until, std::size_t bytes);

    /// @param known  Stays where there is nothing to measure, as inside nodes of one rank.
    [[nodiscard]] link_costs operator()(link_costs known);

  private:
    /// What exchanges without a byte take: that ranks wait for each other.
    void time_empty_exchanges();
    void measure_inside(link_costs& found);
    void reckon_latency_between(link_costs& found) const;
    void measure_between(link_costs& found);
    [[nodiscard]] std::uint64_t crowding_percent();

    /// How long calls in a row take each, as a trainer's are, on the slowest rank.
    template <class Call>
    [[nodiscard]] std::uint64_t time_once(Call const& call, int times);
    /// How long it takes to send to one rank and to receive from another, at best; only some take part.
    [[nodiscard]] std::uint64_t time_ring(circle const& around, bool takes_part, world_rank to, world_rank from);

    /// The rank on this one's rail that is so many nodes further on.
    [[nodiscard]] world_rank neighbour(std::size_t steps) const;
    [[nodiscard]] world_rank next() const { return neighbour(1); }
    [[nodiscard]] world_rank last() const { return neighbour(occupied_.size() - 1); }
    [[nodiscard]] bool on_ring() const { return nodes_.position_of(self_) < nodes_.rails(); }
    [[nodiscard]] std::size_t others() const { return all_.members.size() - largest_; }

    circle const& all_;
    circle const& node_;
    circle const& rail_;
    node_members const& nodes_;
    deadline until_;
    std::vector<std::byte> out_;
    std::vector<std::byte> in_;
    world_rank self_;
    std::size_t largest_ = 0;            ///< ranks of a node
    std::vector<std::size_t> occupied_;  ///< the nodes that have ranks
    std::size_t here_ = 0;               ///< this rank's among them

    std::uint64_t empty_inside_ = 0;
    std::uint64_t empty_rail_ = 0;
    std::uint64_t empty_all_ = 0;
};

}  // namespace evenkeel::comm
