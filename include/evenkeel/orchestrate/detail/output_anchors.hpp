// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
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
        auto const& amounts = problem.amounts.phases[encoder];
        auto const owners = std::span{amounts.owners};
        if (samples.size() != problem.samples.size()) {
            auto const& offsets = problem.samples.inputs[encoder].units.offsets;
            offers offered{*this, view};
            for (item_id const sample : samples) {
                for (std::size_t unit = offsets[to_index(sample)]; unit < offsets[to_index(sample) + 1]; ++unit) {
                    offered.add(sample, rank_of[unit], amounts.output_bytes[unit]);
                }
            }
        } else if (amounts.several_units) {
            // By units: samples that have none need not be asked, which no processor foresees.
            offers offered{*this, view};
            for (std::size_t unit = 0; unit < owners.size(); ++unit) {
                offered.add(owners[unit], rank_of[unit], amounts.output_bytes[unit]);
            }
        } else {
            for (std::size_t unit = 0; unit < owners.size(); ++unit) {
                offer(view, owners[unit], rank_of[unit], amounts.output_bytes[unit], 0);
            }
        }
    }

  private:
    /// All bits or none.
    [[nodiscard]] static std::uint64_t choose_if(bool chosen) noexcept { return -static_cast<std::uint64_t>(chosen); }

    /// Bytes of a sample that are together on a rank.
    struct sample_bytes {
        std::uint64_t bytes = 0;
        std::uint32_t sample = std::numeric_limits<std::uint32_t>::max();
    };

    /// The units of samples that may have several, one sample after the other.
    ///
    /// What a rank has of a sample rises unit by unit, and each sum is offered: the last is the largest. So none is
    /// asked whether it is on the rank of the one before, which no processor foresees.
    class offers {
      public:
        offers(output_anchors& anchors, group_view const& view) : anchors_{anchors}, view_{view} {
            anchors.together_.assign(view.ranks(), {});
        }

        void add(item_id sample, std::uint32_t rank, std::uint64_t bytes) noexcept {
            auto& together = anchors_.together_[rank];
            auto const number = static_cast<std::uint32_t>(to_index(sample));
            together.bytes = (together.bytes & choose_if(together.sample == number)) + bytes;
            together.sample = number;
            best_ &= static_cast<std::uint32_t>(choose_if(sample_ == number));
            sample_ = number;
            bool const is_better = anchors_.offer(view_, sample, rank, together.bytes, best_);
            best_ ^= (best_ ^ rank) & static_cast<std::uint32_t>(choose_if(is_better));
        }

      private:
        output_anchors& anchors_;
        group_view const& view_;
        std::uint32_t best_ = 0;  ///< the rank of the sample's best offer; of none yet, the first
        std::uint32_t sample_ = std::numeric_limits<std::uint32_t>::max();
    };

    /// Bytes of a sample on a rank, beside what is held already.
    ///
    /// @param best  Of ranks that have as much as is held, those before this one are better.
    /// @return      Whether it is better.
    bool offer(group_view const& view, item_id sample, std::uint32_t rank, std::uint64_t together,
               std::uint32_t best) noexcept {
        auto& held = held_[to_index(sample)];
        auto& anchor = anchors_[to_index(sample)];
        auto const before = static_cast<std::uint32_t>(to_index(anchor));
        auto const there = static_cast<std::uint32_t>(to_index(view.leader(rank)));
        // By bits, as no processor foresees which it is.
        bool const is_better = ((together > held) | ((together == held) & (rank < best))) != 0;
        anchor = world_rank{before ^ ((before ^ there) & static_cast<std::uint32_t>(choose_if(is_better)))};
        held = std::max(held, together);
        return is_better;
    }

    std::vector<world_rank> anchors_;
    std::vector<std::uint64_t> held_;
    std::vector<sample_bytes> together_;  ///< of each rank, with the last sample that it has some of
};

}  // namespace evenkeel::detail
