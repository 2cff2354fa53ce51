// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/solve/detail/bundle_homes.hpp>
#include <evenkeel/solve/detail/node_wishes.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/wish_bounds.hpp>
#include <evenkeel/solve/detail/wish_homing.hpp>
#include <evenkeel/solve/detail/wish_input.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/detail/wish_search.hpp>

namespace evenkeel::detail {

/// What `rebalance` with wishes remembers beside `stay_room`: memory alone, no state.
struct wish_stay_room {
    void reserve(std::size_t items, std::size_t ranks, std::size_t nodes) {
        input.reserve(items, ranks);
        sorting.reserve(items);
        bounds.reserve(items);
        searching.reserve(items, ranks);
        homes.reserve(items);
        nodes_first.reserve(items, ranks, nodes);
        homing.reserve(items);
        held.reserve(ranks);
        rank_of.reserve(items);
        other_rank_of.reserve(items);
        ballast.reserve(ranks);
    }

    wish_input input;
    sorted_items sorting;
    wish_bounds bounds;
    wish_search searching;
    bundle_homes homes;
    node_wishes nodes_first;
    wish_homing homing;
    std::vector<holding> held;
    std::vector<std::uint32_t> rank_of;        ///< of the bundles
    std::vector<std::uint32_t> other_rank_of;  ///< the same in another plan
    std::vector<std::uint64_t> ballast;
};

}  // namespace evenkeel::detail
