// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <vector>

#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/deployment.hpp>

namespace evenkeel::test {

/// Seconds of a step as the documentation of `score` has it, GPU by GPU, without a thought for speed.
class naive_score {
  public:
    naive_score(cluster const& cluster, std::span<deployment const> modalities, meeting const& meeting)
        : cluster_{cluster}, modalities_{modalities}, meeting_{meeting} {}

    [[nodiscard]] double operator()(gpu_placement const& placement) {
        placement_ = &placement;
        through_ = {};
        for (std::size_t i = 0; i < modalities_.size(); ++i) {
            each_gpu(i, [&](std::size_t replica, std::size_t stage, std::size_t rank) {
                load_pipeline(i, replica, stage, rank);
                if (replica == 0) {
                    load_all_reduce(gradient, replicas_of(i, stage, rank),
                                    modalities_[i].communication.gradient_bytes[stage], 1);
                }
                if (rank == 0) {
                    load_all_reduce(tensor, ranks_of(i, replica, stage), modalities_[i].communication.tensor_bytes,
                                    modalities_[i].communication.tensor_reduces[stage]);
                }
            });
        }
        for (auto const& flow : meeting_.flows) {
            load_features(flow);
        }
        std::vector<double> seconds(modalities_.size());
        for (std::size_t i = 0; i < modalities_.size(); ++i) {
            each_gpu(i, [&](std::size_t replica, std::size_t stage, std::size_t rank) {
                seconds[i] = std::max(seconds[i], of_gpu(i, replica, stage, rank));
            });
        }
        return combined(seconds, meeting_.levels, meeting_.syncs);
    }

  private:
    enum pattern : std::uint8_t { tensor, pipeline, gradient, feature };
    using nodes = std::vector<std::size_t>;

    template <class Visit>
    void each_gpu(std::size_t i, Visit visit) {
        for (std::size_t replica = 0; replica < modalities_[i].replicas; ++replica) {
            for (std::size_t stage = 0; stage < modalities_[i].cut.pp; ++stage) {
                for (std::size_t rank = 0; rank < modalities_[i].cut.tp; ++rank) {
                    visit(replica, stage, rank);
                }
            }
        }
    }

    [[nodiscard]] std::size_t node(std::size_t i, std::size_t replica, std::size_t stage, std::size_t rank) const {
        return to_index(cluster_.node_of(placement_->gpu_of(i, modalities_[i].cut, replica, stage, rank)));
    }

    [[nodiscard]] nodes replicas_of(std::size_t i, std::size_t stage, std::size_t rank) const {
        nodes result;
        for (std::size_t replica = 0; replica < modalities_[i].replicas; ++replica) {
            result.push_back(node(i, replica, stage, rank));
        }
        return result;
    }

    [[nodiscard]] nodes ranks_of(std::size_t i, std::size_t replica, std::size_t stage) const {
        nodes result;
        for (std::size_t rank = 0; rank < modalities_[i].cut.tp; ++rank) {
            result.push_back(node(i, replica, stage, rank));
        }
        return result;
    }

    void load_all_reduce(pattern of, nodes const& group, double bytes, double times) {
        std::set<std::size_t> const distinct(group.begin(), group.end());
        auto const count = static_cast<double>(distinct.size());
        for (auto const on : distinct) {
            through_[of][on] += times * 2 * (count - 1) / count * bytes;
        }
    }

    void load_pipeline(std::size_t i, std::size_t replica, std::size_t stage, std::size_t rank) {
        auto const& one = modalities_[i];
        if (stage + 1 == one.cut.pp || node(i, replica, stage, rank) == node(i, replica, stage + 1, rank)) {
            return;
        }
        double const bytes = one.communication.boundary_bytes / static_cast<double>(one.cut.tp);
        through_[pipeline][node(i, replica, stage, rank)] += bytes;
        through_[pipeline][node(i, replica, stage + 1, rank)] += bytes;
    }

    [[nodiscard]] double feature_bytes(double samples) const {
        return 2 * static_cast<double>(meeting_.syncs) * samples * meeting_.feature_bytes;
    }

    [[nodiscard]] std::size_t end(std::size_t i, std::size_t replica) const {
        return node(i, replica, modalities_[i].cut.pp - 1, 0);
    }

    [[nodiscard]] std::size_t entry(feature_flow const& flow, std::size_t replica) const {
        return flow.kind == flow_kind::input ? node(flow.consumer, replica, 0, 0) : end(flow.consumer, replica);
    }

    void load_features(feature_flow const& flow) {
        auto const producers = modalities_[flow.producer].replicas;
        auto const consumers = modalities_[flow.consumer].replicas;
        std::set<std::size_t> done;
        for (std::size_t to = 0; to < consumers; ++to) {
            auto const on = entry(flow, to);
            if (flow.kind == flow_kind::gathered && !done.insert(on).second) {
                continue;
            }
            for (std::uint64_t sample = 0; sample < meeting_.per_sync; ++sample) {
                auto const wanted = samples_of(meeting_.per_sync, consumers, to);
                bool const is_own = sample >= wanted.first && sample < wanted.last;
                std::size_t from = 0;
                while (sample >= samples_of(meeting_.per_sync, producers, from).last) {
                    ++from;
                }
                if (end(flow.producer, from) == on || (flow.kind != flow_kind::gathered && !is_own)) {
                    continue;
                }
                through_[feature][on] += feature_bytes(1);
                if (flow.kind != flow_kind::gathered) {
                    through_[feature][end(flow.producer, from)] += feature_bytes(1);
                }
            }
        }
    }

