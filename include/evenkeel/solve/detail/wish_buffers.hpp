// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/solve/detail/limit_fit.hpp>
#include <evenkeel/solve/detail/roomiest_first.hpp>
#include <evenkeel/solve/detail/wish_bounds.hpp>
#include <evenkeel/solve/detail/wish_input.hpp>
#include <evenkeel/solve/detail/wish_search.hpp>

namespace evenkeel::detail {

/// What planning with wishes remembers from call to call: memory alone, no state.
struct wish_buffers {
    void reserve(std::size_t items, std::size_t ranks) {
        weights.reserve(items);
        input.reserve(items, ranks);
        bounds.reserve(items);
        start.reserve(ranks);
        searching.reserve(items, ranks);
        capacities.reserve(ranks);
        held.reserve(ranks);
        rank_of.reserve(items);
        fitting.reserve(ranks);
        order.reserve(2 * ranks);
        idle_counts.reserve(ranks);
    }

    std::vector<std::uint64_t> weights;  ///< what a plan without wishes uses up
    wish_input input;
    wish_bounds bounds;
    roomiest_first start;
    wish_search searching;
    limit_fit fitting;
    std::vector<std::uint64_t> capacities;
    std::vector<holding> held;
    std::vector<std::uint32_t> rank_of;  ///< of the bundles
    std::vector<std::uint32_t> order;
    std::vector<std::size_t> idle_counts;
};

}  // namespace evenkeel::detail
