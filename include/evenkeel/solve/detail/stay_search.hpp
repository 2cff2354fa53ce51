// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/homing.hpp>
#include <evenkeel/solve/detail/node_caps.hpp>
#include <evenkeel/solve/detail/node_level.hpp>
#include <evenkeel/solve/detail/node_packing.hpp>
#include <evenkeel/solve/detail/node_rescue.hpp>
#include <evenkeel/solve/detail/node_slack.hpp>
#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Brings all ranks down to a target load, starting from where the items are and moving little.
///
///  1. Nodes above what their ranks may have together give items away (`node_level`).
///  2. Each node evens out its own ranks (`node_packing`).
///  3. A node that cannot, for too little slack is left in it, gives a little more away, and tries again.
///  4. If some still cannot, exchanges between any ranks, the cheapest ones (`cheap_relief`).
///
/// Slack makes the second step easy and the first dear, so different shares of it are tried, and the cheapest outcome
/// is kept. Whatever came out, `homing` then brings back what can come back for nothing.
class stay_search {
  public:
    void reserve(std::size_t items, std::size_t ranks, std::size_t nodes) {
        state_.reserve(items, ranks, nodes);
        level_.reserve(items, nodes);
        packing_.reserve(items, ranks);
        rescue_.reserve(items, ranks, nodes);
        homing_.reserve(items);
        best_.reserve(items);
        caps_.reserve(nodes);
        failed_.reserve(nodes);
        margins_.reserve(32);
    }

    /// @param target   In units; what no rank is to exceed.
    /// @param ballast  What each rank has besides its items, at most `target`; or nothing at all.
    void start(stay_items const& items, node_ranks const& ranks, std::uint64_t target,
               std::span<std::uint64_t const> ballast = {}) {
        items_ = &items;
        ranks_ = &ranks;
        target_ = target;
        fewest_ = none_yet;
        fewest_failures_ = ranks.nodes() + 1;
        is_best_ = false;
        is_home_ = true;
        state_.carry(ballast);
        state_.go_home(items, ranks);
        excess_ = excess_over(state_, target);
        slack_of_node_ = slack_of_node(state_, target);
    }

    /// Tries once, with as much slack kept back in each node as costs a percent more, at most.
    void try_once(std::uint64_t slack_tenths, step_budget& steps) {
        keeps_slack_ = slack_tenths > 0;
        std::uint64_t const cheap = excess_.weight / 100 / std::max<std::uint64_t>(1, excess_.nodes);
        try_margin(std::min(slack_of_node_ / 10 * slack_tenths, cheap), false, steps);
    }

    /// Whether so many nodes could not be evened out at first that more tries promise little.
    [[nodiscard]] bool is_hopeless() const noexcept { return first_failures_ > ranks_->nodes() / 3; }

    /// The same, and that of so many nodes each try would be dear.
    [[nodiscard]] bool is_lost() const noexcept { return ranks_->nodes() > 16 && is_hopeless() && !found(); }

    [[nodiscard]] bool found() const noexcept { return fewest_ != none_yet; }

    /// Tries other shares of the slack, unless what was found is good.
    void try_more(step_budget& steps) {
        if (found() && (fewest_ <= enough() || !items_->proportional || !keeps_slack_)) {
            return;
        }
        step_budget rest = steps.part(steps.left() / 3);
        step_budget part = steps.part(steps.left() / 4);
        collect_margins(part);
        steps.give_back(part);
        constexpr std::size_t most_successes = 3;
        constexpr std::size_t most_tries = 4;
        std::size_t successes = is_cheap() ? 1 : 0;
        // Those that follow one that ran out of steps would have fewer yet.
        for (std::size_t tries = 0; tries < margins_.size() && (tries == 0 || !ran_out_); ++tries) {
            auto const& [cost, margin] = margins_[tries];
            if (fewest_ <= std::max(enough(), cost) || successes == most_successes || steps.exhausted() ||
                (found() && tries == most_tries)) {
                break;
            }
            successes += try_margin(margin, false, steps) && is_cheap() ? 1U : 0U;
        }
        steps.give_back(rest);
        if (!found()) {
            try_margin(promising_, true, steps);
        }
        for (std::size_t turn = 0; turn < margins_.size() && turn < 2 && !found(); ++turn) {
            try_margin(margins_[turn].margin, true, steps);
        }
    }

    /// Goes back to the best of what was found.
    void finish() {
        if (!is_best_) {
            state_.take_up(*items_, *ranks_, best_);
        }
    }

    /// Goes on from what was found, to a lower target, by exchanges between any ranks; whether that is reached.
    bool tighten(std::uint64_t target, step_budget& steps) {
        bool const reached = rescue_.exchange_anywhere(state_, target, steps);
        if (reached) {
            homing_(state_, target, steps);
        }
        return reached;
    }

    /// Starts from another placement, all of whose ranks are at the target or below, and brings home what can come.
    void take_up(stay_items const& items, node_ranks const& ranks, std::span<std::uint32_t const> rank_of,
                 std::uint64_t target, step_budget& steps) {
        state_.take_up(items, ranks, rank_of);
        homing_(state_, target, steps);
    }

