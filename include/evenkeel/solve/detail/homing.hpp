// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Brings items back to their nodes where that costs nothing: into room that is left, or in exchange for an item of
/// about the same weight that is there now.
///
/// A last pass over any placement: no rank rises above the target, and every step saves bytes between nodes.
class homing {
  public:
    void reserve(std::size_t items) {
        away_.reserve(2 * items);
        exchanged_.reserve(items);
    }

    void operator()(stay_state& state, std::uint64_t target, step_budget& steps) {
        constexpr std::size_t most_sweeps = 16;
        state_ = &state;
        target_ = target;
        least_bytes_ = least_bytes_worth_it();
        bool improved = true;
        for (std::size_t sweep = 0; sweep < most_sweeps && improved && !steps.exhausted(); ++sweep) {
            improved = false;
            collect(sweep == 0);
            std::size_t const away = away_.size();
            steps.spend(state.items().size() / 4 + away * static_cast<std::size_t>(std::bit_width(away)));
            for (auto const item : away_) {
                improved = bring_home(item, steps) || improved;
                if (steps.exhausted()) {
                    break;
                }
            }
        }
    }

  private:
    [[nodiscard]] std::uint32_t node_of(std::uint32_t item) const noexcept {
        return state_->node_of_rank(state_->rank_of(item));
    }
    [[nodiscard]] bool is_away(std::uint32_t item) const noexcept {
        return node_of(item) != state_->items().home_node(item);
    }
    [[nodiscard]] std::uint64_t room(std::uint32_t rank) const noexcept {
        return target_ - std::min(target_, state_->rank_load(rank));
    }

    /// Items that have next to no bytes, such as texts among images, may stay where they are: there are many of them.
    [[nodiscard]] std::uint64_t least_bytes_worth_it() const noexcept {
        auto const& items = state_->items();
        return items.proportional ? 1 : std::max<std::uint64_t>(1, items.total_bytes() / items.size() / 256);
    }

    /// After the first sweep, only what was away before it or was exchanged in it can be away.
    void collect(bool first) {
        auto const& items = state_->items();
        auto const may_come = [&](std::uint32_t item) { return is_away(item) && items.bytes_of(item) >= least_bytes_; };
        if (first) {
            away_.clear();
            auto const look_at = [&](std::uint32_t item) {
                if (may_come(item)) {
                    away_.push_back(item);
                }
            };
            if (state_->departed().known()) {
                std::ranges::for_each(state_->departed().items(), look_at);
            } else {
                auto const ranks = state_->ranks_of();
                auto const homes = items.home_ranks();
                for (std::uint32_t item = 0; item < homes.size(); ++item) {
                    if (ranks[item] != homes[item]) {
                        look_at(item);
                    }
                }
            }
        } else {
            away_.insert(away_.end(), exchanged_.begin(), exchanged_.end());
            std::erase_if(away_, [&](std::uint32_t item) { return !may_come(item); });
        }
        exchanged_.clear();
        std::sort(away_.begin(), away_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return items.bytes_of(a) != items.bytes_of(b) ? items.bytes_of(a) > items.bytes_of(b)
                                                          : items.precedes(a, b);
        });
        away_.erase(std::unique(away_.begin(), away_.end()), away_.end());
    }

    bool bring_home(std::uint32_t item, step_budget& steps) {
        auto const& items = state_->items();
        std::uint32_t const home = items.home_node(item);
        if (!is_away(item) || state_->ranks().size(home) == 0) {
            return false;
        }
        steps.spend(state_->ranks().size(home));
        for (auto const rank : state_->ranks()[home]) {
            if (room(rank) >= items.weight(item)) {
                steps.spend(state_->move(item, node_of(item), home, rank));
                return true;
            }
        }
        auto const other = best_exchange(item, home, steps);
        if (!other) {
            return false;
        }
        std::uint32_t const away = node_of(item);
        std::uint32_t const rank = state_->rank_of(item);
        std::uint32_t const other_rank = state_->rank_of(*other);
        steps.spend(state_->move(item, away, home, other_rank));
        steps.spend(state_->move(*other, home, away, rank));
        exchanged_.push_back(*other);
        return true;
    }

    /// The item in `home` for which `item` can be exchanged at the largest saving.
    std::optional<std::uint32_t> best_exchange(std::uint32_t item, std::uint32_t home, step_budget& steps) const {
        constexpr std::size_t most_looks = 400;
        auto const& items = state_->items();
        std::uint64_t const weight = items.weight(item);
        std::uint32_t const away = node_of(item);
        std::uint64_t const room_away = room(state_->rank_of(item));
        state_->complete(home);
        auto const numbers = state_->nodes().items(home);
        auto const weights = state_->nodes().weights(home);
        auto const split = static_cast<std::size_t>(
            std::partition_point(weights.begin(), weights.end(), [&](std::uint64_t w) { return w > weight; }) -
            weights.begin());
        std::optional<std::uint32_t> best;
        std::uint64_t saved = 0;
        auto const look = [&](std::uint32_t other) {
            // What this saves: the item's bytes, and the other's, if that comes home or at least was away.
            std::uint32_t const other_home = items.home_node(other);
            std::uint64_t gain = items.bytes_of(item);
            if (other_home == away) {
                gain += items.bytes_of(other);
            } else if (other_home == home) {
                gain -= std::min(gain, items.bytes_of(other));
            }
            if (gain > saved) {
                saved = gain;
                best = other;
            }
        };
        std::size_t looks = 0;
        for (std::size_t at = split; at-- > 0 && looks < most_looks && weights[at] - weight <= room_away; ++looks) {
            look(numbers[at]);
        }
        looks = 0;
        for (std::size_t at = split; at < numbers.size() && looks < most_looks; ++at, ++looks) {
            if (weight - weights[at] <= room(state_->rank_of(numbers[at]))) {
                look(numbers[at]);
            }
        }
        steps.spend(2 * most_looks);
        return best;
    }

    stay_state* state_ = nullptr;
    std::uint64_t target_ = 0;
    std::uint64_t least_bytes_ = 1;  ///< of an item that is brought home
    std::vector<std::uint32_t> away_;
    std::vector<std::uint32_t> exchanged_;  ///< what has left a node in this sweep for an item that came home
};

}  // namespace evenkeel::detail
