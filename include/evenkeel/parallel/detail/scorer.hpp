// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <span>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/collectives.hpp>
#include <evenkeel/parallel/deployment.hpp>
#include <evenkeel/parallel/detail/amounts.hpp>
#include <evenkeel/parallel/detail/network_load.hpp>
#include <evenkeel/parallel/detail/node_map.hpp>
#include <evenkeel/parallel/gpu_seconds.hpp>

namespace evenkeel::detail {

/// What placements are compared by: seconds of a step, and between equally fast ones how much GPUs and networks do in
/// all.
struct placement_cost {
    double seconds = 0;
    double effort = 0;
    friend auto operator<=>(placement_cost const&, placement_cost const&) = default;
    friend bool operator==(placement_cost const&, placement_cost const&) = default;
};

/// Scores one placement after the other.
class scorer {
  public:
    /// Keeps references to `modalities` and `meeting`.
    scorer(cluster const& cluster, std::span<deployment const> modalities, meeting const& meeting)
        : cluster_{cluster},
          modalities_{modalities},
          meeting_{meeting},
          load_{cluster.nodes, modalities, meeting},
          counter_{cluster.nodes},
          busiest_(modalities.size()),
          totals_(modalities.size()) {}

    placement_cost score(node_map const& map) {
        load_.fill(map);
        placement_cost cost;
        for (std::size_t i = 0; i < modalities_.size(); ++i) {
            find_busiest(map, i);
            totals_[i] = rounded(busiest_[i].total());
            cost.effort += totals_[i];
        }
        for (std::size_t node = 0; node < cluster_.nodes; ++node) {
            cost.effort += (load_.tensor[node] + load_.boundary[node] + load_.gradient[node] + load_.feature[node]) /
                           cluster_.inter_bandwidth;
        }
        cost.effort = rounded(cost.effort);
        cost.seconds = rounded(combined(totals_, meeting_.levels, meeting_.syncs));
        return cost;
    }

    /// Per modality, the GPU that is busy longest in what was scored last.
    [[nodiscard]] std::vector<gpu_seconds> const& busiest() const noexcept { return busiest_; }

    /// The modality that decides; the first of several.
    [[nodiscard]] std::size_t slowest() const noexcept {
        return static_cast<std::size_t>(std::ranges::max_element(totals_) - totals_.begin());
    }

