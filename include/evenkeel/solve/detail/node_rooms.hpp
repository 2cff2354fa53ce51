// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/placement.hpp>

namespace evenkeel::detail {

/// The nodes below their caps, the one with most room first, the first of several.
///
/// As `room_queue`, but with a cap for each: entries may be out of date and are then skipped.
class node_rooms {
  public:
    void reserve(std::size_t nodes) {
        most_entries_ = 2 * nodes + 2;
        heap_.reserve(most_entries_);
    }

    void reset(placement const& loads, std::span<std::uint64_t const> caps) {
        loads_ = &loads;
        caps_ = caps;
        fill();
    }

    [[nodiscard]] std::uint64_t room(std::uint32_t node) const noexcept {
        return caps_[node] - std::min(caps_[node], loads_->load(node));
    }

    /// Lets `node` be found, if it has room; to be called when its load or its cap has changed.
    void push(std::uint32_t node) {
        if (room(node) == 0) {
            return;
        }
        if (heap_.size() == most_entries_) {
            fill();
        } else {
            heap_.push_back({room(node), node});
            std::push_heap(heap_.begin(), heap_.end(), has_less_room{});
        }
    }

    /// Takes the node with most room out.
    [[nodiscard]] std::optional<std::uint32_t> pop() {
        while (!heap_.empty()) {
            auto const [room_then, node] = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end(), has_less_room{});
            heap_.pop_back();
            if (room(node) == room_then) {
                return node;
            }
        }
        return std::nullopt;
    }

  private:
    struct entry {
        std::uint64_t room;
        std::uint32_t node;
    };

    /// An object and no function, so that the heap's loops have it in place, and without a branch.
    struct has_less_room {
        [[nodiscard]] bool operator()(entry const& a, entry const& b) const noexcept {
            return (a.room < b.room) | ((a.room == b.room) & (a.node > b.node));
        }
    };

    void fill() {
        heap_.clear();
        for (std::uint32_t node = 0; node < loads_->ranks(); ++node) {
            if (room(node) > 0) {
                heap_.push_back({room(node), node});
            }
        }
        std::make_heap(heap_.begin(), heap_.end(), has_less_room{});
    }

    placement const* loads_ = nullptr;
    std::span<std::uint64_t const> caps_;
    std::vector<entry> heap_;
    std::size_t most_entries_ = 0;  ///< not the room that an earlier, larger batch has left
};

}  // namespace evenkeel::detail
