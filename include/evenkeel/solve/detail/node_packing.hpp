// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/batch_renaming.hpp>
#include <evenkeel/solve/detail/fill_rooms.hpp>
#include <evenkeel/solve/detail/nearest_shares.hpp>
#include <evenkeel/solve/detail/node_cargo.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/spill.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/tight_fill.hpp>

namespace evenkeel::detail {

/// Brings every rank of one node down to a target load by moving items inside the node.
///
/// First by moves and exchanges from where the items are, those of class 0 alone before all: of many items, moves alone
/// do nearly everything (`spill`). If that fails, from scratch, with one start after the other; the batches then go to
/// the ranks of the node that keep most of them. If nothing reaches the target, the ranks are left with what came
/// nearest.
class node_packing {
  public:
    static constexpr std::size_t most_starts = 12;

    void reserve(std::size_t items, std::size_t ranks) {
        cargo_.reserve(items, ranks);
        spill_.reserve(items, ranks);
        placement_.reserve(items, ranks);
        repair_.reserve(items, ranks);
        fill_.reserve(items, ranks);
        local_.reserve(items);
        nearest_.reserve(items);
        both_.reserve(items);
        weights_.reserve(items);
        loads_.reserve(ranks);
        renaming_.reserve(ranks);
    }

    /// @param starts  How many starts from scratch, at most `most_starts`.
    /// @return        Whether every rank of the node is at the target or below.
    bool operator()(stay_state& state, std::uint32_t node, std::uint64_t target, std::size_t starts,
                    step_budget& steps) {
        auto const ranks = state.ranks()[node];
        if (std::all_of(ranks.begin(), ranks.end(), [&](auto rank) { return state.rank_load(rank) <= target; })) {
            return !ranks.empty() || state.nodes().load(node) == 0;
        }
        if (state.nodes().load(node) > state.room_for(node, target)) {
            return false;
        }
        if (!state.items().classes().empty() && cargo_(state, node, target, steps)) {
            return true;
        }
        state.complete(node);
        auto const weights = state.nodes().weights(node);
        auto const numbers = state.nodes().items(node);
        local_.resize(weights.size());
        for (std::size_t position = 0; position < weights.size(); ++position) {
            local_[position] = state.ranks().local[state.rank_of(numbers[position])];
        }
        bool const many = weights.size() > many_per_rank * ranks.size();
        if (many && spill_over(state, node, target, steps)) {
            seat_moved(state, node);
            return true;
        }
        placement_.reset(weights, local_, ranks.size());
        add_ballast(state, node, 0);
        steps.spend(2 * weights.size());
        if (!many) {
            fill_rooms(placement_, target, steps);
        }
        nearest_.forget();
        bool packed = improve(target, 0, weights.size(), steps);
        if (packed) {
            if (placement_.changed_little()) {
                if (many) {
                    seat_moved(state, node);
                }
                for (auto const& [position, rank] : placement_.insertions()) {
                    state.seat(numbers[position], ranks[rank]);
                }
                return true;
            }
            placement_.store(local_);
        } else {
            if (nearest_.is_nearer(placement_, target)) {
                placement_.store(local_);
                nearest_.keep(local_);
            }
            packed = pack_anew(state, node, target, starts, steps);
            if (!packed) {
                local_.swap(nearest_.rank_of());
            }
        }
        for (std::size_t position = 0; position < numbers.size(); ++position) {
            std::uint32_t const rank = ranks[local_[position]];
            if (rank != state.rank_of(numbers[position])) {
                state.seat(numbers[position], rank);
            }
        }
        return packed;
    }

    /// The same for the ranks of two nodes together, by exchanges from where the items are: some will cross.
    bool operator()(stay_state& state, std::uint32_t a, std::uint32_t b, std::uint64_t target, std::size_t turn,
                    step_budget& steps) {
        state.complete(a);
        state.complete(b);
        both_.assign(state.nodes().items(a).begin(), state.nodes().items(a).end());
        both_.insert(both_.end(), state.nodes().items(b).begin(), state.nodes().items(b).end());
        std::ranges::sort(both_, [&](std::uint32_t x, std::uint32_t y) { return state.items().precedes(x, y); });
        weights_.clear();
        local_.clear();
        auto const of_a = static_cast<std::uint32_t>(state.ranks().size(a));
        for (auto const item : both_) {
            std::uint32_t const rank = state.rank_of(item);
            weights_.push_back(state.items().weight(item));
            local_.push_back(state.ranks().local[rank] + (state.node_of_rank(rank) == a ? 0 : of_a));
        }
        placement_.reset(weights_, local_, of_a + state.ranks().size(b));
        add_ballast(state, a, 0);
        add_ballast(state, b, of_a);
        steps.spend(4 * both_.size());
        if (!improve(target, turn, both_.size(), steps)) {
            return false;
        }
        placement_.store(local_);
        for (std::size_t position = 0; position < both_.size(); ++position) {
            std::uint32_t const from = state.node_of_rank(state.rank_of(both_[position]));
            std::uint32_t const to = local_[position] < of_a ? a : b;
            std::uint32_t const rank =
                to == a ? state.ranks()[a][local_[position]] : state.ranks()[b][local_[position] - of_a];
            if (from == to) {
                state.seat(both_[position], rank);
            } else {
                steps.spend(state.move(both_[position], from, to, rank));
            }
        }
        return true;
    }

