// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/remaining_items.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// A start for batches with few items per rank: fills one rank after the other exactly to a target load.
///
/// Each rank gets the heaviest item left and then, while sizes are still plentiful, the fewest others that fill it, found
/// depth first with the last one looked up. So the room that the target leaves over all ends up with the last ranks, an
/// eighth of all, which get the rest longest first. They will be uneven, but pool much room: `repair` does the rest.
class exact_fill {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        items_.reserve(items);
        rest_.reserve(items);
        rest_weights_.reserve(items);
        rest_ranks_.reserve(items);
        longest_.reserve(ranks);
    }

    /// @param weights  In falling order.
    /// @param total    Their sum, at most ranks * target.
    /// @param rank_of  Filled with the rank of each item.
    void operator()(std::span<std::uint64_t const> weights, std::uint64_t total, std::size_t ranks,
                    std::uint64_t target, std::span<std::uint32_t> rank_of, step_budget& steps) {
        items_.reset(weights);
        std::ranges::fill(rank_of, unplaced);
        std::size_t const last = ranks - std::min(ranks, std::max<std::size_t>(4, ranks / 8));
        std::uint32_t rank = 0;
        for (; rank < last && !items_.empty(); ++rank) {
            std::uint32_t const heaviest = items_.first_from(0);
            std::uint64_t load = items_.weight(heaviest);
            rank_of[items_.take(heaviest)] = rank;
            // The room is for all ranks that are left, in equal shares.
            std::uint64_t const left = ranks - rank;
            std::uint64_t const mean = total / left + (total % left != 0 ? 1 : 0);
            complete(target - load, target - std::min(target, mean), steps);
            for (auto const number : std::span{best_}.first(best_size_)) {
                load += items_.weight(number);
                rank_of[items_.take(number)] = rank;
            }
            total -= load;
        }
        place_rest(weights, total, rank, ranks, rank_of);
    }

  private:
    static constexpr std::uint32_t unplaced = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t most_items = 16;
    static constexpr std::size_t most_nodes = 100;

    /// Leaves in `best_` the classes of the items that fill `room` best, to `waste` if the search finds it in time.
    void complete(std::uint64_t room, std::uint64_t waste, step_budget& steps) {
        best_size_ = 0;
        best_waste_ = room;
        waste_ = waste;
        nodes_ = 0;
        for (std::size_t count = 1; count <= most_items && best_waste_ > waste_ && !items_.empty() &&
                                    items_.lightest_weight() <= room / count && nodes_ < most_nodes;
             ++count) {
            search(room, 0, count, 0);
        }
        steps.spend(4 * nodes_ + 4);
    }

    /// Adds `count` items of class `from` on to the `chosen_` ones; true when there is no need to go on.
    bool search(std::uint64_t room, std::size_t chosen, std::size_t count, std::uint32_t from) {
        if (++nodes_ > most_nodes) {
            return true;
        }
        if (count == 1) {
            std::uint32_t const number = items_.heaviest_at_most(room, from);
            if (number == items_.end() || room - items_.weight(number) >= best_waste_) {
                return false;
            }
            chosen_[chosen] = number;
            best_ = chosen_;
            best_size_ = chosen + 1;
            best_waste_ = room - items_.weight(number);
            return best_waste_ <= waste_;
        }
        std::uint64_t const lightest = items_.lightest_weight();
        if (lightest > room / count) {
            return false;
        }
        std::uint32_t number = items_.heaviest_at_most(room - (count - 1) * lightest, from);
        for (; number != items_.end(); number = items_.first_from(number + 1)) {
            // `count` items that are no heavier than this one cannot fill the room better.
            if (room > best_waste_ && items_.weight(number) <= (room - best_waste_) / count) {
                return false;
            }
            chosen_[chosen] = number;
            items_.hold(number);
            bool const stop = search(room - items_.weight(number), chosen + 1, count - 1, number);
            items_.release(number);
            if (stop) {
                return true;
            }
        }
        return false;
    }

    /// Longest first for what is left, over the ranks that are left.
    void place_rest(std::span<std::uint64_t const> weights, std::uint64_t total, std::uint32_t first_rank,
                    std::size_t ranks, std::span<std::uint32_t> rank_of) {
        rest_.clear();
        rest_weights_.clear();
        for (std::uint32_t item = 0; item < weights.size(); ++item) {
            if (rank_of[item] == unplaced) {
                rest_.push_back(item);
                rest_weights_.push_back(weights[item]);
            }
        }
        rest_ranks_.resize(rest_.size());
        longest_(rest_weights_, total, ranks - first_rank, rest_ranks_);
        for (std::size_t index = 0; index < rest_.size(); ++index) {
            rank_of[rest_[index]] = first_rank + rest_ranks_[index];
        }
    }

    remaining_items items_;
    std::array<std::uint32_t, most_items> chosen_{};
    std::array<std::uint32_t, most_items> best_{};
    std::size_t best_size_ = 0;
    std::uint64_t best_waste_ = 0;
    std::uint64_t waste_ = 0;
    std::size_t nodes_ = 0;

    std::vector<std::uint32_t> rest_;
    std::vector<std::uint64_t> rest_weights_;
    std::vector<std::uint32_t> rest_ranks_;
    longest_first longest_;
};

}  // namespace evenkeel::detail
