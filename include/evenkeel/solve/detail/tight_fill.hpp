// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Starts for a few ranks with a few items each that leave as much room as possible to the last ranks.
///
/// One rank after the other gets the heaviest item left and the fewest others that fill it to the target, or nearly;
/// the rest goes to the last two to four ranks, longest first. These are uneven, but have most of the room there is.
/// Every number gives another start: another number of last ranks, another measure of "nearly", another of several
/// fillings.
class tight_fill {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        is_placed_.reserve(items);
        loads_.reserve(ranks);
    }

    /// @param weights  In falling order.
    /// @param total    Their sum, at most ranks * target.
    /// @param rank_of  Filled with the rank of each item.
    void operator()(std::span<std::uint64_t const> weights, std::uint64_t total, std::size_t ranks,
                    std::uint64_t target, std::size_t number, std::span<std::uint32_t> rank_of, step_budget& steps) {
        weights_ = weights;
        is_placed_.assign(weights.size(), 0);
        loads_.assign(ranks, 0);
        std::size_t const last = 2 + (number + 1) % 3;
        std::uint64_t const nearly = number % 2 == 0 ? 4 : 1;
        std::size_t const filled = ranks - std::min(ranks, last);
        std::size_t heaviest = 0;
        for (std::uint32_t rank = 0; rank < filled; ++rank) {
            while (heaviest < weights.size() && is_placed_[heaviest] != 0) {
                ++heaviest;
            }
            if (heaviest == weights.size()) {
                break;
            }
            std::uint64_t const slack = target * (ranks - rank) - total;
            skip_ = rank == number % filled ? number / filled : 0;
            put(heaviest, rank, rank_of);
            total -= weights[heaviest];
            find(target - weights[heaviest], slack / (nearly * (ranks - rank)), steps);
            for (std::size_t index = 0; index < best_size_; ++index) {
                put(best_[index], rank, rank_of);
                total -= weights[best_[index]];
            }
        }
        for (std::size_t item = 0; item < weights.size(); ++item) {
            if (is_placed_[item] == 0) {
                auto const lightest = std::min_element(loads_.begin(), loads_.end());
                put(item, static_cast<std::uint32_t>(lightest - loads_.begin()), rank_of);
            }
        }
    }

  private:
    static constexpr std::size_t most_items = 12;
    static constexpr std::size_t most_nodes = 400;

    void put(std::size_t item, std::uint32_t rank, std::span<std::uint32_t> rank_of) {
        is_placed_[item] = 1;
        loads_[rank] += weights_[item];
        rank_of[item] = rank;
    }

    /// Leaves in `best_` the items that fill `room` best, to `waste` if the search finds it in time.
    void find(std::uint64_t room, std::uint64_t waste, step_budget& steps) {
        best_size_ = 0;
        best_waste_ = room;
        waste_ = waste;
        nodes_ = 0;
        std::uint64_t lightest = 0;
        for (std::size_t item = weights_.size(); item-- > 0 && lightest == 0;) {
            lightest = is_placed_[item] == 0 ? weights_[item] : 0;
        }
        lightest_ = lightest;
        for (std::size_t count = 1; lightest > 0 && count <= most_items && count * lightest <= room; ++count) {
            if (search(room, 0, count, 0)) {
                break;
            }
        }
        steps.spend(8 * nodes_ + weights_.size());
    }

    /// Adds `count` items, `from` on, to the `chosen_` ones; true when there is no need to go on.
    bool search(std::uint64_t room, std::size_t chosen, std::size_t count, std::size_t from) {
        if (++nodes_ > most_nodes) {
            return true;
        }
        std::uint64_t const rest = (count - 1) * lightest_;
        if (rest >= room) {
            return false;
        }
        std::size_t item = static_cast<std::size_t>(
            std::partition_point(weights_.begin() + static_cast<std::ptrdiff_t>(from), weights_.end(),
                                 [&](std::uint64_t weight) { return weight > room - rest; }) -
            weights_.begin());
        std::uint64_t tried = 0;
        for (; item < weights_.size(); ++item) {
            std::uint64_t const weight = weights_[item];
            if (is_placed_[item] != 0 || weight == tried) {
                continue;
            }
            tried = weight;
            // `count` items that are no heavier than this one cannot fill the room better.
            if (room > best_waste_ && weight <= (room - best_waste_) / count) {
                return false;
            }
            chosen_[chosen] = item;
            if (count == 1) {
                if (room - weight <= waste_ && skip_ > 0) {
                    --skip_;
                    return false;
                }
                best_ = chosen_;
                best_size_ = chosen + 1;
                best_waste_ = room - weight;
                return best_waste_ <= waste_;
            }
            is_placed_[item] = 1;
            bool const stop = search(room - weight, chosen + 1, count - 1, item + 1);
            is_placed_[item] = 0;
            if (stop) {
                return true;
            }
        }
        return false;
    }

    std::span<std::uint64_t const> weights_;
    std::vector<std::uint8_t> is_placed_;
    std::vector<std::uint64_t> loads_;
    std::array<std::size_t, most_items> chosen_{};
    std::array<std::size_t, most_items> best_{};
    std::size_t best_size_ = 0;
    std::uint64_t best_waste_ = 0;
    std::uint64_t waste_ = 0;
    std::uint64_t lightest_ = 0;
    std::size_t skip_ = 0;
    std::size_t nodes_ = 0;
};

}  // namespace evenkeel::detail