    [[nodiscard]] std::span<std::uint32_t const> ranks_of() const noexcept { return state_.ranks_of(); }
    /// The same, for good.
    void give_up_ranks(std::vector<std::uint32_t>& ranks_of) { state_.give_up_ranks(ranks_of); }
    [[nodiscard]] std::uint64_t cost_between_nodes() const noexcept { return state_.cost_between_nodes(); }
    [[nodiscard]] std::uint64_t busiest_load() const noexcept { return state_.busiest_load(); }

  private:
    /// What needs no improvement; where bytes are no multiple of the weight, there is no such quick bound.
    [[nodiscard]] std::uint64_t enough() const noexcept {
        return items_->proportional ? excess_.weight + excess_.weight / 50 : 0;
    }

    /// Whether what was found costs little more than it must.
    [[nodiscard]] bool is_cheap() const noexcept {
        return found() && (!items_->proportional || fewest_ <= excess_.weight + excess_.weight / 8);
    }

    /// Gives the nodes shares of the slack to keep, one share after the other, and sorts these by what that costs.
    void collect_margins(step_budget& steps) {
        constexpr std::uint64_t shares = 32;
        margins_.clear();
        for (std::uint64_t share = 1; share < shares && !steps.exhausted(); ++share) {
            std::uint64_t const margin = slack_of_node_ / shares * share + slack_of_node_ % shares * share / shares;
            if (margins_.empty() || margin != margins_.back().margin) {
                level_nodes(margin, steps);
                margins_.push_back({state_.cost_between_nodes(), margin});
            }
        }
        std::sort(margins_.begin(), margins_.end(), [](priced_margin const& a, priced_margin const& b) {
            return a.cost != b.cost ? a.cost < b.cost : a.margin > b.margin;
        });
    }

    void level_nodes(std::uint64_t margin, step_budget& steps) {
        if (is_best_) {
            best_.assign(state_.ranks_of().begin(), state_.ranks_of().end());
            is_best_ = false;
        }
        if (!is_home_) {
            state_.go_home(*items_, *ranks_);
            steps.spend(items_->size());
        }
        is_home_ = false;
        std::uint64_t const kept = caps_.start(state_, target_, margin, items_->limit_imports);
        level_.start(state_, caps_.caps(), target_);
        level_.relieve_all(kept, steps);
    }

    /// One try, from home; the result is kept if it is the best.
    ///
    /// @param at_any_price  Whether to exchange anything with anybody for as long as the target is not reached.
    bool try_margin(std::uint64_t margin, bool at_any_price, step_budget& steps) {
        step_budget part = steps.part(steps.left() / 4 + 1);
        level_nodes(margin, part);
        failed_.clear();
        for (std::uint32_t node = 0; node < ranks_->nodes(); ++node) {
            // Not all at once, or no cache would have the lists when they are needed.
            part.spend(state_.unpack(node));
            if (!packing_(state_, node, target_, at_any_price ? 2 : node_packing::most_starts, part)) {
                failed_.push_back(node);
            }
        }
        first_failures_ = failed_.size();
        if (!failed_.empty()) {
            caps_.open(state_, target_);
            level_.start(state_, caps_.caps(), target_);
            rescue_(state_, level_.market(), packing_, target_, at_any_price, fewest_, failed_, part);
        }
        bool const reached = failed_.empty();
        if (failed_.size() < fewest_failures_) {
            fewest_failures_ = failed_.size();
            promising_ = margin;
        }
        if (reached) {
            if (state_.cost_between_nodes() > enough()) {
                homing_(state_, target_, part);
            }
            is_best_ = state_.cost_between_nodes() < fewest_;
            if (is_best_) {
                fewest_ = state_.cost_between_nodes();
            }
        }
        ran_out_ = !reached && part.exhausted();
        steps.give_back(part);
        return reached;
    }

    stay_state state_;
    node_level level_;
    node_packing packing_;
    node_rescue rescue_;
    homing homing_;
    static constexpr std::uint64_t none_yet = std::numeric_limits<std::uint64_t>::max();
    struct priced_margin {
        std::uint64_t cost;
        std::uint64_t margin;
    };

    stay_items const* items_ = nullptr;
    node_ranks const* ranks_ = nullptr;
    std::uint64_t target_ = 0;
    node_excess excess_;
    std::uint64_t slack_of_node_ = 0;
    std::uint64_t fewest_ = 0;  ///< what the best placement so far costs
    bool ran_out_ = false;      ///< whether the latest try failed for want of steps
    bool is_best_ = false;      ///< whether that is the one at hand
    bool is_home_ = false;      ///< whether everything is at home
    bool keeps_slack_ = true;   ///< whether nodes may be given more slack than the first try gives them
    std::size_t first_failures_ = 0;
    std::size_t fewest_failures_ = 0;
    std::uint64_t promising_ = 0;         ///< the margin with which fewest nodes failed
    std::vector<priced_margin> margins_;  ///< the cheapest first
    node_caps caps_;
    std::vector<std::uint32_t> failed_;
    std::vector<std::uint32_t> best_;
};

}  // namespace evenkeel::detail
