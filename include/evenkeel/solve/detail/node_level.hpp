// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/solve/detail/export_choice.hpp>
#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/export_order.hpp>
#include <evenkeel/solve/detail/node_market.hpp>
#include <evenkeel/solve/detail/shipment.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Brings nodes down to their caps by giving items to nodes with room, at least cost.
///
/// With many items per node a choice of items hits the excess almost exactly, and none comes back. Where items are few
/// and heavy, two nodes exchange one or two items for one or two.
class node_level {
  public:
    void reserve(std::size_t items, std::size_t nodes) {
        list_.reserve(items);
        order_.reserve(items);
        lighter_.reserve(items);
        choice_.reserve(items);
        shipment_.reserve(items);
        market_.reserve(items, nodes);
        caps_.reserve(nodes);
        over_.reserve(nodes);
    }

    /// @param caps  Of each node.
    void start(stay_state& state, std::span<std::uint64_t const> caps, std::uint64_t target) {
        state_ = &state;
        target_ = target;
        caps_.assign(caps.begin(), caps.end());
        market_.open(state, caps_);
    }

    /// Relieves whatever is more than `margin` above its cap, the one with the largest excess first, down to the cap.
    /// What it sends is left to be unpacked.
    void relieve_all(std::uint64_t margin, step_budget& steps) {
        over_.clear();
        for (std::uint32_t node = 0; node < caps_.size(); ++node) {
            if (load(node) > caps_[node] && load(node) - caps_[node] > margin) {
                over_.push_back(node);
            }
        }
        std::ranges::sort(over_, [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple{load(b) - caps_[b], a} < std::tuple{load(a) - caps_[a], b};
        });
        for (auto const node : over_) {
            relieve(node, steps);
        }
    }

    [[nodiscard]] node_market& market() noexcept { return market_; }

