// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <evenkeel/place/detail/auction.hpp>
#include <evenkeel/place/detail/busiest.hpp>
#include <evenkeel/place/detail/exact_assignment.hpp>
#include <evenkeel/place/detail/inside_nodes.hpp>
#include <evenkeel/place/detail/node_slots.hpp>
#include <evenkeel/place/detail/node_traffic.hpp>
#include <evenkeel/place/detail/seating.hpp>
#include <evenkeel/place/relabelled.hpp>

namespace evenkeel {

namespace detail {

/// What `relabel` remembers from call to call: memory alone, no state.
struct relabel_room {
    node_slots slots;
    node_traffic traffic;
    auction_room auction;
    assignment_room exact;
    busiest_room busiest;
    inside_room inside;
    seating seats;
    std::vector<std::uint32_t> batch_of;  ///< by rank
    relabelled result;
};

}  // namespace detail

/// The memory that `relabel` works in. From the second plan of the same shape on, it allocates nothing.
///
///     evenkeel::relabel_workspace space;                                              // lives as long as training
///     auto const& close = evenkeel::relabel(space, plan, home, cluster, bytes);       // valid until the next use
///
/// Results do not depend on what a workspace was used for before. It belongs to one thread at a time.
class relabel_workspace {
  public:
    /// For `relabel`.
    [[nodiscard]] detail::relabel_room& room() noexcept { return room_; }

  private:
    detail::relabel_room room_;
};

}  // namespace evenkeel
