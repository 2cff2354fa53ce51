// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/search.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Brings every rank of one node down to a target load by moving items inside the node.
///
/// First by moves and exchanges from where the items are. If that fails, from scratch; the batches then go to the ranks of
/// the node that keep most of them.
class node_packing {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        placement_.reserve(items, ranks);
        repair_.reserve(items, ranks);
        local_.reserve(items);
        kept_.reserve(ranks * ranks);
        rank_of_batch_.reserve(ranks);
        batch_on_.reserve(ranks);
        for (auto* const numbers : {&inner_.positions, &inner_.spare_positions}) {
            numbers->reserve(items);
        }
        inner_.weights.reserve(items);
    }

    /// @return  Whether every rank of the node is at the target or below.
    bool operator()(stay_state& state, std::uint32_t node, std::uint64_t target, longest_first& longest,
                    search& searching, step_budget& steps) {
        auto const ranks = state.ranks()[node];
        if (std::all_of(ranks.begin(), ranks.end(), [&](auto rank) { return state.rank_load(rank) <= target; })) {
            return ranks.size() > 0 || state.nodes().load(node) == 0;
        }
        std::uint64_t const load = state.nodes().load(node);
        if (load / ranks.size() > target || (load / ranks.size() == target && load % ranks.size() != 0)) {
            return false;
        }
        auto const weights = state.nodes().weights(node);
        auto const numbers = state.nodes().items(node);
        local_.resize(weights.size());
        for (std::size_t position = 0; position < weights.size(); ++position) {
            local_[position] = state.ranks().local[state.rank_of(numbers[position])];
        }
        placement_.reset(weights, local_, ranks.size());
        steps.spend(2 * weights.size());
        fill_rooms(target, steps);
        step_budget part = steps.part(std::max<std::uint64_t>(20'000, 64 * weights.size()));
        // With so few ranks any step down helps, be the room it leaves behind as large as it may.
        bool const reached = repair_(placement_, target, target / 4, 0, part);
        steps.give_back(part);
        if (reached) {
            placement_.store(local_);
        } else if (!pack_anew(state, node, target, longest, searching, steps)) {
            return false;
        }
        for (std::size_t position = 0; position < numbers.size(); ++position) {
            state.seat(numbers[position], ranks[local_[position]]);
        }
        return true;
    }

  private:
    /// Moves that bring nothing back: from the busiest rank to the one with most room, the heaviest item that the excess
    /// and the room allow.
    void fill_rooms(std::uint64_t target, step_budget& steps) {
        while (true) {
            std::uint32_t busiest = 0;
            std::uint32_t roomiest = 0;
            for (std::uint32_t rank = 1; rank < placement_.ranks(); ++rank) {
                busiest = placement_.load(rank) > placement_.load(busiest) ? rank : busiest;
                roomiest = placement_.load(rank) < placement_.load(roomiest) ? rank : roomiest;
            }
            steps.spend(placement_.ranks());
            if (placement_.load(busiest) <= target || placement_.load(roomiest) >= target) {
                return;
            }
            std::uint64_t const most = std::min(placement_.load(busiest) - target, target - placement_.load(roomiest));
            auto const weights = placement_.weights(busiest);
            auto const found = std::partition_point(weights.begin(), weights.end(),
                                                    [&](std::uint64_t weight) { return weight > most; });
            if (found == weights.end() || *found < most / 4) {
                return;
            }
            auto const position = static_cast<std::size_t>(found - weights.begin());
            std::uint32_t const item = placement_.items(busiest)[position];
            std::uint64_t const weight = *found;
            placement_.remove(busiest, position);
            placement_.insert(roomiest, item, weight);
        }
    }

    bool pack_anew(stay_state& state, std::uint32_t node, std::uint64_t target, longest_first& longest,
                   search& searching, step_budget& steps) {
        auto const ranks = state.ranks()[node];
        auto const weights = state.nodes().weights(node);
        inner_.weights.assign(weights.begin(), weights.end());
        inner_.total = state.nodes().load(node);
        standing best{.busiest = longest(inner_.weights, inner_.total, ranks.size(), local_), .bound = 0};
        step_budget part = steps.part(std::max<std::uint64_t>(50'000, 128 * weights.size()));
        searching(inner_, ranks.size(), target, local_, best, part);
        if (best.busiest > target) {
            return false;
        }
        seat_batches(state, node);
        return true;
    }

    /// Renames the batches in `local_` so that they keep their ranks, those with most to keep first.
    void seat_batches(stay_state& state, std::uint32_t node) {
        auto const ranks = state.ranks()[node];
        auto const numbers = state.nodes().items(node);
        kept_.assign(ranks.size() * ranks.size(), {0, 0, 0});
        for (std::uint32_t batch = 0; batch < ranks.size(); ++batch) {
            for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
                kept_[batch * ranks.size() + rank] = {0, batch, rank};
            }
        }
        for (std::size_t position = 0; position < numbers.size(); ++position) {
            std::uint32_t const home = state.items().home_rank[numbers[position]];
            if (home != no_rank && state.node_of_rank(home) == node) {
                std::get<0>(kept_[local_[position] * ranks.size() + state.ranks().local[home]]) +=
                    state.items().bytes[numbers[position]];
            }
        }
        std::sort(kept_.begin(), kept_.end(), [](auto const& a, auto const& b) {
            return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b) : a < b;
        });
        rank_of_batch_.assign(ranks.size(), no_rank);
        batch_on_.assign(ranks.size(), no_rank);
        for (auto const& [bytes, batch, rank] : kept_) {
            if (rank_of_batch_[batch] == no_rank && batch_on_[rank] == no_rank) {
                rank_of_batch_[batch] = rank;
                batch_on_[rank] = batch;
            }
        }
        for (auto& local : local_) {
            local = rank_of_batch_[local];
        }
    }

    placement placement_;
    repair repair_;
    std::vector<std::uint32_t> local_;  ///< of each item of the node, its rank among those of the node
    sorted_items inner_;
    std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> kept_;  ///< bytes, batch, rank
    std::vector<std::uint32_t> rank_of_batch_;
    std::vector<std::uint32_t> batch_on_;
};

}  // namespace evenkeel::detail
