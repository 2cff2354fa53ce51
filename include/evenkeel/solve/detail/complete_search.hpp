// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Tries every placement of a few items that could be better than the best known: what it ends with is the optimum.
///
/// Depth first, heaviest item first, the least loaded rank first. Ranks of equal load are alike, so one of them is
/// tried; a branch ends where a rank would be no better than the best known placement, or where what is left does not
/// fit into the room of all ranks together. This is complete greedy search (R. E. Korf 1998).
class complete_search {
  public:
    static constexpr std::size_t most_items = 24;

    void reserve(std::size_t ranks) { loads_.reserve(std::min(ranks, most_items)); }

    /// @param weights  In falling order, at most `most_items`.
    /// @param busiest  The best known load, and its placement in `rank_of`; improved where possible.
    /// @param goal     Good enough to stop.
    /// @return         Whether everything was tried, so that `busiest` is the optimum.
    bool operator()(std::span<std::uint64_t const> weights, std::size_t ranks, std::uint64_t goal,
                    std::uint64_t& busiest, std::span<std::uint32_t> rank_of, step_budget& steps) {
        weights_ = weights;
        goal_ = goal;
        busiest_ = &busiest;
        rank_of_ = rank_of;
        steps_ = &steps;
        // More ranks than items stay idle.
        loads_.assign(std::min(ranks, weights.size()), 0);
        left_ = 0;
        for (auto const weight : weights) {
            left_ += weight;
        }
        return !place(0);
    }

  private:
    /// Returns true when there is no need to go on.
    bool place(std::size_t item) {
        if (item == weights_.size()) {
            *busiest_ = *std::ranges::max_element(loads_);
            std::copy_n(chosen_.begin(), item, rank_of_.begin());
            return *busiest_ <= goal_;
        }
        std::uint64_t homeless = left_;
        for (auto const load : loads_) {
            homeless -= std::min(homeless, *busiest_ - 1 - std::min(load, *busiest_ - 1));
        }
        if (homeless > 0) {
            return false;
        }
        std::uint64_t const weight = weights_[item];
        left_ -= weight;
        bool stop = false;
        std::uint64_t tried = 0;
        for (bool first = true; !stop; first = false) {
            steps_->spend(2 * loads_.size());
            if (steps_->exhausted()) {
                stop = true;
                break;
            }
            // The least load that was not tried yet, of the first rank that has it.
            std::size_t best = loads_.size();
            for (std::size_t rank = 0; rank < loads_.size(); ++rank) {
                if ((first || loads_[rank] > tried) && (best == loads_.size() || loads_[rank] < loads_[best])) {
                    best = rank;
                }
            }
            if (best == loads_.size() || weight >= *busiest_ - std::min(loads_[best], *busiest_)) {
                break;
            }
            tried = loads_[best];
            loads_[best] += weight;
            chosen_[item] = static_cast<std::uint32_t>(best);
            stop = place(item + 1);
            loads_[best] -= weight;
        }
        left_ += weight;
        return stop;
    }

    std::span<std::uint64_t const> weights_;
    std::uint64_t goal_ = 0;
    std::uint64_t* busiest_ = nullptr;
    std::span<std::uint32_t> rank_of_;
    step_budget* steps_ = nullptr;
    std::vector<std::uint64_t> loads_;
    std::array<std::uint32_t, most_items> chosen_{};
    std::uint64_t left_ = 0;
};

}  // namespace evenkeel::detail