  private:
    static constexpr std::uint64_t any_cost = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] std::uint64_t load(std::uint32_t node) const noexcept { return state_->nodes().load(node); }

    bool relieve(std::uint32_t node, step_budget& steps) {
        pours_ = false;
        while (load(node) > caps_[node]) {
            if (steps.exhausted() || !lower_once(node, load(node) - caps_[node], steps)) {
                return false;
            }
        }
        return true;
    }

    bool lower_once(std::uint32_t node, std::uint64_t excess, step_budget& steps) {
        auto const& items = state_->items();
        if (!state_->is_complete(node) && lower_by_class_0(node, excess, steps)) {
            return true;
        }
        market_.list(node, list_);
        std::span<export_item const> leaving = list_;
        if (!items.heavier_is_cheaper) {
            order_exports(items, list_, market_.most_room(), excess, order_);
            steps.spend(8 * order_.size());
            leaving = order_;
        }
        std::uint64_t const least = least_cost(leaving, excess);
        if (ship_light(node, leaving, excess, items.classes().empty() ? least + least / 64 : any_cost, steps)) {
            return true;
        }
        std::uint64_t const dear = least + std::max(least / 4, items.proportional ? target_ / 50 : 0);
        bool const light = choose_light(leaving, excess, market_.most_room(), steps);
        std::uint64_t const cost = light ? choice_.cost() : any_cost;
        bool const may_ship = light && light_.size() != refused_;
        if (!may_ship && pour(node, excess, light, steps)) {
            return true;
        }
        // An exchange moves the excess, and what comes back twice.
        bool const dense = items.proportional && list_.size() > 16 * state_->ranks().size(node);
        std::uint64_t const of_swap = dense ? excess + 2 * items.lightest() : 0;
        if (may_ship && cost <= std::min(of_swap, dear) && ship(node, steps)) {
            return true;
        }
        auto const swap = market_.find_swap(list_, excess, excess, steps);
        if (swap && swap->swap.cost() <= std::min(dear, cost)) {
            market_.carry_out(node, *swap, steps);
            return true;
        }
        if ((may_ship && cost <= dear && ship(node, steps)) ||
            market_.send_one(node, list_, excess, excess / 4, steps)) {
            return true;
        }
        if (swap) {
            market_.carry_out(node, *swap, steps);
            return true;
        }
        if (may_ship && ship(node, steps)) {
            return true;
        }
        // Where rooms are small, it takes several exchanges.
        for (std::uint64_t const share : {8U, 64U}) {
            if (auto const part = market_.find_swap(list_, excess / share + 1, excess, steps)) {
                market_.carry_out(node, *part, steps);
                return true;
            }
        }
        return market_.send_one(node, list_, excess, 1, steps);
    }

    /// The same with what is of class 0, if that is enough.
    bool lower_by_class_0(std::uint32_t node, std::uint64_t excess, step_budget& steps) {
        market_.list_at_hand(node, list_);
        order_exports(state_->items(), list_, market_.most_room(), excess, order_);
        steps.spend(8 * order_.size());
        return ship_light(node, order_, excess, any_cost, steps);
    }

    /// Chooses from the items that find room and gives them away, unless they cost more than `most_cost`.
    ///
    /// One that is too heavy for the node with most room cannot go anywhere, and of several heavy ones only the first
    /// finds room.
    bool ship_light(std::uint32_t node, std::span<export_item const> leaving, std::uint64_t excess,
                    std::uint64_t most_cost, step_budget& steps) {
        refused_ = 0;
        std::uint64_t most = market_.most_room();
        for (std::size_t turn = 0; turn < 4 && choose_light(leaving, excess, most, steps); ++turn, most /= 2) {
            // Of the same items the same are chosen, and they find no more room.
            if (choice_.cost() <= most_cost && light_.size() != refused_) {
                if (ship(node, steps)) {
                    return true;
                }
                refused_ = light_.size();
            }
        }
        return false;
    }

    /// Chooses from the items of at most some weight; false if they are not enough.
    bool choose_light(std::span<export_item const> leaving, std::uint64_t excess, std::uint64_t most,
                      step_budget& steps) {
        bool const falling = state_->items().heavier_is_cheaper;
        if (falling) {
            light_ = leaving.subspan(static_cast<std::size_t>(
                std::ranges::partition_point(leaving, [&](auto const& item) { return item.weight > most; }) -
                leaving.begin()));
        } else {
            lighter_.clear();
            std::ranges::copy_if(leaving, std::back_inserter(lighter_),
                                 [&](auto const& item) { return item.weight <= most; });
            light_ = lighter_;
        }
        steps.spend(leaving.size());
        std::uint64_t weight = 0;
        for (std::size_t position = 0; position < light_.size() && weight < excess; ++position) {
            weight += light_[position].weight;
        }
        if (weight < excess) {
            return false;
        }
        choice_(light_, falling, excess, steps);
        return true;
    }

    /// What losing `excess` costs at least, were items cut to measure.
    [[nodiscard]] static std::uint64_t least_cost(std::span<export_item const> leaving, std::uint64_t excess) noexcept {
        __extension__ typedef unsigned __int128 wide;
        std::uint64_t cost = 0;
        for (auto const& item : leaving) {
            if (item.weight >= excess) {
                return cost + static_cast<std::uint64_t>(static_cast<wide>(item.cost) * excess / item.weight);
            }
            excess -= item.weight;
            cost += item.cost;
        }
        return cost;
    }

    /// Gives away what was chosen; all or nothing.
    bool ship(std::uint32_t node, step_budget& steps) {
        shipment_.pack(*state_, light_, choice_.positions());
        return shipment_.send_all(*state_, node, market_.rooms(), steps);
    }

    /// Of a surplus that is a good part of all that the node has, and no other node has room for, gives away what there
    /// is room for: piece by piece, it would be the whole list anew for each. What is left then goes the same way.
    ///
    /// @param chosen  Whether something is chosen that would be enough.
    bool pour(std::uint32_t node, std::uint64_t excess, bool chosen, step_budget& steps) {
        std::uint64_t const room = market_.most_room();
        std::size_t const number = choice_.positions().size();
        bool const is_large = chosen && excess > load(node) / 4 && number >= list_.size() / 8;
        if (excess <= room || (!pours_ && !(is_large && choice_.weight() / number <= room / 2))) {
            return false;
        }
        if (chosen) {
            shipment_.pack(*state_, light_, choice_.positions());
        } else {
            shipment_.pack(light_);
        }
        pours_ = shipment_.send_some(*state_, node, market_.rooms(), steps);
        return pours_;
    }

    stay_state* state_ = nullptr;
    std::uint64_t target_ = 0;
    std::vector<std::uint64_t> caps_;
    std::vector<std::uint32_t> over_;
    node_market market_;
    std::vector<export_item> list_;   ///< of the node at hand, heaviest first
    std::vector<export_item> order_;  ///< the same in the order of leaving, where that is another
    std::vector<export_item> lighter_;
    std::span<export_item const> light_;  ///< those of them that are not too heavy
    export_choice choice_;
    std::size_t refused_ = 0;  ///< how many there were to choose from when what was chosen last found no room
    shipment shipment_;
    bool pours_ = false;  ///< whether the surplus of the node at hand is given away part by part
};

}  // namespace evenkeel::detail
