// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>

namespace evenkeel::detail {

/// Where each sample of a step is drawn to: home, or, once outputs of it have a place, the rank that has most of them.
class output_anchors {
  public:
    void resize(std::size_t samples) {
        anchors_.resize(samples);
        held_.resize(samples);
    }

    /// Lets a sample of which nothing is placed be drawn to a rank.
    void start(item_id sample, world_rank rank) noexcept {
        anchors_[to_index(sample)] = rank;
        held_[to_index(sample)] = 0;
    }

    [[nodiscard]] world_rank operator[](item_id sample) const noexcept { return anchors_[to_index(sample)]; }

    /// Bytes of its outputs that are there.
    [[nodiscard]] std::uint64_t held(item_id sample) const noexcept { return held_[to_index(sample)]; }

    /// Counts in where the units of an encoder are.
    ///
    /// @param samples  Some, ascending, or all.
    /// @param rank_of  Of all units of the encoder.
    void follow(step_problem const& problem, group_view const& view, std::span<item_id const> samples,
                std::size_t encoder, std::span<std::uint32_t const> rank_of) {
        auto const& offsets = problem.samples.inputs[encoder].units.offsets;
        auto const& bytes = problem.amounts.phases[encoder].output_bytes;
        auto const offer = [&](item_id sample, std::uint32_t rank, std::uint64_t together) {
            auto& held = held_[to_index(sample)];
            auto& anchor = anchors_[to_index(sample)];
            anchor = together > held ? view.leader(rank) : anchor;
            held = std::max(held, together);
        };
        auto const follow_one = [&](item_id sample) {
            std::size_t const first = offsets[to_index(sample)];
            std::size_t const last = offsets[to_index(sample) + 1];
            if (last - first == 1) {
                offer(sample, rank_of[first], bytes[first]);
                return;
            }
            shares_.clear();
            for (std::size_t unit = first; unit < last; ++unit) {
                shares_.emplace_back(rank_of[unit], bytes[unit]);
            }
            std::ranges::sort(shares_);
            for (std::size_t share = 0; share < shares_.size();) {
                std::uint32_t const rank = shares_[share].first;
                std::uint64_t together = 0;
                for (; share < shares_.size() && shares_[share].first == rank; ++share) {
                    together += shares_[share].second;
                }
                offer(sample, rank, together);
            }
        };
        if (samples.size() != problem.samples.size()) {
            std::ranges::for_each(samples, follow_one);
            return;
        }
        // By units: samples that have none need not be asked, which no processor foresees.
        auto const& owners = problem.amounts.phases[encoder].owners;
        for (std::size_t unit = 0; unit < owners.size(); unit = offsets[to_index(owners[unit]) + 1]) {
            follow_one(owners[unit]);
        }
    }

  private:
    std::vector<world_rank> anchors_;
    std::vector<std::uint64_t> held_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> shares_;  ///< of a sample: rank and bytes of each unit
};

}  // namespace evenkeel::detail
