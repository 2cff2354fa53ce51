// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/cheapest_cover.hpp>
#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Chooses what a node gives away to lose a given weight, at least cost.
///
/// The cheapest items per weight first, as long as they are not too heavy, which is what the relaxation to items that
/// can be cut says; then, for what is left, the best one, two or three of all others, or any of the next sixteen.
class export_choice {
  public:
    void reserve(std::size_t items) {
        chosen_.reserve(items);
        is_taken_.reserve(items);
    }

    /// @param items    In the order in which they are to be given away; their weights add up to less than 2^64.
    /// @param falling  Whether that is also the order of falling weights.
    /// @param excess   What is to be lost, at least 1 and at most the weight of all items.
    void operator()(std::span<export_item const> items, bool falling, std::uint64_t excess, step_budget& steps) {
        items_ = items;
        chosen_.clear();
        weight_ = 0;
        cost_ = 0;
        if (falling) {
            choose_falling(excess, steps);
        } else {
            choose_in_order(excess, steps);
        }
    }

    /// What was chosen: positions in `items`.
    [[nodiscard]] std::span<std::uint32_t const> positions() const noexcept { return chosen_; }
    [[nodiscard]] std::uint64_t weight() const noexcept { return weight_; }
    [[nodiscard]] std::uint64_t cost() const noexcept { return cost_; }

  private:
    static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();

    struct finish {
        std::uint64_t cost = nothing;
        std::uint64_t weight = nothing;
        std::array<std::uint32_t, 3> positions{};
        std::size_t size = 0;
    };

    void take_one(std::size_t position) {
        chosen_.push_back(static_cast<std::uint32_t>(position));
        weight_ += items_[position].weight;
        cost_ += items_[position].cost;
    }

    void choose_falling(std::uint64_t excess, step_budget& steps) {
        std::size_t first = 0;
        // What two items can do, the search for two does better.
        while (first + 1 < items_.size() && items_[first].weight < excess &&
               items_[first + 1].weight < excess - items_[first].weight) {
            excess -= items_[first].weight;
            take_one(first++);
        }
        std::uint64_t const fine = excess + std::min(excess / 512, nothing - excess);
        std::size_t const taken = chosen_.size();
        finish best;
        pair_from(first, excess, excess + (fine - excess) / 2, best);
        steps.spend(2 * (items_.size() - first) + taken);
        if (best.weight <= fine) {
            take(best);
            return;
        }
        constexpr std::size_t thirds = 12;
        std::size_t const rest = items_.size() - first;
        for (std::size_t number = 0; number < thirds && best.weight > fine && rest >= 3; ++number) {
            std::size_t const third = first + rest * (2 * number + 1) / (2 * thirds);
            if (items_[third].weight < excess) {
                triple_with(first, third, excess, best);
                steps.spend(2 * rest);
            }
        }
        // A few heavy ones first leave less to hit, and more to hit it with.
        finish lighter;
        std::uint64_t left = excess;
        std::size_t kept = taken;
        for (std::size_t turn = 0; turn < 4 && best.weight > fine; ++turn) {
            while (first < items_.size() && items_[first].weight >= left) {
                ++first;
            }
            if (first == items_.size()) {
                break;
            }
            left -= items_[first].weight;
            take_one(first++);
            finish after;
            pair_from(first, left, left, after);
            steps.spend(2 * (items_.size() - first));
            if (after.cost != nothing && cost_ - cost_at(taken) + after.cost < best.cost) {
                best.cost = cost_ - cost_at(taken) + after.cost;
                best.weight = excess - left + after.weight;
                lighter = after;
                kept = chosen_.size();
            }
        }
        while (chosen_.size() > kept) {
            weight_ -= items_[chosen_.back()].weight;
            cost_ -= items_[chosen_.back()].cost;
            chosen_.pop_back();
        }
        take(kept > taken ? lighter : best);
    }

    /// The cost of the first `count` chosen ones.
    [[nodiscard]] std::uint64_t cost_at(std::size_t count) const noexcept {
        std::uint64_t cost = 0;
        for (std::size_t index = 0; index < count; ++index) {
            cost += items_[chosen_[index]].cost;
        }
        return cost;
    }

    void take(finish const& found) {
        for (std::size_t index = 0; index < found.size; ++index) {
            take_one(found.positions[index]);
        }
    }

    void offer(std::initializer_list<std::size_t> positions, finish& best) const {
        finish found{.cost = 0, .weight = 0, .positions = {}, .size = 0};
        for (std::size_t const position : positions) {
            found.cost += items_[position].cost;
            found.weight += items_[position].weight;
            found.positions[found.size++] = static_cast<std::uint32_t>(position);
        }
        if (found.cost < best.cost || (found.cost == best.cost && found.weight < best.weight)) {
            best = found;
        }
    }

    /// The cheapest one or two items of enough weight, `from` on; or the first of no more than `fine`.
    void pair_from(std::size_t from, std::uint64_t excess, std::uint64_t fine, finish& best) const {
        std::size_t low = from;
        std::size_t high = items_.size();
        while (low < high && best.weight > fine) {
            if (items_[low].weight >= excess) {
                offer({low}, best);
                ++low;
            } else if (low + 1 < high && items_[low].weight + items_[high - 1].weight >= excess) {
                offer({low, high - 1}, best);
                ++low;
            } else {
                --high;
            }
        }
    }

    void triple_with(std::size_t from, std::size_t third, std::uint64_t excess, finish& best) const {
        std::uint64_t const rest = excess - items_[third].weight;
        std::size_t low = from;
        std::size_t high = items_.size();
        while (low + 1 < high) {
            if (low == third) {
                ++low;
            } else if (high - 1 == third) {
                --high;
            } else if (items_[low].weight + items_[high - 1].weight >= rest) {
                offer({third, low, high - 1}, best);
                ++low;
            } else {
                --high;
            }
        }
    }

    void choose_in_order(std::uint64_t excess, step_budget& steps) {
        is_taken_.assign(items_.size(), 0);
        std::uint64_t left = excess;
        for (std::size_t position = 0; position < items_.size() && left > 0; ++position) {
            if (items_[position].weight <= left) {
                left -= items_[position].weight;
                is_taken_[position] = 1;
                take_one(position);
            }
        }
        steps.spend(2 * items_.size());
        if (left == 0) {
            return;
        }
        // Whatever was not taken is heavier than what is left. The last ones taken are up for revision, together with
        // the cheapest of the others.
        std::size_t size = 0;
        for (; size < open_.size() / 4 && !chosen_.empty(); ++size) {
            std::uint32_t const position = chosen_.back();
            chosen_.pop_back();
            open_[size] = position;
            left += items_[position].weight;
            weight_ -= items_[position].weight;
            cost_ -= items_[position].cost;
        }
        for (std::size_t position = 0; position < items_.size() && size < open_.size(); ++position) {
            if (is_taken_[position] == 0) {
                open_[size++] = static_cast<std::uint32_t>(position);
            }
        }
        std::uint32_t subset = cover_(items_, std::span{open_}.first(size), left, steps);
        for (; subset != 0; subset &= subset - 1) {
            take_one(open_[static_cast<std::size_t>(std::countr_zero(subset))]);
        }
    }

    std::span<export_item const> items_;
    std::vector<std::uint32_t> chosen_;
    std::vector<std::uint8_t> is_taken_;
    std::uint64_t weight_ = 0;
    std::uint64_t cost_ = 0;
    std::array<std::uint32_t, cheapest_cover::most_items> open_{};
    cheapest_cover cover_;
};

}  // namespace evenkeel::detail