    [[nodiscard]] double all_reduce(pattern of, nodes const& group, double bytes, double times) {
        std::map<std::size_t, std::size_t> members;
        double through = 0;
        for (auto const on : group) {
            ++members[on];
            through = std::max(through, through_[of][on]);
        }
        std::size_t most = 0;
        for (auto const& [on, count] : members) {
            most = std::max(most, count);
        }
        double seconds = 0;
        if (bytes * times > 0) {
            auto const k = static_cast<double>(most);
            auto const q = static_cast<double>(members.size());
            seconds +=
                times * (2 * (k - 1) / k * bytes / cluster_.intra_bandwidth + 2 * (k - 1) * cluster_.intra_latency);
            if (members.size() > 1) {
                seconds += through / cluster_.inter_bandwidth + times * 2 * (q - 1) * cluster_.inter_latency;
            }
        }
        return seconds;
    }

    [[nodiscard]] double of_gpu(std::size_t i, std::size_t replica, std::size_t stage, std::size_t rank) {
        auto const& one = modalities_[i];
        auto const& tells = one.communication;
        double seconds = one.seconds;
        // The seconds of a replica have those of a group within a node.
        seconds +=
            all_reduce(tensor, ranks_of(i, replica, stage), tells.tensor_bytes, tells.tensor_reduces[stage]) -
            all_reduce(tensor, nodes(one.cut.tp, cluster_.nodes), tells.tensor_bytes, tells.tensor_reduces[stage]);
        seconds += all_reduce(gradient, replicas_of(i, stage, rank), tells.gradient_bytes[stage], 1);
        auto const own = node(i, replica, stage, rank);
        double slowest = 0;
        for (std::size_t other = 0; other < one.cut.pp && tells.boundary_bytes > 0; ++other) {
            if (other + 1 != stage && other != stage + 1) {
                continue;
            }
            auto const there = node(i, replica, other, rank);
            if (there == own) {
                seconds += tells.boundary_bytes / static_cast<double>(one.cut.tp) / cluster_.intra_bandwidth +
                           tells.boundary_messages * cluster_.intra_latency;
            } else {
                seconds += tells.boundary_messages * cluster_.inter_latency;
                slowest = std::max({slowest, through_[pipeline][own], through_[pipeline][there]});
            }
        }
        seconds += slowest / cluster_.inter_bandwidth;
        double features = 0;
        for (auto const& flow : meeting_.flows) {
            if (flow.consumer != i || meeting_.feature_bytes == 0) {
                continue;
            }
            auto const samples = flow.kind == flow_kind::gathered
                                     ? meeting_.per_sync
                                     : samples_of(meeting_.per_sync, one.replicas, replica).size();
            seconds += feature_bytes(static_cast<double>(samples)) / cluster_.intra_bandwidth +
                       2 * static_cast<double>(meeting_.syncs) * cluster_.intra_latency;
            features = std::max(features, through_[feature][entry(flow, replica)]);
        }
        if (features > 0) {
            seconds +=
                features / cluster_.inter_bandwidth + 2 * static_cast<double>(meeting_.syncs) * cluster_.inter_latency;
        }
        return seconds;
    }

    cluster cluster_;
    std::span<deployment const> modalities_;
    meeting meeting_;
    gpu_placement const* placement_ = nullptr;
    std::map<pattern, std::map<std::size_t, double>> through_;
};

/// Calls `visit` with every placement that keeps tensor-parallel groups within nodes, up to the names of nodes and of
/// GPUs within them.
inline void each_placement(cluster const& cluster, std::span<deployment const> modalities,
                           std::function<void(gpu_placement const&)> const& visit) {
    gpu_placement placement;
    struct block {
        std::size_t modality;
        std::size_t first;
        std::size_t size;
    };
    std::vector<block> blocks;
    for (std::size_t i = 0; i < modalities.size(); ++i) {
        placement.gpus.emplace_back(modalities[i].gpus().value);
        for (std::size_t first = 0; first < modalities[i].gpus().value; first += modalities[i].cut.tp) {
            blocks.push_back({i, first, modalities[i].cut.tp});
        }
    }
    std::vector<std::size_t> taken(cluster.nodes);
    std::function<void(std::size_t)> const follow = [&](std::size_t at) {
        if (at == blocks.size()) {
            visit(placement);
            return;
        }
        auto const& one = blocks[at];
        for (std::size_t node = 0; node < cluster.nodes; ++node) {
            if (taken[node] + one.size <= cluster.gpus_per_node) {
                for (std::size_t rank = 0; rank < one.size; ++rank) {
                    placement.gpus[one.modality][one.first + rank] =
                        to_id<world_rank>(node * cluster.gpus_per_node + taken[node] + rank);
                }
                bool const was_empty = taken[node] == 0;
                taken[node] += one.size;
                follow(at + 1);
                taken[node] -= one.size;
                if (was_empty) {
                    break;
                }
            }
        }
    };
    follow(0);
}

}  // namespace evenkeel::test
