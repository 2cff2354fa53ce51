// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/ids.hpp>

#include "hops.hpp"

namespace evenkeel::comm {

/// The ranks that take part in a hop, as a communicator of their own.
struct circle {
    std::unique_ptr<communicator> ranks;
    std::vector<world_rank> members;  ///< as world ranks, ascending

    [[nodiscard]] world_rank inside(world_rank rank) const {
        return to_id<world_rank>(static_cast<std::size_t>(std::ranges::lower_bound(members, rank) - members.begin()));
    }

    /// With peers as ranks of the circle.
    [[nodiscard]] hop inside(hop of_world) const {
        for (auto& message : of_world.sends) {
            message.peer = inside(message.peer);
        }
        for (auto& message : of_world.receives) {
            message.peer = inside(message.peer);
        }
        return of_world;
    }
};

}  // namespace evenkeel::comm
