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

#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/node_exchange.hpp>
#include <evenkeel/solve/detail/node_rooms.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// Where a node finds takers for what it has too much: the nodes with room, and what they would give in return.
class node_market {
  public:
    void reserve(std::size_t items, std::size_t nodes) {
        own_.reserve(items);
        partner_.reserve(items);
        gives_.reserve(items);
        takes_.reserve(items);
        swaps_.reserve(64);
        rooms_.reserve(nodes);
    }

    /// @param caps  Of each node; they may change later, as long as `changed` is told.
    void open(stay_state& state, std::span<std::uint64_t const> caps) {
        state_ = &state;
        rooms_.reset(state.nodes(), caps);
    }

    /// The items of a node, heaviest first.
    void list(std::uint32_t node, std::vector<export_item>& list_of_node) const {
        state_->complete(node);
        list_at_hand(node, list_of_node);
    }

    /// The same, but only what the node has of class 0, as long as nobody has asked for the rest.
    void list_at_hand(std::uint32_t node, std::vector<export_item>& list_of_node) const {
        state_->unpack(node);
        auto const& items = state_->items();
        auto const numbers = state_->nodes().items(node);
        auto const weights = state_->nodes().weights(node);
        list_of_node.resize(numbers.size());
        for (std::size_t position = 0; position < numbers.size(); ++position) {
            std::uint64_t const cost = items.proportional ? weights[position] : items.cost_of(numbers[position]);
            list_of_node[position] = {weights[position], cost, numbers[position]};
        }
    }

    /// The room of the node that has most.
    [[nodiscard]] std::uint64_t most_room() {
        auto const node = rooms_.pop();
        if (!node) {
            return 0;
        }
        rooms_.push(*node);
        return rooms_.room(*node);
    }

    [[nodiscard]] node_rooms& rooms() noexcept { return rooms_; }

    /// An exchange with another node.
    struct partner_swap {
        node_swap swap;
        std::uint32_t partner = 0;
        std::array<std::uint32_t, 4> items{};  ///< those given, those taken
    };

    /// The cheapest exchange with one of the nodes with most room that moves at least `at_least` and at most `at_most`
    /// or, where all of that would be moved, as much as there is room for.
    std::optional<partner_swap> find_swap(std::span<export_item const> list_of_node, std::uint64_t at_least,
                                          std::uint64_t at_most, step_budget& steps) {
        gives_.to_give(list_of_node);
        steps.spend(8 * gives_.offers().size());
        std::optional<partner_swap> best;
        with_roomiest(nobody_else, [&](std::uint32_t partner, std::uint64_t room) {
            std::uint64_t const most = at_least == at_most ? room : std::min(room, at_most);
            if (most < at_least) {
                return false;
            }
            list(partner, partner_);
            takes_.to_take(partner_);
            steps.spend(8 * takes_.offers().size() + 2 * gives_.offers().size());
            auto const found =
                cheapest_swap(gives_.offers(), takes_.offers(), at_least, most, best ? best->swap.cost() : any_cost);
            if (found) {
                best = with_items(list_of_node, *found, partner);
            }
            return true;
        });
        return best;
    }

    /// Looks for exchanges that take at least `at_least` off a node, the cheapest first; they are in `swaps`.
    void find_swaps(std::uint32_t node, std::uint64_t at_least, step_budget& steps) {
        list(node, own_);
        gives_.to_give(own_);
        steps.spend(8 * gives_.offers().size());
        swaps_.clear();
        with_roomiest(node, [&](std::uint32_t partner, std::uint64_t room) {
            list(partner, partner_);
            takes_.to_take(partner_);
            steps.spend(8 * takes_.offers().size());
            for (std::uint64_t least = at_least; least <= room && least < 5 * at_least; least += at_least) {
                steps.spend(2 * gives_.offers().size());
                if (auto const found = cheapest_swap(gives_.offers(), takes_.offers(), least, room, any_cost)) {
                    swaps_.push_back(with_items(own_, *found, partner));
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

    void carry_out(std::uint32_t node, partner_swap const& swap, step_budget& steps) {
        for (std::size_t index = 0; index < 4; ++index) {
            std::uint32_t const item = swap.items[index];
            if (item == node_offer::none) {
                continue;
            }
            std::uint32_t const from = index < 2 ? node : swap.partner;
            std::uint32_t const to = index < 2 ? swap.partner : node;
            steps.spend(state_->move(item, from, to, state_->rank_in(item, to)));
        }
        rooms_.push(swap.partner);
        rooms_.push(node);
    }

    /// Gives the node with most room the heaviest item of at most `at_most`, unless that is lighter than `at_least`.
    bool send_one(std::uint32_t node, std::span<export_item const> list_of_node, std::uint64_t at_most,
                  std::uint64_t at_least, step_budget& steps) {
        auto const receiver = rooms_.pop();
        if (!receiver) {
            return false;
        }
        std::uint64_t const most = std::min(at_most, rooms_.room(*receiver));
        auto const found = std::find_if(list_of_node.begin(), list_of_node.end(),
                                        [&](export_item const& item) { return item.weight <= most; });
        bool const sends = found != list_of_node.end() && found->weight >= at_least;
        if (sends) {
            steps.spend(state_->move(found->item, node, *receiver, state_->rank_in(found->item, *receiver)));
        }
        rooms_.push(*receiver);
        return sends;
    }

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

    [[nodiscard]] partner_swap with_items(std::span<export_item const> own, node_swap const& swap,
                                          std::uint32_t partner) const noexcept {
        return {swap,
                partner,
                {item_at(own, swap.give.first), item_at(own, swap.give.second), item_at(partner_, swap.take.first),
                 item_at(partner_, swap.take.second)}};
    }

    [[nodiscard]] static std::uint32_t item_at(std::span<export_item const> list, std::uint32_t position) noexcept {
        return position == node_offer::none ? node_offer::none : list[position].item;
    }

    stay_state* state_ = nullptr;
    node_rooms rooms_;
    std::vector<export_item> own_;
    std::vector<export_item> partner_;
    node_menu gives_;
    node_menu takes_;
    std::vector<partner_swap> swaps_;
};

}  // namespace evenkeel::detail
