// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <evenkeel/solve/detail/mixed_sizes.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Tries every partition of a few items that could be better than the best known: what it ends with is the optimum.
///
/// Depth first, heaviest item first, so that a batch's longest is its first and each further item adds to the load what
/// it will add in the end. Batches with the same longest and the same load are alike, so one of them is tried. A branch
/// ends where a batch would be no better than the best known, or where what is left, even unpadded, exceeds the room.
class mixed_complete {
  public:
    static constexpr std::size_t most_items = 16;

    /// @param busiest  The best known load, and its placement in `rank_of`; improved where possible.
    /// @return         Whether everything was tried, so that `busiest` is the optimum.
    bool operator()(mixed_sizes const& sizes, std::size_t ranks, std::uint64_t goal, std::uint64_t& busiest,
                    std::span<std::uint32_t> rank_of, step_budget& steps) {
        sizes_ = &sizes;
        // More ranks than items stay idle.
        ranks_ = std::min(ranks, sizes.items());
        goal_ = goal;
        best_ = busiest;
        rank_of_ = rank_of;
        steps_ = &steps;
        loads_.fill(0);
        padding_.fill(0);
        homeless_ = sizes.total;
        bool const complete = !place(0);
        busiest = best_;
        return complete;
    }

  private:
    /// Returns true when there is no need to go on.
    bool place(std::size_t item) {
        if (item == sizes_->items()) {
            best_ = *std::max_element(loads_.begin(), loads_.begin() + static_cast<std::ptrdiff_t>(ranks_));
            std::copy_n(chosen_.begin(), item, rank_of_.begin());
            return best_ <= goal_;
        }
        steps_->spend(2 * ranks_);
        if (steps_->exhausted()) {
            return true;
        }
        std::uint64_t beyond = homeless_;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            beyond -= std::min(beyond, best_ - 1 - std::min(loads_[rank], best_ - 1));
        }
        if (beyond > 0) {
            return false;
        }
        std::uint32_t const size = sizes_->of_item[item];
        homeless_ -= sizes_->whole(size);
        bool stop = false;
        for (std::size_t rank = 0; rank < ranks_ && !stop; ++rank) {
            bool const idle = loads_[rank] == 0;
            std::uint64_t const padding = idle ? sizes_->padded[size] : padding_[rank];
            std::uint64_t const load = loads_[rank] + padding + sizes_->packed[size];
            if (load < best_ && !seen_before(rank)) {
                auto const before =
                    std::pair{std::exchange(loads_[rank], load), std::exchange(padding_[rank], padding)};
                chosen_[item] = static_cast<std::uint32_t>(rank);
                stop = place(item + 1);
                loads_[rank] = before.first;
                padding_[rank] = before.second;
            }
        }
        homeless_ += sizes_->whole(size);
        return stop;
    }

    [[nodiscard]] bool seen_before(std::size_t rank) const noexcept {
        for (std::size_t other = 0; other < rank; ++other) {
            if (loads_[other] == loads_[rank] && padding_[other] == padding_[rank]) {
                return true;
            }
        }
        return false;
    }

    mixed_sizes const* sizes_ = nullptr;
    std::size_t ranks_ = 0;
    std::uint64_t goal_ = 0;
    std::uint64_t best_ = 0;
    std::span<std::uint32_t> rank_of_;
    step_budget* steps_ = nullptr;
    std::uint64_t homeless_ = 0;
    std::array<std::uint64_t, most_items> loads_{};
    std::array<std::uint64_t, most_items> padding_{};  ///< what each further item of a batch is padded to
    std::array<std::uint32_t, most_items> chosen_{};
};

}  // namespace evenkeel::detail
