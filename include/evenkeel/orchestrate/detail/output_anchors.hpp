// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
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

    /// The same for samples `first` to before `last`.
    void start(std::size_t first, std::size_t last, world_rank rank) noexcept {
        std::fill(anchors_.data() + first, anchors_.data() + last, rank);
        std::fill(held_.data() + first, held_.data() + last, std::uint64_t{0});
    }

    [[nodiscard]] world_rank operator[](item_id sample) const noexcept { return anchors_[to_index(sample)]; }

    /// Bytes of its outputs that are there.
    [[nodiscard]] std::uint64_t held(item_id sample) const noexcept { return held_[to_index(sample)]; }

    /// The same of all samples.
    [[nodiscard]] std::span<world_rank const> all() const noexcept { return anchors_; }
    [[nodiscard]] std::span<std::uint64_t const> all_held() const noexcept { return held_; }

    /// Counts in where the units of an encoder are.
    ///
    /// @param samples  Some, ascending, or all.
    /// @param rank_of  Of all units of the encoder.
    void follow(step_problem const& problem, group_view const& view, std::span<item_id const> samples,
                std::size_t encoder, std::span<std::uint32_t const> rank_of) {
        auto const& offsets = problem.samples.inputs[encoder].units.offsets;
        auto const bytes = problem.amounts.phases[encoder].output_bytes;
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
        if (problem.amounts.phases[encoder].several_units) {
            follow_runs(problem.amounts.phases[encoder], rank_of, offsets, offer, follow_one);
        } else {
            auto const owners = std::span{problem.amounts.phases[encoder].owners};
            for (std::size_t unit = 0; unit < owners.size(); ++unit) {
                offer(owners[unit], rank_of[unit], bytes[unit]);
            }
        }
    }

  private:
    /// As long as the units of a sample are on one rank, they are offered one by one, in sums that rise.
    template <class Offer, class FollowOne>
    void follow_runs(phase_amounts const& amounts, std::span<std::uint32_t const> rank_of,
                     std::span<std::size_t const> offsets, Offer offer, FollowOne follow_one) {
        std::uint64_t together = 0;
        world_rank anchor_before{};
        std::uint64_t held_before = 0;
        for (std::size_t unit = 0; unit < rank_of.size(); ++unit) {
            item_id const sample = amounts.owners[unit];
            bool const is_first = unit == 0 || amounts.owners[unit - 1] != sample;
            if (!is_first && rank_of[unit] != rank_of[unit - 1]) {
                anchors_[to_index(sample)] = anchor_before;
                held_[to_index(sample)] = held_before;
                follow_one(sample);
                unit = offsets[to_index(sample) + 1] - 1;
                continue;
            }
            anchor_before = is_first ? anchors_[to_index(sample)] : anchor_before;
            held_before = is_first ? held_[to_index(sample)] : held_before;
            together = (is_first ? 0 : together) + amounts.output_bytes[unit];
            offer(sample, rank_of[unit], together);
        }
    }

    std::vector<world_rank> anchors_;
    std::vector<std::uint64_t> held_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> shares_;  ///< of a sample: rank and bytes of each unit
};

}  // namespace evenkeel::detail
