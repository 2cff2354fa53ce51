// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <evenkeel/solve/detail/cheap_relief.hpp>
#include <evenkeel/solve/detail/node_market.hpp>
#include <evenkeel/solve/detail/node_packing.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// What is done for nodes whose ranks cannot be evened out: an exchange with another node, which gives more slack and
/// other items to choose from; at any price, exchanges between the ranks of two nodes, and between all ranks. What
/// ranks then still have above the target, each exchanges with whichever other rank is cheapest (`cheap_relief`).
class node_rescue {
  public:
    void reserve(std::size_t items, std::size_t ranks, std::size_t nodes) {
        cheaply_.reserve(items, ranks);
        placement_.reserve(items, ranks);
        repair_.reserve(items, ranks);
        exchanged_.reserve(items);
        still_.reserve(nodes);
        partners_.reserve(nodes);
        saved_.reserve(items);
    }

    /// @param failed        The nodes; those that could not be helped are left in it.
    /// @param at_any_price  See above.
    /// @param below         What bytes between nodes may cost in all before the last means is given up.
    void operator()(stay_state& state, node_market& market, node_packing& packing, std::uint64_t target,
                    bool at_any_price, std::uint64_t below, std::vector<std::uint32_t>& failed, step_budget& steps) {
        state_ = &state;
        market_ = &market;
        packing_ = &packing;
        target_ = target;
        // Where most nodes fail, no single one can be helped, and exchanges between all ranks are the cheaper for it.
        if (at_any_price && exchange_anywhere(steps)) {
            failed.clear();
            return;
        }
        still_.clear();
        // Some steps are left for the last means, which needs few.
        step_budget most = steps.part(steps.left() / 4 * 3);
        for (auto const node : failed) {
            // Where a node has no rank, what is left there is on none.
            bool const is_hopeless = state.ranks().size(node) == 0;
            if (is_hopeless || (!loosen(node, most) && !(at_any_price && join(node, most)))) {
                still_.push_back(node);
            }
        }
        steps.give_back(most);
        failed.swap(still_);
        if (!failed.empty() && cheaply_(state, target, below, steps)) {
            failed.clear();
        }
    }

    /// Exchanges between any ranks, whatever their nodes, until none exceeds the target; changes nothing if that fails.
    bool exchange_anywhere(stay_state& state, std::uint64_t target, step_budget& steps) {
        state_ = &state;
        target_ = target;
        return exchange_anywhere(steps);
    }

  private:
    /// The cheapest exchange after which the node and its partner can both be evened out.
    bool loosen(std::uint32_t node, step_budget& steps) {
        std::uint64_t const whole = state_->room_for(node, target_);
        std::uint64_t const load = state_->nodes().load(node);
        std::uint64_t const extra = std::max<std::uint64_t>(1, whole / 2048) + load - std::min(load, whole);
        market_->find_swaps(node, extra, steps);
        constexpr std::size_t most_tries = 16;
        constexpr std::size_t starts = 6;
        for (std::size_t number = 0; number < most_tries && number < market_->swaps().size() && !steps.exhausted();
             ++number) {
            std::uint32_t const partner = market_->swaps()[number].partner;
            save(node, partner);
            market_->carry_out(node, market_->swaps()[number], steps);
            if ((*packing_)(*state_, node, target_, starts, steps) &&
                (*packing_)(*state_, partner, target_, starts, steps)) {
                return true;
            }
            restore(steps);
            market_->changed(node, partner);
        }
        return false;
    }

    /// Evens a node out together with the other with which that costs least.
    bool join(std::uint32_t node, step_budget& steps) {
        constexpr std::size_t most_partners = 12;
        std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
        std::uint32_t best = node;
        market_->roomiest(node, most_partners, partners_);
        for (int pass = 0; pass < 2; ++pass) {
            for (auto const partner : partners_) {
                if (steps.exhausted() || (pass == 1 && partner != best)) {
                    continue;
                }
                save(node, partner);
                std::uint64_t const before = state_->cost_between_nodes();
                bool const reached = (*packing_)(*state_, node, partner, target_, 0, steps);
                if (pass == 1) {
                    market_->changed(node, partner);
                    return reached;
                }
                std::uint64_t const after = state_->cost_between_nodes();
                if (std::uint64_t const cost = after - std::min(before, after); reached && cost < fewest) {
                    fewest = cost;
                    best = partner;
                }
                restore(steps);
            }
        }
        return false;
    }

    void save(std::uint32_t a, std::uint32_t b) {
        saved_.clear();
        for (auto const node : {a, b}) {
            state_->complete(node);
            for (auto const item : state_->nodes().items(node)) {
                saved_.push_back({item, node, state_->rank_of(item)});
            }
        }
    }

    void restore(step_budget& steps) {
        steps.spend(2 * saved_.size());
        for (auto const& [item, node, rank] : saved_) {
            if (std::uint32_t const now = state_->node_of_rank(state_->rank_of(item)); now != node) {
                steps.spend(state_->move(item, now, node, rank));
            } else {
                state_->seat(item, rank);
            }
        }
    }

    bool exchange_anywhere(step_budget& steps) {
        auto const& items = state_->items();
        if (!state_->all_have_ranks()) {
            return false;
        }
        state_->list_ranks(placement_);
        steps.spend(items.size());
        auto const ballast = std::accumulate(state_->ballast().begin(), state_->ballast().end(), std::uint64_t{0});
        std::size_t const ranks = state_->ranks().ranks.size();
        step_budget part = steps.part(steps.left() / 2);
        std::uint64_t const mean = (items.total() + ballast) / ranks;
        bool const reached = repair_(placement_, target_, (target_ - mean) / 4, 0, part);
        steps.give_back(part);
        if (reached) {
            exchanged_.assign(state_->ranks_of().begin(), state_->ranks_of().end());
            placement_.store(exchanged_);
            state_->take_up(items, state_->ranks(), exchanged_);
            steps.spend(2 * items.size());
        }
        return reached;
    }

    struct saved_item {
        std::uint32_t item;
        std::uint32_t node;
        std::uint32_t rank;
    };

    stay_state* state_ = nullptr;
    node_market* market_ = nullptr;
    node_packing* packing_ = nullptr;
    std::uint64_t target_ = 0;
    cheap_relief cheaply_;
    placement placement_;
    repair repair_;
    std::vector<std::uint32_t> exchanged_;
    std::vector<std::uint32_t> still_;
    std::vector<std::uint32_t> partners_;
    std::vector<saved_item> saved_;
};

}  // namespace evenkeel::detail
