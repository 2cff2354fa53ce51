// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/deployment.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::test {

/// Modalities to be placed on a few GPUs, of every kind: with and without pipelines, tensor parallelism, features.
struct placement_case {
    evenkeel::cluster cluster = {};
    std::vector<deployment> modalities = {};
    evenkeel::meeting meeting = {};
};

/// @param most_gpus  Of the cluster.
[[nodiscard]] inline placement_case random_placement_case(std::uint64_t seed, std::size_t most_gpus = 8) {
    seeded random{seed};
    auto const number = [&](std::uint64_t least, std::uint64_t most) {
        return static_cast<double>(random.between(least, most));
    };
    placement_case result;
    std::size_t const per_node = std::size_t{1} << random.between(1, 2);
    result.cluster = {.nodes = random.between(2, most_gpus / per_node),
                      .gpus_per_node = per_node,
                      .memory_bytes = 1,
                      .intra_bandwidth = number(1, 20),
                      .inter_bandwidth = number(1, 20) / (random.up_to(2) == 0 ? 1 : 10),
                      .intra_latency = number(0, 1) / 50,
                      .inter_latency = number(0, 1) / 5};
    std::size_t left = result.cluster.gpus().value;
    auto const count = random.between(1, 3);
    while (result.modalities.size() < count && left > 0) {
        deployment one;
        one.cut.tp = random.up_to(2) == 0 ? 2 : 1;
        one.cut.pp = random.up_to(1) == 0 ? 1 : random.between(1, 3);
        one.replicas = random.between(1, 4);
        if (one.gpus().value > left) {
            one = {};
        }
        left -= one.gpus().value;
        auto& tells = one.communication;
        one.seconds = number(0, 3) * number(0, 5);
        if (one.cut.tp > 1) {
            tells.tensor_bytes = number(0, 3);
            tells.tensor_is_measured = random.up_to(1) == 0;
        }
        if (one.cut.pp > 1 && random.up_to(3) > 0) {
            tells.boundary_bytes = number(1, 30);
            tells.boundary_messages = number(1, 4);
        }
        double const gradients = one.replicas > 1 ? number(0, 30) : 0;
        for (std::size_t stage = 0; stage < one.cut.pp; ++stage) {
            tells.tensor_reduces.push_back(one.cut.tp > 1 ? number(1, 4) : 0);
            tells.gradient_bytes.push_back(gradients == 0 ? 0 : gradients + number(0, 2));
        }
        result.modalities.push_back(one);
    }
    result.meeting = {
        .feature_bytes = number(0, 3) / 8, .per_sync = random.between(5, 11), .syncs = random.between(1, 3)};
    auto const kind = static_cast<flow_kind>(random.up_to(2));
    for (std::size_t consumer = 0; consumer < result.modalities.size(); ++consumer) {
        bool const is_last = consumer + 1 == result.modalities.size();
        result.meeting.levels.push_back(kind == flow_kind::input && is_last && consumer > 0 ? 1 : 0);
        for (std::size_t producer = 0; producer < result.modalities.size(); ++producer) {
            if (producer != consumer && (kind != flow_kind::input || is_last)) {
                result.meeting.flows.push_back({producer, consumer, kind});
            }
        }
    }
    return result;
}

}  // namespace evenkeel::test
