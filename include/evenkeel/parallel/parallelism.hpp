// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>

#include <evenkeel/parallel/cluster.hpp>

namespace evenkeel {

/// How one replica of a submodule is cut: each stage holds a run of its layers, each layer is cut over `tp` GPUs.
struct parallelism {
    std::size_t tp = 1;
    std::size_t pp = 1;

    /// What one replica takes.
    [[nodiscard]] std::size_t gpus() const noexcept { return tp * pp; }

    friend auto operator<=>(parallelism const&, parallelism const&) = default;
    friend bool operator==(parallelism const&, parallelism const&) = default;
};

/// How many replicas a cluster has room for where every stage's tensor-parallel GPUs stand in one node.
[[nodiscard]] inline std::size_t room_for(parallelism cut, cluster const& cluster) noexcept {
    return cluster.nodes * (cluster.gpus_per_node / cut.tp) / cut.pp;
}

}  // namespace evenkeel
