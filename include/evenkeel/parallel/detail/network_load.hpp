// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/parallel/collectives.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/node_map.hpp>

namespace evenkeel::detail {

/// Bytes that go through each node's network in a step, by pattern.
class network_load {
  public:
    network_load(std::size_t nodes, std::span<deployment const> modalities, meeting const& meeting)
        : tensor(nodes),
          boundary(nodes),
          gradient(nodes),
          feature(nodes),
          modalities_{modalities},
          meeting_{meeting},
          counter_{nodes},
          samples_(nodes) {}

    std::vector<double> tensor;
    std::vector<double> boundary;
    std::vector<double> gradient;
    std::vector<double> feature;

    void fill(node_map const& map) {
        for (auto* const bytes : {&tensor, &boundary, &gradient, &feature}) {
            std::ranges::fill(*bytes, 0.0);
        }
        for (std::size_t i = 0; i < modalities_.size(); ++i) {
            add_tensor(map, i);
            add_boundaries(map, i);
            add_gradients(map, i);
        }
        for (auto const& flow : meeting_.flows) {
            flow.kind == flow_kind::gathered ? add_gathered(map, flow) : add_own_samples(map, flow);
        }
    }

  private:
    void add_tensor(node_map const& map, std::size_t i) {
        auto const& one = modalities_[i];
        if (map.lanes(i) == 1 || one.communication.tensor_bytes == 0) {
            return;
        }
        for (std::size_t replica = 0; replica < one.replicas; ++replica) {
            for (std::size_t stage = 0; stage < one.cut.pp; ++stage) {
                auto const node_of = [&](std::size_t lane) { return map.at(i, replica, stage, lane); };
                auto const over = counter_.spread_of(map.lanes(i), node_of);
                if (over.nodes > 1) {
                    double const volume = one.communication.tensor_reduces[stage] *
                                          all_reduce_volume(one.communication.tensor_bytes, over.nodes);
                    counter_.each_node(map.lanes(i), node_of, [&](std::size_t node) { tensor[node] += volume; });
                }
            }
        }
    }

    void add_boundaries(node_map const& map, std::size_t i) {
        auto const& one = modalities_[i];
        double const bytes = one.communication.boundary_bytes / static_cast<double>(map.lanes(i));
        for (std::size_t replica = 0; replica < one.replicas && bytes > 0; ++replica) {
            for (std::size_t stage = 0; stage + 1 < one.cut.pp; ++stage) {
                for (std::size_t lane = 0; lane < map.lanes(i); ++lane) {
                    auto const from = map.at(i, replica, stage, lane);
                    auto const to = map.at(i, replica, stage + 1, lane);
                    if (from != to) {
                        boundary[from] += bytes;
                        boundary[to] += bytes;
                    }
                }
            }
        }
    }

    void add_gradients(node_map const& map, std::size_t i) {
        auto const& one = modalities_[i];
        for (std::size_t stage = 0; stage < one.cut.pp; ++stage) {
            double const bytes = one.communication.gradient_bytes[stage];
            for (std::size_t lane = 0; lane < map.lanes(i) && bytes > 0; ++lane) {
                auto const node_of = [&](std::size_t replica) { return map.at(i, replica, stage, lane); };
                auto const over = counter_.spread_of(one.replicas, node_of);
                if (over.nodes > 1) {
                    double const volume = map.width(i) * all_reduce_volume(bytes, over.nodes);
                    counter_.each_node(one.replicas, node_of, [&](std::size_t node) { gradient[node] += volume; });
                }
            }
        }
    }

    /// Forwards and back, over all syncs.
    [[nodiscard]] double bytes_of(std::uint64_t samples) const noexcept {
        return 2 * static_cast<double>(meeting_.syncs) * static_cast<double>(samples) * meeting_.feature_bytes;
    }

    [[nodiscard]] std::uint32_t end_of(node_map const& map, std::size_t i, std::size_t replica) const {
        return map.at(i, replica, modalities_[i].cut.pp - 1);
    }

    /// Each node with a consumer takes in once what was not made there.
    void add_gathered(node_map const& map, feature_flow const& flow) {
        auto const& producer = modalities_[flow.producer];
        for (std::size_t replica = 0; replica < producer.replicas; ++replica) {
            samples_[end_of(map, flow.producer, replica)] +=
                samples_of(meeting_.per_sync, producer.replicas, replica).size();
        }
        auto const node_of = [&](std::size_t replica) { return end_of(map, flow.consumer, replica); };
        counter_.each_node(modalities_[flow.consumer].replicas, node_of,
                           [&](std::size_t node) { feature[node] += bytes_of(meeting_.per_sync - samples_[node]); });
        for (std::size_t replica = 0; replica < producer.replicas; ++replica) {
            samples_[end_of(map, flow.producer, replica)] = 0;
        }
    }

    /// Each consumer takes in the features of the samples that it works on.
    void add_own_samples(node_map const& map, feature_flow const& flow) {
        auto const producers = modalities_[flow.producer].replicas;
        auto const consumers = modalities_[flow.consumer].replicas;
        std::size_t const stage = flow.kind == flow_kind::input ? 0 : modalities_[flow.consumer].cut.pp - 1;
        for (std::size_t from = 0, to = 0; from < producers && to < consumers;) {
            auto const made = samples_of(meeting_.per_sync, producers, from);
            auto const wanted = samples_of(meeting_.per_sync, consumers, to);
            auto const first = std::max(made.first, wanted.first);
            auto const last = std::min(made.last, wanted.last);
            auto const out = end_of(map, flow.producer, from);
            auto const in = map.at(flow.consumer, to, stage);
            if (out != in && first < last) {
                feature[out] += bytes_of(last - first);
                feature[in] += bytes_of(last - first);
            }
            made.last <= wanted.last ? ++from : ++to;
        }
    }

    std::span<deployment const> modalities_;
    meeting const& meeting_;
    node_counter counter_;
    std::vector<std::uint64_t> samples_;  ///< per node; 0 between uses
};

}  // namespace evenkeel::detail
