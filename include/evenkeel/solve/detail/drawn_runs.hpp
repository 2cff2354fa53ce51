// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// Who has drawn the item at a position of the batch, where each rank has drawn as many that follow one another: a
/// table of the ranks is at hand where one of all items is not.
class drawn_runs {
  public:
    /// @param most  How many runs there may be.
    void start(std::size_t most) {
        ranks_.clear();
        ranks_.reserve(most);
        most_ = most;
        even_ = true;
    }

    /// The next items, at least one, in the order of the batch, are of `rank`.
    void add(std::uint32_t rank, std::size_t first, std::size_t size) {
        per_rank_ = ranks_.empty() ? size : per_rank_;
        even_ = even_ && rank != no_rank && first == ranks_.size() * per_rank_ && size <= per_rank_ &&
                ranks_.size() < most_;
        if (even_) {
            ranks_.push_back(rank);
        }
    }

    /// Whether all runs are of one size, but for a last one that may be shorter, and `rank_of` knows them.
    [[nodiscard]] bool even(std::size_t items) noexcept {
        bool const known = even_ && !ranks_.empty() && items <= (std::uint64_t{1} << 32) / per_rank_;
        reciprocal_ = known ? (std::uint64_t{1} << 32) / per_rank_ + 1 : 0;
        return known;
    }

    /// Divides by multiplying: exact, as position * per_rank is less than 2^32 (T. Granlund, P. L. Montgomery 1994).
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t position) const noexcept {
        return ranks_[position * reciprocal_ >> 32];
    }

  private:
    std::vector<std::uint32_t> ranks_;
    std::size_t most_ = 0;
    std::size_t per_rank_ = 0;
    std::uint64_t reciprocal_ = 0;
    bool even_ = false;
};

}  // namespace evenkeel::detail
