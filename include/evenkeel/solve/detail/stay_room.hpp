// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/solve/detail/batch_seats.hpp>
#include <evenkeel/solve/detail/byte_bounds.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_search.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/rebalanced.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// What `rebalance` remembers from call to call: memory alone, no state.
struct stay_room {
    void reserve(std::size_t count, std::size_t rank_count, std::size_t nodes) {
        items.reserve(count, nodes);
        staying.reserve(count, rank_count, nodes);
        seats.reserve(count, rank_count, nodes);
        scratch.reserve(count, rank_count);
        scratch.weights.reserve(count);
        scratch.result.plan.items.reserve(count);
        scratch.result.plan.offsets.reserve(rank_count + 1);
        bounds.reserve(count, rank_count, nodes);
        rank_of.reserve(count);
        near.reserve(count);
        movers.reserve(count);
        rank_of_item.reserve(count);
        rooms.reserve(rank_count);
    }

    // What a task refers to, where the caller does not have it in this form.
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> home_ranks;
    std::vector<std::uint32_t> home_nodes;
    std::vector<std::uint32_t> nodes_of_ranks;

    stay_items items;
    node_ranks ranks;
    stay_search staying;
    buffers scratch;  ///< for balancing without regard to homes
    batch_seats seats;
    byte_bounds bounds;
    std::vector<std::uint32_t> rank_of;       ///< of each item, in a plan made without regard to homes
    std::vector<std::uint32_t> near;          ///< the same, for the best plan so far
    std::vector<std::uint32_t> rank_of_item;  ///< the same, in the end
    std::vector<std::uint32_t> movers;        ///< the items that are elsewhere
    std::vector<std::uint64_t> rooms;         ///< what each rank may have
    rebalanced result;
};

}  // namespace evenkeel::detail
