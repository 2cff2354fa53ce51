// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <evenkeel/parallel/cluster.hpp>

namespace evenkeel {

/// How GPUs that talk to each other stand: on how many nodes, and how many of them on the fullest one.
struct spread {
    std::size_t nodes = 1;
    std::size_t on_one_node = 1;
    friend bool operator==(spread const&, spread const&) = default;
};

/// `gpus` on as few nodes as possible, at most `on_one_node` on each.
[[nodiscard]] constexpr spread packed(std::size_t gpus, std::size_t on_one_node) noexcept {
    return {.nodes = (gpus + on_one_node - 1) / on_one_node, .on_one_node = std::min(gpus, on_one_node)};
}

/// What all but the last of `members` do: the factor of a ring.
[[nodiscard]] constexpr double ring_share(std::size_t members) noexcept {
    return static_cast<double>(members - 1) / static_cast<double>(members);
}

/// What one GPU sends and receives, in bytes, where `members` add up `bytes`: 2 (k - 1) / k of it.
[[nodiscard]] constexpr double all_reduce_volume(double bytes, std::size_t members) noexcept {
    return 2 * ring_share(members) * bytes;
}

/// Seconds for adding up `bytes` over GPUs, by rings: within each node, then between nodes.
///
///     all_reduce_seconds(cluster, 1e9, {.nodes = 1, .on_one_node = 8});
///     // 2 * 7/8 * 1e9 / intra_bandwidth + 14 latencies
///
/// Latency and bandwidth (alpha-beta), hierarchical: a node sends the whole once, however many of its GPUs take part.
/// Inferred: the paper only ranks the patterns.
///
/// @param through_network  All that the busiest node of this group sends meanwhile, in bytes, this group's share
///                         included.
[[nodiscard]] inline double all_reduce_seconds(cluster const& cluster, double bytes, spread over,
                                               double through_network) noexcept {
    double seconds = 0;
    if (bytes == 0) {
        return seconds;
    }
    if (over.on_one_node > 1) {
        seconds += all_reduce_volume(bytes, over.on_one_node) / cluster.intra_bandwidth +
                   2 * static_cast<double>(over.on_one_node - 1) * cluster.intra_latency;
    }
    if (over.nodes > 1) {
        seconds +=
            through_network / cluster.inter_bandwidth + 2 * static_cast<double>(over.nodes - 1) * cluster.inter_latency;
    }
    return seconds;
}

/// The same where nobody else uses the network.
[[nodiscard]] inline double all_reduce_seconds(cluster const& cluster, double bytes, spread over) noexcept {
    return all_reduce_seconds(cluster, bytes, over, all_reduce_volume(bytes, over.nodes));
}

}  // namespace evenkeel
