// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/solve/detail/remaining_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Finds the fewest of the remaining items that fill the room of one rank: depth first, heavy ones first, the last one
/// looked up.
class room_filler {
  public:
    /// @param waste  How much room may stay free.
    /// @return       The classes of the items that fill `room` best; within `waste` if the search finds that in time.
    [[nodiscard]] std::span<std::uint32_t const> operator()(remaining_items& items, std::uint64_t room,
                                                            std::uint64_t waste, step_budget& steps) {
        items_ = &items;
        best_size_ = 0;
        best_waste_ = room;
        waste_ = waste;
        nodes_ = 0;
        for (std::size_t count = 1; count <= most_items && best_waste_ > waste_ && !items.empty() &&
                                    items.lightest_weight() <= room / count && nodes_ < most_nodes;
             ++count) {
            search(room, 0, count, 0);
        }
        steps.spend(4 * nodes_ + 4);
        return std::span{best_}.first(best_size_);
    }

  private:
    static constexpr std::size_t most_items = 16;
    static constexpr std::size_t most_nodes = 100;

    /// Adds `count` items of class `from` on to the `chosen` ones; true when there is no need to go on.
    bool search(std::uint64_t room, std::size_t chosen, std::size_t count, std::uint32_t from) {
        if (++nodes_ > most_nodes) {
            return true;
        }
        if (count == 1) {
            std::uint32_t const number = items_->heaviest_at_most(room, from);
            if (number == items_->end() || room - items_->weight(number) >= best_waste_) {
                return false;
            }
            chosen_[chosen] = number;
            best_size_ = chosen + 1;
            std::copy_n(chosen_.begin(), best_size_, best_.begin());
            best_waste_ = room - items_->weight(number);
            return best_waste_ <= waste_;
        }
        std::uint64_t const lightest = items_->lightest_weight();
        if (lightest > room / count) {
            return false;
        }
        std::uint32_t number = items_->heaviest_at_most(room - (count - 1) * lightest, from);
        for (; number != items_->end(); number = items_->first_from(number + 1)) {
            // `count` items that are no heavier than this one cannot fill the room better.
            if (room > best_waste_ && items_->weight(number) <= (room - best_waste_) / count) {
                return false;
            }
            chosen_[chosen] = number;
            items_->hold(number);
            bool const stop = search(room - items_->weight(number), chosen + 1, count - 1, number);
            items_->release(number);
            if (stop) {
                return true;
            }
        }
        return false;
    }

    remaining_items* items_ = nullptr;
    std::array<std::uint32_t, most_items> chosen_{};
    std::array<std::uint32_t, most_items> best_{};
    std::size_t best_size_ = 0;
    std::uint64_t best_waste_ = 0;
    std::uint64_t waste_ = 0;
    std::size_t nodes_ = 0;
};

}  // namespace evenkeel::detail
