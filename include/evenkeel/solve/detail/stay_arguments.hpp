// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/rebalanced.hpp>

namespace evenkeel::detail {

/// Refuses arguments of `rebalance` that do not belong together.
inline void require_arguments(std::size_t samples, layout const& home, topology const& topology,
                              rebalance_options const& options) {
    auto const one_each = [&](std::string_view argument, std::size_t size) {
        if (size != samples) {
            throw_invalid("rebalance", argument, size, "one for each of " + std::to_string(samples) + " samples");
        }
    };
    require_counts("rebalance", samples, {topology.size().value});
    one_each("home.size()", home.size());
    if (home.ranks != topology.size()) {
        throw_invalid("rebalance", "topology.size()", topology.size().value,
                      "the world of `home`, " + std::to_string(home.ranks.value) + " ranks");
    }
    if (topology.nodes() > topology.size().value) {
        throw_invalid("rebalance", "topology.nodes()", topology.nodes(),
                      "at most one node for each of " + std::to_string(topology.size().value) + " ranks");
    }
    if (!(options.tolerance >= 0)) {
        throw_invalid("rebalance", "options.tolerance", options.tolerance, "at least 0");
    }
    if (!options.bytes.empty()) {
        one_each("options.bytes.size()", options.bytes.size());
    }
    if (!options.classes.empty()) {
        one_each("options.classes.size()", options.classes.size());
    }
}

/// Writes down where each sample and each rank is, and refuses a home that does not exist.
inline void read_homes(layout const& home, topology const& topology, std::vector<std::uint32_t>& ranks,
                       std::vector<std::uint32_t>& nodes_of_ranks) {
    ranks.resize(home.size());
    std::uint32_t last = 0;
    for (std::size_t item = 0; item < ranks.size(); ++item) {
        ranks[item] = static_cast<std::uint32_t>(home.places[item].rank);
        last = std::max(last, ranks[item]);
    }
    for (std::size_t item = 0; item < ranks.size() && last >= home.ranks.value; ++item) {
        if (ranks[item] >= home.ranks.value) {
            throw_invalid("rebalance", element("home.places", item) + ".rank", ranks[item],
                          "a world rank below " + std::to_string(home.ranks.value));
        }
    }
    nodes_of_ranks.resize(topology.size().value);
    for (std::size_t rank = 0; rank < nodes_of_ranks.size(); ++rank) {
        nodes_of_ranks[rank] = static_cast<std::uint32_t>(topology.nodes_of_ranks[rank]);
    }
}

/// What `rebalance` was asked for, as the solver takes it. Weights are in `room` already, and so are bytes, unless they
/// are given or the same as the weights.
template <class Room>
[[nodiscard]] stay_task read_stay_task(Room& room, layout const& home, topology const& topology,
                                       rebalance_options const& options) {
    require_arguments(room.weights.size(), home, topology, options);
    read_homes(home, topology, room.home_ranks, room.nodes_of_ranks);
    stay_task task{.weights = room.weights,
                   .bytes = room.weights,
                   .home_ranks = room.home_ranks,
                   .home_nodes = {},
                   .classes = options.classes,
                   .nodes_of_ranks = room.nodes_of_ranks,
                   .nodes = topology.nodes(),
                   .tolerance = options.tolerance,
                   .effort = options.effort,
                   .bounds = options.bounds};
    if (!options.bytes.empty()) {
        task.bytes = options.bytes;
    } else if (!room.bytes.empty()) {
        task.bytes = room.bytes;
    }
    return task;
}

}  // namespace evenkeel::detail
