// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/batch_seats.hpp>
#include <evenkeel/solve/detail/homing.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/node_level.hpp>
#include <evenkeel/solve/detail/node_packing.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/repair.hpp>
#include <evenkeel/solve/detail/search.hpp>
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
///  4. If some still cannot, exchanges between any ranks (`repair`).
///
/// Slack makes the second step easy and the first dear, so different shares of it are tried, and the cheapest outcome is
/// kept. Whatever came out, `homing` then brings back what can come back for nothing.
class stay_search {
  public:
    void reserve(std::size_t items, std::size_t ranks, std::size_t nodes) {
        state_.reserve(items, ranks, nodes);
        level_.reserve(items, nodes);
        packing_.reserve(items, ranks);
        homing_.reserve(items);
        placement_.reserve(items, ranks);
        repair_.reserve(items, ranks);
        best_.reserve(items);
        spare_.reserve(items);
        caps_.reserve(nodes);
        failed_.reserve(nodes);
    }

    /// @param target  In units; what no rank is to exceed.
    /// @return        Whether none does. What was found is in `ranks_of`.
    bool operator()(stay_items const& items, node_ranks const& ranks, std::uint64_t target, std::uint64_t slack_tenths,
                    longest_first& longest, search& searching, step_budget& steps) {
        state_.go_home(items, ranks);
        target_ = target;
        std::uint64_t const nodes = ranks.nodes();
        // All ranks can have that much; the rest is slack.
        __extension__ typedef unsigned __int128 wide;
        wide const slack = static_cast<wide>(target) * ranks.ranks.size() - items.sorted.total;
        wide const most = static_cast<wide>(target) * ranks.ranks.size() / 1000;
        auto const margin = static_cast<std::uint64_t>(std::min(slack, most) / nodes * slack_tenths / 10);
        caps_.resize(nodes);
        for (std::size_t node = 0; node < nodes; ++node) {
            std::uint64_t const whole = capacity(ranks.size(node));
            caps_[node] = whole - std::min(whole, margin);
        }
        level_.start(state_, caps_, target);
        level_.relieve_all(margin, steps);
        failed_.clear();
        for (std::uint32_t node = 0; node < nodes; ++node) {
            static_cast<void>(level_.take_touched(node));
            if (!packing_(state_, node, target, longest, searching, steps)) {
                failed_.push_back(node);
            }
        }
        loosen(longest, searching, steps);
        if (!failed_.empty() && !exchange_anywhere(steps)) {
            return false;
        }
        homing_(state_, target, steps);
        return true;
    }

    /// Starts from another placement, all of whose ranks are at the target or below, and brings home what can come.
    void take_up(stay_items const& items, node_ranks const& ranks, std::span<std::uint32_t const> rank_of,
                 std::uint64_t target, step_budget& steps) {
        state_.take_up(items, ranks, rank_of, spare_);
        homing_(state_, target, steps);
    }

    [[nodiscard]] std::span<std::uint32_t const> ranks_of() const noexcept { return state_.ranks_of(); }
    [[nodiscard]] std::uint64_t busiest_load() const noexcept { return state_.busiest_load(); }

  private:
    [[nodiscard]] std::uint64_t capacity(std::size_t ranks) const noexcept {
        std::uint64_t room = 0;
        return __builtin_mul_overflow(target_, ranks, &room) ? std::numeric_limits<std::uint64_t>::max() : room;
    }

    /// Takes ever more off the nodes that could not be evened out.
    void loosen(longest_first& longest, search& searching, step_budget& steps) {
        constexpr std::size_t most_rounds = 6;
        auto const nodes = static_cast<std::uint32_t>(state_.ranks().nodes());
        for (std::size_t round = 0; round < most_rounds && !failed_.empty() && !steps.exhausted(); ++round) {
            for (auto const node : failed_) {
                std::uint64_t const whole = capacity(state_.ranks().size(node));
                std::uint64_t const extra = std::max<std::uint64_t>(1, whole / 4096 << round);
                std::uint64_t const load = std::min(state_.nodes().load(node), whole);
                level_.lower(node, load - std::min(load, extra), steps);
            }
            failed_.swap(spare_);
            failed_.clear();
            for (std::uint32_t node = 0; node < nodes; ++node) {
                bool const tried_in_vain = std::binary_search(spare_.begin(), spare_.end(), node);
                if ((level_.take_touched(node) || tried_in_vain) &&
                    !packing_(state_, node, target_, longest, searching, steps)) {
                    failed_.push_back(node);
                }
            }
        }
    }

    bool exchange_anywhere(step_budget& steps) {
        auto const& items = state_.items();
        best_.assign(state_.ranks_of().begin(), state_.ranks_of().end());
        if (std::find(best_.begin(), best_.end(), no_rank) != best_.end()) {
            return false;
        }
        std::size_t const ranks = state_.ranks().ranks.size();
        placement_.reset(items.sorted.weights, best_, ranks);
        step_budget part = steps.part(steps.left() / 4);
        std::uint64_t const mean = items.sorted.total / ranks;
        bool const reached = repair_(placement_, target_, (target_ - mean) / 4, 0, part);
        steps.give_back(part);
        if (reached) {
            placement_.store(best_);
            state_.take_up(items, state_.ranks(), best_, spare_);
        }
        return reached;
    }

    stay_state state_;
    node_level level_;
    node_packing packing_;
    homing homing_;
    placement placement_;
    repair repair_;
    std::uint64_t target_ = 0;
    std::vector<std::uint64_t> caps_;
    std::vector<std::uint32_t> failed_;
    std::vector<std::uint32_t> best_;
    std::vector<std::uint32_t> spare_;
};

}  // namespace evenkeel::detail
