// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/fill_rooms.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Evens out the ranks of a node with items of class 0 alone, which are cheapest to move; the others stay where
/// they are.
///
/// So the embeddings of a sample, which are on its rank already, do not change ranks for the sake of a few tokens that
/// text alone can level as well.
class node_cargo {
  public:
    void reserve(std::size_t items, std::size_t ranks) {
        placement_.reserve(items, ranks);
        repair_.reserve(items, ranks);
        items_.reserve(items + 1);
        weights_.reserve(items + 1);
        local_.reserve(items);
        others_.reserve(ranks);
    }

    /// @return  Whether every rank of the node is at the target or below; if not, all is as it was.
    bool operator()(stay_state& state, std::uint32_t node, std::uint64_t target, step_budget& steps) {
        auto const ranks = state.ranks()[node];
        gather(state, node);
        steps.spend(2 * state.nodes().items(node).size());
        if (local_.empty() || std::ranges::any_of(others_, [&](std::uint64_t load) { return load > target; })) {
            return false;
        }
        placement_.reset(std::span{weights_}.first(local_.size()), local_, ranks.size());
        for (std::size_t local = 0; local < ranks.size(); ++local) {
            placement_.add_load(local, others_[local]);
        }
        fill_rooms(placement_, target, steps);
        // Mostly a tenth of these steps is enough; where they are not, all items together are quicker.
        constexpr std::uint64_t most_steps = 1000;
        step_budget part = steps.part(most_steps);
        bool const reached = repair_(placement_, target, target / 4, 0, part);
        steps.give_back(part);
        if (reached && placement_.changed_little()) {
            for (auto const& [position, rank] : placement_.insertions()) {
                state.seat(items_[position], ranks[rank]);
            }
        } else if (reached) {
            placement_.store(local_);
            for (std::size_t position = 0; position < local_.size(); ++position) {
                state.seat(items_[position], ranks[local_[position]]);
            }
        }
        return reached;
    }

  private:
    void gather(stay_state const& state, std::uint32_t node) {
        auto const ranks = state.ranks()[node];
        auto const numbers = state.nodes().items(node);
        auto const weights = state.nodes().weights(node);
        auto const classes = state.items().classes();
        // One more, for what is overwritten by the next one: which items these are no processor foresees.
        items_.resize(std::max(items_.size(), numbers.size() + 1));
        weights_.resize(items_.size());
        std::size_t count = 0;
        for (std::size_t position = 0; position < numbers.size(); ++position) {
            items_[count] = numbers[position];
            weights_[count] = weights[position];
            count += classes[numbers[position]] == 0 ? 1U : 0U;
        }
        local_.resize(count);
        others_.resize(ranks.size());
        for (std::size_t local = 0; local < ranks.size(); ++local) {
            others_[local] = state.rank_load(ranks[local]);
        }
        for (std::size_t position = 0; position < count; ++position) {
            local_[position] = state.ranks().local[state.rank_of(items_[position])];
            others_[local_[position]] -= weights_[position];
        }
    }

    placement placement_;
    repair repair_;
    std::vector<std::uint32_t> local_;  ///< the rank of each item of class 0, among those of the node
    std::vector<std::uint32_t> items_;  ///< these, heaviest first; there may be more behind them, which mean nothing
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint64_t> others_;  ///< what each rank has of other classes
};

}  // namespace evenkeel::detail
