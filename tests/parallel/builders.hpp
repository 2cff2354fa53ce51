// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/model.hpp>

namespace evenkeel::test {

/// Nodes whose links and memory are no obstacle.
[[nodiscard]] inline cluster roomy(std::size_t nodes, std::size_t gpus_per_node) {
    return {.nodes = nodes,
            .gpus_per_node = gpus_per_node,
            .memory_bytes = 1e12,
            .intra_bandwidth = 1e12,
            .inter_bandwidth = 1e12};
}

/// The paper's: V100s of 16 GB, NVLink, 25 Gbps between nodes.
[[nodiscard]] inline cluster v100s(std::size_t nodes = 8) {
    return {.nodes = nodes,
            .gpus_per_node = 8,
            .memory_bytes = 17'179'869'184.0,
            .intra_bandwidth = 150e9,
            .inter_bandwidth = 3.125e9,
            .intra_latency = 5e-6,
            .inter_latency = 20e-6};
}

/// A submodule of which nothing is known but a replica's rate.
[[nodiscard]] inline submodule rated(std::string name, double seconds, std::size_t tp = 1, std::size_t pp = 1,
                                     double colocated = 0) {
    return {.name = std::move(name),
            .layers = pp,
            .time = seconds_per_sample{.seconds = seconds, .colocated = colocated},
            .tp = {tp},
            .pp = {pp}};
}

/// What the paper's Fig. 2 draws: 64 GPUs, 72 samples, 24 of which meet.
[[nodiscard]] inline multimodal_model figure_2() {
    return {.submodules = {rated("text", 2, 2, 2), rated("image", 1.5, 4, 4)}, .interaction = {.batch = 24}};
}

/// Fig. 4: 4 GPUs, 12 samples; alone 45 % of a GPU are used, colocated 20 % and 40 %.
[[nodiscard]] inline multimodal_model figure_4() {
    return {
        .submodules = {rated("blue", 1.6 / 0.45 / 12, 1, 1, 2.0 / 3), rated("orange", 4.8 / 0.45 / 12, 1, 1, 3.0 / 3)}};
}

}  // namespace evenkeel::test
