// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <evenkeel/solve/detail/placement.hpp>

namespace evenkeel::detail {

/// The ranks below a target load, the one with most room first, the first of several.
///
/// A heap in which entries may be out of date: whoever changes a load pushes the rank again, and what no longer agrees
/// with the load is skipped.
class room_queue {
  public:
    void reserve(std::size_t ranks) {
        most_entries_ = 2 * ranks + 2;
        heap_.reserve(most_entries_);
    }

    void reset(placement const& loads, std::uint64_t target) {
        loads_ = &loads;
        target_ = target;
        fill();
    }

    /// Lets `rank` be found, if it has room.
    void push(std::uint32_t rank) {
        if (loads_->load(rank) >= target_) {
            return;
        }
        if (heap_.size() == most_entries_) {
            fill();
        } else {
            heap_.push_back({target_ - loads_->load(rank), rank});
            std::ranges::push_heap(heap_, has_less_room{});
        }
    }

    /// Takes the rank with most room out.
    [[nodiscard]] std::optional<std::uint32_t> pop() {
        while (!heap_.empty()) {
            auto const [room, rank] = heap_.front();
            std::ranges::pop_heap(heap_, has_less_room{});
            heap_.pop_back();
            if (loads_->load(rank) + room == target_) {
                return rank;
            }
        }
        return std::nullopt;
    }

  private:
    struct entry {
        std::uint64_t room;
        std::uint32_t rank;
    };

    /// An object and no function, so that the heap's loops have it in place, and without a branch.
    struct has_less_room {
        [[nodiscard]] bool operator()(entry const& a, entry const& b) const noexcept {
            return (a.room < b.room) | ((a.room == b.room) & (a.rank > b.rank));
        }
    };

    void fill() {
        heap_.clear();
        for (std::size_t rank = 0; rank < loads_->ranks(); ++rank) {
            if (loads_->load(rank) < target_) {
                heap_.push_back({target_ - loads_->load(rank), static_cast<std::uint32_t>(rank)});
            }
        }
        std::ranges::make_heap(heap_, has_less_room{});
    }

    placement const* loads_ = nullptr;
    std::uint64_t target_ = 0;
    std::vector<entry> heap_;
    std::size_t most_entries_ = 0;  ///< not the room that an earlier, larger batch has left
};

}  // namespace evenkeel::detail
