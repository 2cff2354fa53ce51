// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/items_underway.hpp>
#include <evenkeel/solve/detail/node_rooms.hpp>
#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// What a node gives away at once: each item to the node with most room, the heaviest first.
///
/// Where everything goes is decided before anything moves. So a shipment that finds no room costs little, and what
/// stays moves up once for all that leave: a node that has drawn everything gives most of the batch away.
class shipment {
  public:
    void reserve(std::size_t items) { parcels_.reserve(items); }

    /// Says what is to be given away: these positions of a list.
    void pack(stay_state const& state, std::span<export_item const> list, std::span<std::uint32_t const> positions) {
        parcels_.clear();
        for (auto const position : positions) {
            state.fetch_ahead(list[position].item);
            parcels_.push_back({list[position].item, list[position].weight, 0});
        }
    }

    /// The same for a whole list.
    void pack(std::span<export_item const> list) {
        parcels_.clear();
        for (auto const& [weight, cost, item] : list) {
            parcels_.push_back({item, weight, 0});
        }
    }

    /// Sends all of it or nothing; whether there was room for it.
    bool send_all(stay_state& state, std::uint32_t node, node_rooms& rooms, step_budget& steps) {
        std::size_t const placed = place(state, rooms, false, steps);
        if (placed < parcels_.size()) {
            for (auto const& [item, weight, to] : std::span{parcels_}.first(placed)) {
                state.withdraw(weight, to);
                rooms.push(to);
            }
            return false;
        }
        send(state, node, placed, steps);
        return true;
    }

    /// Sends as much as there is room for; whether that was anything.
    bool send_some(stay_state& state, std::uint32_t node, node_rooms& rooms, step_budget& steps) {
        std::size_t const placed = place(state, rooms, true, steps);
        send(state, node, placed, steps);
        return placed > 0;
    }

  private:
    /// Finds room for parcels, which come first then, and promises them to the nodes that have it.
    ///
    /// @param gaps  Whether to go on where one finds none.
    /// @return      For how many.
    std::size_t place(stay_state& state, node_rooms& rooms, bool gaps, step_budget& steps) {
        std::ranges::sort(parcels_, [](parcel const& a, parcel const& b) {
            return a.weight > b.weight || (a.weight == b.weight && a.item < b.item);
        });
        std::size_t placed = 0;
        std::size_t tried = 0;
        for (bool more = true; more && tried < parcels_.size(); ++tried) {
            auto const [item, weight, _] = parcels_[tried];
            auto const receiver = rooms.pop();
            if (!receiver) {
                break;
            }
            bool const fits = weight <= rooms.room(*receiver);
            if (fits) {
                state.promise(weight, *receiver);
                parcels_[placed++] = {item, weight, *receiver};
            }
            rooms.push(*receiver);
            more = fits || gaps;
        }
        steps.spend(parcels_.size() * bits(parcels_.size()) + tried * bits(state.ranks().nodes()));
        return placed;
    }

    void send(stay_state& state, std::uint32_t node, std::size_t count, step_budget& steps) const {
        if (count > 0) {
            steps.spend(state.nodes().items(node).size() / 8 + 4 * count);
            state.send(node, std::span{parcels_}.first(count));
        }
    }

    /// What finding a place among so many takes.
    [[nodiscard]] static std::uint64_t bits(std::size_t number) noexcept {
        return static_cast<std::uint64_t>(std::bit_width(number));
    }

    std::vector<parcel> parcels_;
};

}  // namespace evenkeel::detail
