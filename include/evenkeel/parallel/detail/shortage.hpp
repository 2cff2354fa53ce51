// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/parallel/assignment.hpp>
#include <evenkeel/parallel/cluster.hpp>
#include <evenkeel/parallel/detail/packing.hpp>
#include <evenkeel/parallel/model.hpp>
#include <evenkeel/parallel/partition_candidates.hpp>

namespace evenkeel::detail {

/// Bytes that lack, as a whole number; `infeasible::most_amount` where they are as many or more.
[[nodiscard]] inline std::uint64_t missing_bytes(double needed, double there) {
    double const missing = std::ceil(needed - there);
    constexpr double most = 0x1p63;
    return missing < most ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(missing)) : infeasible::most_amount;
}

/// Refuses a submodule that fits nowhere, even in the smallest pieces.
inline void require_candidates(submodule const& submodule, std::vector<partition_candidate> const& candidates,
                               cluster const& cluster) {
    auto const owner = title_of(submodule);
    if (candidates.empty()) {
        auto const degrees = tensor_degrees(submodule, cluster);
        if (degrees.empty()) {
            throw_invalid("plan_cluster", owner + ".time_table", "no row",
                          "rows of a tensor-parallel degree in question");
        }
        std::size_t const tp = degrees.front();
        if (tp > cluster.gpus_per_node) {
            throw infeasible{"plan_cluster: GPUs in a node for the tensor parallelism of " + owner, std::nullopt,
                             tp - cluster.gpus_per_node};
        }
        // What is left over of a node, where tp does not divide it, is no use.
        std::size_t const usable = cluster.nodes * (cluster.gpus_per_node / tp) * tp;
        throw infeasible{"plan_cluster: GPUs for one replica of " + owner, std::nullopt,
                         tp * pipeline_degrees(submodule, cluster).front() - usable};
    }
    auto const least = std::ranges::min_element(candidates, {}, &partition_candidate::least_bytes);
    if (!least->fits) {
        throw infeasible{"plan_cluster: bytes of GPU memory for " + owner + " at tp " + std::to_string(least->cut.tp) +
                             ", pp " + std::to_string(least->cut.pp),
                         std::nullopt, missing_bytes(least->least_bytes, cluster.usable_bytes())};
    }
}

/// What was in the way of a plan: of several sizes of sync, where least lacked.
class shortage {
  public:
    /// @param obstacle  What was in the way where there are GPUs enough.
    void note(multimodal_model const& model, std::vector<assignments> const& choices,
              std::vector<std::vector<allocation_option>> const& options, cluster const& cluster,
              std::optional<unplaced_block> const& obstacle) {
        std::size_t needed = 0;
        std::size_t first_too_many = choices.size();
        for (std::size_t i = 0; i < choices.size(); ++i) {
            auto const owner = title_of(model.submodules[i]);
            if (choices[i].list.empty() && std::isinf(choices[i].least_bytes)) {
                keep(0, "plan_cluster: GPUs or samples for the replicas asked of " + owner, 1);
                return;
            }
            if (choices[i].list.empty()) {
                keep(0, "plan_cluster: bytes of GPU memory for " + owner + " with its samples of a sync",
                     missing_bytes(choices[i].least_bytes, cluster.usable_bytes()));
                return;
            }
            needed += std::ranges::min_element(options[i], {}, &allocation_option::gpus)->gpus;
            if (needed > cluster.gpus().value && first_too_many == choices.size()) {
                first_too_many = i;
            }
        }
        if (first_too_many < choices.size()) {
            keep(1, "plan_cluster: GPUs for " + title_of(model.submodules[first_too_many]) + " besides the others",
                 needed - cluster.gpus().value);
        } else if (obstacle) {
            keep(2,
                 "plan_cluster: GPUs in a node for the tensor parallelism of " +
                     title_of(model.submodules[obstacle->modality]) + " besides the others",
                 obstacle->lacking);
        }
    }

    [[noreturn]] void raise() const { throw infeasible{constraint_, std::nullopt, amount_}; }

  private:
    /// @param progress  How far planning came: what came farther is nearer to a plan, whatever it lacks.
    void keep(int progress, std::string constraint, std::uint64_t amount) {
        if (constraint_.empty() || progress > progress_ || (progress == progress_ && amount < amount_)) {
            progress_ = progress;
            constraint_ = std::move(constraint);
            amount_ = amount;
        }
    }

    int progress_ = 0;
    std::string constraint_;
    std::uint64_t amount_ = 0;
};

}  // namespace evenkeel::detail
