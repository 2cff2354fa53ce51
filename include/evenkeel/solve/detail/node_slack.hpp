// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <evenkeel/solve/detail/stay_state.hpp>

namespace evenkeel::detail {

/// What a node has to spare on average, if no rank has more than `target`: no more than a few parts in a thousand,
/// however much there is.
[[nodiscard]] inline std::uint64_t slack_of_node(stay_state const& state, std::uint64_t target) noexcept {
    __extension__ typedef unsigned __int128 wide;
    auto const ballast = state.ballast();
    wide const room = static_cast<wide>(target) * state.ranks().ranks.size();
    wide const load = std::accumulate(ballast.begin(), ballast.end(), static_cast<wide>(state.items().total()));
    return static_cast<std::uint64_t>(std::min(room - std::min(room, load), room / 400) / state.ranks().nodes());
}

struct node_excess {
    std::uint64_t weight = 0;
    std::uint64_t nodes = 0;
};

/// What nodes have above what their ranks may have, and how many nodes these are.
[[nodiscard]] inline node_excess excess_over(stay_state const& state, std::uint64_t target) noexcept {
    node_excess result;
    for (std::size_t node = 0; node < state.ranks().nodes(); ++node) {
        std::uint64_t const whole = state.room_for(node, target);
        std::uint64_t const load = state.nodes().load(node);
        result.weight += load - std::min(load, whole);
        result.nodes += load > whole ? 1U : 0U;
    }
    return result;
}

}  // namespace evenkeel::detail
