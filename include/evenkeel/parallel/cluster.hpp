// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>

namespace evenkeel {

/// How many GPUs something takes.
struct gpu_count {
    std::size_t value = 0;
    friend bool operator==(gpu_count const&, gpu_count const&) = default;
};

/// The machines that a model is laid over: equal nodes of equal GPUs.
///
///     evenkeel::cluster{.nodes = 8, .gpus_per_node = 8, .memory_bytes = 16e9,
///                       .intra_bandwidth = 150e9, .inter_bandwidth = 3.125e9}
///
/// A GPU is a world rank; node n has the world ranks from n * gpus_per_node on.
struct cluster {
    std::size_t nodes = 1;
    std::size_t gpus_per_node = 8;
    /// Of one GPU.
    double memory_bytes = 0;
    /// The share of it that the planner leaves alone: the framework, fragments.
    double memory_reserve = 0;
    /// Bytes per second of one GPU to the others of its node, in each direction.
    double intra_bandwidth = 0;
    /// Bytes per second of one node to the others, in each direction, shared by its GPUs.
    double inter_bandwidth = 0;
    /// Seconds until a message's first byte arrives.
    double intra_latency = 0;
    double inter_latency = 0;

    [[nodiscard]] gpu_count gpus() const noexcept { return {nodes * gpus_per_node}; }
    [[nodiscard]] double usable_bytes() const noexcept { return detail::rounded(memory_bytes * (1 - memory_reserve)); }
    [[nodiscard]] node_id node_of(world_rank gpu) const noexcept {
        return to_id<node_id>(to_index(gpu) / gpus_per_node);
    }

    friend bool operator==(cluster const&, cluster const&) = default;
};

/// The most GPUs that a cluster may have.
inline constexpr std::size_t max_gpus = std::size_t{1} << 16U;

/// Refuses a cluster on which nothing runs: without a node, a byte of memory or a link.
///
/// @throws std::invalid_argument  names the first member that is out of its range.
inline void require_cluster(std::string_view function, cluster const& cluster) {
    auto const count = [&](std::string_view name, std::size_t value) {
        if (value == 0 || value > max_gpus) {
            throw_invalid(function, name, value, "from 1 to " + std::to_string(max_gpus));
        }
    };
    count("cluster.nodes", cluster.nodes);
    count("cluster.gpus_per_node", cluster.gpus_per_node);
    count("cluster.nodes * gpus_per_node", cluster.gpus().value);
    detail::require_positive(function, "cluster.memory_bytes", cluster.memory_bytes);
    if (!(cluster.memory_reserve >= 0 && cluster.memory_reserve < 1)) {
        throw_invalid(function, "cluster.memory_reserve", cluster.memory_reserve, "a share from 0 to below 1");
    }
    detail::require_positive(function, "cluster.intra_bandwidth", cluster.intra_bandwidth);
    detail::require_positive(function, "cluster.inter_bandwidth", cluster.inter_bandwidth);
    detail::require_amount(function, "cluster.intra_latency", cluster.intra_latency);
    detail::require_amount(function, "cluster.inter_latency", cluster.inter_latency);
}

}  // namespace evenkeel
