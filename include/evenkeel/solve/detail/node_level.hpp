// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/solve/detail/export_choice.hpp>
#include <evenkeel/solve/detail/node_exchange.hpp>
#include <evenkeel/solve/detail/node_rooms.hpp>
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
        light_.reserve(items);
        partner_.reserve(items);
        choice_.reserve(items);
        gives_.reserve(items);
        takes_.reserve(items);
        parcels_.reserve(items);
        swaps_.reserve(64);
        rooms_.reserve(nodes);
        caps_.reserve(nodes);
        over_.reserve(nodes);
    }

    /// @param caps  Of each node.
    void start(stay_state& state, std::span<std::uint64_t const> caps, std::uint64_t target) {
        state_ = &state;
        target_ = target;
        caps_.assign(caps.begin(), caps.end());
        rooms_.reset(state.nodes(), caps_);
    }

    /// Relieves whatever is more than `margin` above its cap, the one with the largest excess first, down to the cap.
    void relieve_all(std::uint64_t margin, step_budget& steps) {
        over_.clear();
        for (std::uint32_t node = 0; node < caps_.size(); ++node) {
            if (load(node) > caps_[node] && load(node) - caps_[node] > margin) {
                over_.push_back(node);
            }
        }
        std::sort(over_.begin(), over_.end(), [&](std::uint32_t a, std::uint32_t b) {
            std::uint64_t const of_a = load(a) - caps_[a];
            std::uint64_t const of_b = load(b) - caps_[b];
            return of_a > of_b || (of_a == of_b && a < b);
        });
        for (auto const node : over_) {
            relieve(node, steps);
        }
    }

    /// An exchange with another node.
    struct partner_swap {
        node_swap swap;
        std::uint32_t partner = 0;
        std::array<std::uint32_t, 4> items{};  ///< those given, those taken
    };

    /// Looks for exchanges that take at least `at_least` off a node, the cheapest first; they are in `swaps`.
    void find_swaps(std::uint32_t node, std::uint64_t at_least, step_budget& steps) {
        gather(node, list_);
        gives_.to_give(list_);
        steps.spend(8 * gives_.offers().size());
        swaps_.clear();
        with_roomiest(node, [&](std::uint32_t partner, std::uint64_t room) {
            gather(partner, partner_);
            takes_.to_take(partner_);
            steps.spend(8 * takes_.offers().size());
            for (std::uint64_t least = at_least; least <= room && least < 5 * at_least; least += at_least) {
                steps.spend(2 * gives_.offers().size());
                if (auto const found = cheapest_swap(gives_.offers(), takes_.offers(), least, room, any_cost)) {
                    swaps_.push_back(with_items(*found, partner));
                }
            }
            return room >= at_least;
        });
        std::sort(swaps_.begin(), swaps_.end(), [](partner_swap const& a, partner_swap const& b) {
            return std::tuple{a.swap.cost(), a.partner, a.items} < std::tuple{b.swap.cost(), b.partner, b.items};
        });
        auto const same = [](partner_swap const& a, partner_swap const& b) {
            return a.partner == b.partner && a.items == b.items;
        };
        swaps_.erase(std::unique(swaps_.begin(), swaps_.end(), same), swaps_.end());
    }
    [[nodiscard]] std::span<partner_swap const> swaps() const noexcept { return swaps_; }

    void carry_out(std::uint32_t node, std::size_t swap) { carry_out(node, swaps_[swap]); }

    /// Fills `nodes` with the nodes that have most room.
    void roomiest(std::uint32_t but, std::size_t most, std::vector<std::uint32_t>& nodes) {
        nodes.clear();
        with_roomiest(but, [&](std::uint32_t node, std::uint64_t) {
            nodes.push_back(node);
            return nodes.size() < most;
        });
    }

    /// To be called when loads have changed otherwise.
    void changed(std::uint32_t a, std::uint32_t b) {
        rooms_.push(a);
        rooms_.push(b);
    }

  private:
    static constexpr std::uint64_t any_cost = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint32_t nobody_else = std::numeric_limits<std::uint32_t>::max();

    struct parcel {
        std::uint32_t item;
        std::uint32_t rank;  ///< where it was
        std::uint32_t to;
    };

    [[nodiscard]] std::uint64_t load(std::uint32_t node) const noexcept { return state_->nodes().load(node); }

    void gather(std::uint32_t node, std::vector<export_item>& list) const {
        auto const& items = state_->items();
        list.clear();
        auto const numbers = state_->nodes().items(node);
        auto const weights = state_->nodes().weights(node);
        for (std::size_t position = 0; position < numbers.size(); ++position) {
            std::uint64_t const cost = items.cost_of(numbers[position]);
            list.push_back({weights[position], cost, numbers[position]});
        }
    }

    bool relieve(std::uint32_t node, step_budget& steps) {
        while (load(node) > caps_[node]) {
            if (steps.exhausted() || !lower_once(node, load(node) - caps_[node], steps)) {
                return false;
            }
        }
        return true;
    }

    bool lower_once(std::uint32_t node, std::uint64_t excess, step_budget& steps) {
        auto const& items = state_->items();
        gather(node, list_);
        std::span<export_item const> leaving = list_;
        if (!items.heavier_is_cheaper) {
            order_ = list_;
            std::sort(order_.begin(), order_.end(),
                      [&](export_item const& a, export_item const& b) { return items.leaves_before(a.item, b.item); });
            leaving = order_;
            steps.spend(8 * order_.size());
        }
        std::uint64_t const least = least_cost(leaving, excess);
        // An item that is too heavy for the node with most room cannot go anywhere, and of several heavy ones only the
        // first finds room.
        bool const chosen = choose_light(leaving, excess, most_room(), steps);
        for (std::uint64_t most = most_room(), turn = 0; turn < 4 && chosen; most /= 2, ++turn) {
            if (turn > 0 && !choose_light(leaving, excess, most, steps)) {
                break;
            }
            bool const as_good_as_it_gets = choice_.cost() <= least + least / 64 || !items.classes.empty();
            if (as_good_as_it_gets && ship(node)) {
                return true;
            }
        }
        auto const swap = find_swap(excess, excess, steps);
        std::uint64_t const dear = least + std::max(least / 4, items.proportional ? target_ / 50 : 0);
        bool const light = choose_light(leaving, excess, most_room(), steps);
        std::uint64_t const cost = light ? choice_.cost() : any_cost;
        if (swap && swap->swap.cost() <= std::min(dear, cost)) {
            carry_out(node, *swap);
            return true;
        }
        if ((cost <= dear && ship(node)) || send_one(node, excess, excess / 4)) {
            return true;
        }
        if (swap) {
            carry_out(node, *swap);
            return true;
        }
        if (light && ship(node)) {
            return true;
        }
        if (auto const part = find_swap(excess / 8 + 1, excess, steps)) {
            carry_out(node, *part);
            return true;
        }
        return send_one(node, excess, 1);
    }

    /// Chooses from the items of at most some weight; false if they are not enough.
    bool choose_light(std::span<export_item const> leaving, std::uint64_t excess, std::uint64_t most,
                      step_budget& steps) {
        light_.clear();
        std::uint64_t weight = 0;
        for (auto const& item : leaving) {
            if (item.weight <= most) {
                weight += item.weight;
                light_.push_back(item);
            }
        }
        steps.spend(leaving.size());
        if (weight < excess) {
            return false;
        }
        choice_(light_, state_->items().heavier_is_cheaper, excess, steps);
        return true;
    }

    [[nodiscard]] std::uint64_t most_room() {
        auto const node = rooms_.pop();
        if (!node) {
            return 0;
        }
        rooms_.push(*node);
        return rooms_.room(*node);
    }

    /// What losing `excess` costs at least, were items cut to measure.
    [[nodiscard]] static std::uint64_t least_cost(std::span<export_item const> leaving, std::uint64_t excess) noexcept {
        std::uint64_t cost = 0;
        for (auto const& item : leaving) {
            if (item.weight >= excess) {
                __extension__ typedef unsigned __int128 wide;
                return cost + static_cast<std::uint64_t>(static_cast<wide>(item.cost) * excess / item.weight);
            }
            excess -= item.weight;
            cost += item.cost;
        }
        return cost;
    }

    /// Gives away what was chosen, each item to the node with most room, the heaviest first; all or nothing.
    bool ship(std::uint32_t node) {
        parcels_.clear();
        for (auto const position : choice_.positions()) {
            std::uint32_t const item = light_[position].item;
            parcels_.push_back({item, state_->rank_of(item), 0});
        }
        std::sort(parcels_.begin(), parcels_.end(), [](parcel const& a, parcel const& b) { return a.item < b.item; });
        for (std::size_t number = 0; number < parcels_.size(); ++number) {
            auto& [item, rank, to] = parcels_[number];
            auto const receiver = rooms_.pop();
            if (!receiver || rooms_.room(*receiver) < state_->items().weight(item)) {
                if (receiver) {
                    rooms_.push(*receiver);
                }
                for (std::size_t back = number; back-- > 0;) {
                    state_->move(parcels_[back].item, parcels_[back].to, node, parcels_[back].rank);
                    rooms_.push(parcels_[back].to);
                }
                return false;
            }
            to = *receiver;
            state_->move(item, node, to, state_->rank_in(item, to));
            rooms_.push(to);
        }
        return true;
    }

    /// The cheapest exchange with one of the nodes with most room that moves at least `at_least` and at most `at_most`
    /// or, where all of that would be moved, as much as there is room for.
    std::optional<partner_swap> find_swap(std::uint64_t at_least, std::uint64_t at_most, step_budget& steps) {
        gives_.to_give(list_);
        steps.spend(8 * gives_.offers().size());
        std::optional<partner_swap> best;
        with_roomiest(nobody_else, [&](std::uint32_t partner, std::uint64_t room) {
            std::uint64_t const most = at_least == at_most ? room : std::min(room, at_most);
            if (most < at_least) {
                return false;
            }
            gather(partner, partner_);
            takes_.to_take(partner_);
            steps.spend(8 * takes_.offers().size() + 2 * gives_.offers().size());
            auto const found =
                cheapest_swap(gives_.offers(), takes_.offers(), at_least, most, best ? best->swap.cost() : any_cost);
            if (found) {
                best = with_items(*found, partner);
            }
            return true;
        });
        return best;
    }

    /// Offers the nodes with most room, one after the other, for as long as `visit` wants more.
    template <class Visit>
    void with_roomiest(std::uint32_t but, Visit visit) {
        constexpr std::size_t most_partners = 12;
        std::array<std::uint32_t, most_partners> tried;
        std::size_t size = 0;
        bool more = true;
        while (more && size < most_partners) {
            auto const partner = rooms_.pop();
            if (!partner) {
                break;
            }
            tried[size++] = *partner;
            more = *partner == but || visit(*partner, rooms_.room(*partner));
        }
        for (std::size_t index = 0; index < size; ++index) {
            rooms_.push(tried[index]);
        }
    }

    [[nodiscard]] partner_swap with_items(node_swap const& swap, std::uint32_t partner) const noexcept {
        return {swap,
                partner,
                {item_at(list_, swap.give.first), item_at(list_, swap.give.second), item_at(partner_, swap.take.first),
                 item_at(partner_, swap.take.second)}};
    }

    [[nodiscard]] static std::uint32_t item_at(std::span<export_item const> list, std::uint32_t position) noexcept {
        return position == node_offer::none ? node_offer::none : list[position].item;
    }

    void carry_out(std::uint32_t node, partner_swap const& swap) {
        for (std::size_t index = 0; index < 4; ++index) {
            std::uint32_t const item = swap.items[index];
            if (item == node_offer::none) {
                continue;
            }
            std::uint32_t const from = index < 2 ? node : swap.partner;
            std::uint32_t const to = index < 2 ? swap.partner : node;
            state_->move(item, from, to, state_->rank_in(item, to));
        }
        rooms_.push(swap.partner);
        rooms_.push(node);
    }

    /// Gives the node with most room the heaviest item of at most `at_most`, unless that is lighter than `at_least`.
    bool send_one(std::uint32_t node, std::uint64_t at_most, std::uint64_t at_least) {
        auto const receiver = rooms_.pop();
        if (!receiver) {
            return false;
        }
        std::uint64_t const most = std::min(at_most, rooms_.room(*receiver));
        auto const found =
            std::find_if(list_.begin(), list_.end(), [&](export_item const& item) { return item.weight <= most; });
        bool const sends = found != list_.end() && found->weight >= at_least;
        if (sends) {
            state_->move(found->item, node, *receiver, state_->rank_in(found->item, *receiver));
        }
        rooms_.push(*receiver);
        return sends;
    }

    stay_state* state_ = nullptr;
    std::uint64_t target_ = 0;
    std::vector<std::uint64_t> caps_;
    std::vector<std::uint32_t> over_;
    node_rooms rooms_;
    std::vector<export_item> list_;   ///< of the node at hand, heaviest first
    std::vector<export_item> order_;  ///< the same in the order of leaving, where that is another
    std::vector<export_item> light_;  ///< those of them that are not too heavy
    std::vector<export_item> partner_;
    export_choice choice_;
    node_menu gives_;
    node_menu takes_;
    std::vector<parcel> parcels_;
    std::vector<partner_swap> swaps_;
};

}  // namespace evenkeel::detail