  private:
    static constexpr std::size_t many_per_rank = 16;

    /// Moves items in `local_`; what moved is in `spill_`.
    bool spill_over(stay_state const& state, std::uint32_t node, std::uint64_t target, step_budget& steps) {
        spill_.clear();
        for (auto const rank : state.ranks()[node]) {
            spill_.add_rank(state.rank_load(rank), state.ballast().empty() ? 0 : state.ballast()[rank]);
        }
        return spill_(state.nodes().weights(node), local_, target, steps);
    }

    void seat_moved(stay_state& state, std::uint32_t node) const noexcept {
        auto const numbers = state.nodes().items(node);
        auto const weights = state.nodes().weights(node);
        for (auto const& [position, rank] : spill_.moves()) {
            state.seat(numbers[position], weights[position], state.ranks()[node][rank]);
        }
    }

    /// @param first  The place of the node's first rank in `placement_`.
    void add_ballast(stay_state const& state, std::uint32_t node, std::size_t first) {
        auto const ranks = state.ranks()[node];
        for (std::size_t local = 0; local < ranks.size() && !state.ballast().empty(); ++local) {
            placement_.add_load(first + local, state.ballast()[ranks[local]]);
        }
    }

    bool improve(std::uint64_t target, std::size_t turn, std::size_t items, step_budget& steps) {
        step_budget part = steps.part(std::max<std::uint64_t>(20'000, 64 * items));
        // With so few ranks any step down helps, be the room it leaves behind as large as it may.
        bool const many = items > many_per_rank * placement_.ranks();
        bool const reached = repair_(placement_, target, target / 4, turn, part, many);
        steps.give_back(part);
        return reached;
    }

    bool pack_anew(stay_state& state, std::uint32_t node, std::uint64_t target, std::size_t starts,
                   step_budget& steps) {
        auto const ranks = state.ranks()[node];
        auto const weights = state.nodes().weights(node);
        std::uint64_t const load = state.nodes().load(node);
        // Of many items, longest first does as well as anything. Ranks that are not alike cannot change batches.
        bool const alike = state.ballast().empty();
        bool const sparse = weights.size() <= many_per_rank * ranks.size() && alike;
        for (std::size_t start = 0; start < starts && (start == 0 || sparse) && !steps.exhausted(); ++start) {
            if (start == 0) {
                place_longest_first(state, node);
                steps.spend(weights.size() * ranks.size());
            } else {
                fill_(weights, load, ranks.size(), target, start - 1, local_, steps);
            }
            steps.spend(8 * weights.size());
            placement_.reset(weights, local_, ranks.size());
            add_ballast(state, node, 0);
            bool const reached = improve(target, start, weights.size(), steps);
            if (reached || nearest_.is_nearer(placement_, target)) {
                placement_.store(local_);
                if (alike) {
                    renaming_(state, node, local_);
                }
                if (reached) {
                    return true;
                }
                nearest_.keep(local_);
            }
        }
        return false;
    }

    void place_longest_first(stay_state const& state, std::uint32_t node) {
        auto const weights = state.nodes().weights(node);
        auto const ranks = state.ranks()[node];
        loads_.assign(ranks.size(), 0);
        for (std::size_t local = 0; local < ranks.size() && !state.ballast().empty(); ++local) {
            loads_[local] = state.ballast()[ranks[local]];
        }
        for (std::size_t item = 0; item < weights.size(); ++item) {
            auto const lightest = std::min_element(loads_.begin(), loads_.end());
            *lightest += weights[item];
            local_[item] = static_cast<std::uint32_t>(lightest - loads_.begin());
        }
    }

    node_cargo cargo_;
    spill spill_;
    placement placement_;
    repair repair_;
    std::vector<std::uint32_t> local_;  ///< of each item of the node, its rank among those of the node
    tight_fill fill_;
    std::vector<std::uint32_t> both_;  ///< the items of two nodes
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint64_t> loads_;
    batch_renaming renaming_;
    nearest_shares nearest_;
};

}  // namespace evenkeel::detail