  private:
    void find_busiest(node_map const& map, std::size_t i) {
        auto const& one = modalities_[i];
        auto const lanes = map.lanes(i);
        gradients_.clear();
        for (std::size_t stage = 0; stage < one.cut.pp; ++stage) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                gradients_.push_back(gradient_seconds(map, i, stage, lane));
            }
        }
        busiest_[i] = {};
        // Replicas that neither hand on nor take in anything are all alike.
        bool const takes_in = meeting_.feature_bytes > 0 &&
                              std::ranges::find(meeting_.flows, i, &feature_flow::consumer) != meeting_.flows.end();
        bool const are_alike = lanes == 1 && !takes_in && one.communication.boundary_bytes == 0;
        double const inside =
            one.communication.boundary_bytes / static_cast<double>(one.cut.tp) / cluster_.intra_bandwidth +
            one.communication.boundary_messages * cluster_.intra_latency;
        for (std::size_t replica = 0; replica < (are_alike ? 1 : one.replicas); ++replica) {
            double const interaction = takes_in ? feature_seconds(map, i, replica) : 0;
            for (std::size_t stage = 0; stage < one.cut.pp; ++stage) {
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    gpu_seconds spent{.computing = one.seconds,
                                      .gradients = gradients_[stage * lanes + lane],
                                      .interaction = interaction};
                    add_tensor(map, i, replica, stage, spent);
                    if (one.communication.boundary_bytes > 0) {
                        spent.pipeline = boundary_seconds(map, i, replica, stage, lane, inside);
                    }
                    if (spent.total() > busiest_[i].total()) {
                        busiest_[i] = spent;
                    }
                }
            }
        }
    }

    /// Of the replicas' GPUs for one stage and lane, which are through at the same time.
    [[nodiscard]] double gradient_seconds(node_map const& map, std::size_t i, std::size_t stage, std::size_t lane) {
        auto const& one = modalities_[i];
        double const bytes = one.communication.gradient_bytes[stage];
        if (bytes == 0) {
            return 0;
        }
        auto const node_of = [&](std::size_t replica) { return map.at(i, replica, stage, lane); };
        auto const over = counter_.spread_of(one.replicas, node_of);
        double through = 0;
        for (std::size_t replica = 0; replica < one.replicas && over.nodes > 1; ++replica) {
            through = std::max(through, load_.gradient[node_of(replica)]);
        }
        return all_reduce_seconds(cluster_, bytes, over, through);
    }

    void add_tensor(node_map const& map, std::size_t i, std::size_t replica, std::size_t stage, gpu_seconds& spent) {
        auto const& one = modalities_[i];
        double const bytes = one.communication.tensor_bytes;
        double const reduces = one.communication.tensor_reduces[stage];
        if (bytes == 0 || reduces == 0) {
            return;
        }
        double const within = all_reduce_seconds(cluster_, bytes, packed(one.cut.tp, cluster_.gpus_per_node));
        double each = within;
        if (map.lanes(i) > 1) {
            auto const node_of = [&](std::size_t lane) { return map.at(i, replica, stage, lane); };
            auto const over = counter_.spread_of(map.lanes(i), node_of);
            double through = 0;
            for (std::size_t lane = 0; lane < map.lanes(i) && over.nodes > 1; ++lane) {
                through = std::max(through, load_.tensor[node_of(lane)] / reduces);
            }
            each = all_reduce_seconds(cluster_, bytes, over, through);
        }
        // The seconds of a replica have those of a group within a node.
        spent.computing -= one.communication.tensor_is_measured ? 0 : reduces * within;
        spent.tensor = reduces * (one.communication.tensor_is_measured ? each - within : each);
    }

    /// @param inside  Seconds for one boundary within a node.
    [[nodiscard]] double boundary_seconds(node_map const& map, std::size_t i, std::size_t replica, std::size_t stage,
                                          std::size_t lane, double inside) const {
        auto const& one = modalities_[i];
        auto const own = map.at(i, replica, stage, lane);
        std::size_t kept = 0;
        std::size_t crossing = 0;
        double through = 0;
        auto const cross = [&](std::size_t neighbour) {
            auto const other = map.at(i, replica, neighbour, lane);
            if (other == own) {
                ++kept;
            } else {
                ++crossing;
                through = std::max({through, load_.boundary[own], load_.boundary[other]});
            }
        };
        if (stage > 0) {
            cross(stage - 1);
        }
        if (stage + 1 < one.cut.pp) {
            cross(stage + 1);
        }
        double const seconds = static_cast<double>(kept) * inside;
        return crossing == 0
                   ? seconds
                   : seconds + through / cluster_.inter_bandwidth +
                         static_cast<double>(crossing) * one.communication.boundary_messages * cluster_.inter_latency;
    }

    [[nodiscard]] double feature_seconds(node_map const& map, std::size_t i, std::size_t replica) const {
        double seconds = 0;
        double through = 0;
        double const ways = 2 * static_cast<double>(meeting_.syncs);
        for (auto const& flow : meeting_.flows) {
            if (flow.consumer != i) {
                continue;
            }
            auto const samples = flow.kind == flow_kind::gathered
                                     ? meeting_.per_sync
                                     : samples_of(meeting_.per_sync, modalities_[i].replicas, replica).size();
            seconds += ways * (static_cast<double>(samples) * meeting_.feature_bytes / cluster_.intra_bandwidth +
                               cluster_.intra_latency);
            auto const node = map.at(i, replica, flow.kind == flow_kind::input ? 0 : modalities_[i].cut.pp - 1);
            through = std::max(through, load_.feature[node]);
        }
        return through == 0 ? seconds : seconds + through / cluster_.inter_bandwidth + ways * cluster_.inter_latency;
    }

    cluster cluster_;
    std::span<deployment const> modalities_;
    meeting const& meeting_;
    network_load load_;
    node_counter counter_;
    std::vector<double> gradients_;  ///< per stage and lane of the modality at hand
    std::vector<gpu_seconds> busiest_;
    std::vector<double> totals_;
};

}  // namespace evenkeel::detail
