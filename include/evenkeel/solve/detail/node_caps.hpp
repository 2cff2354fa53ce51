// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_state.hpp>

namespace evenkeel::detail {

/// What each node may have while items move between nodes.
///
/// A node that has drawn little would take on most of all, and its links be the busiest of the step, although others
/// have room as well. Where asked, no node takes on more than the largest that another has to give away, or as little
/// more as lets the rooms of all hold what moves.
class node_caps {
  public:
    void reserve(std::size_t nodes) {
        caps_.reserve(nodes);
        limits_.reserve(nodes);
    }

    /// Sets them for items that are at home.
    ///
    /// @param margin         What is kept back in each node of what its ranks may have together.
    /// @param limit_imports  Whether to limit what nodes take on. Where that needs the margin, none is kept back.
    /// @return               What is kept back.
    std::uint64_t start(stay_state const& state, std::uint64_t target, std::uint64_t margin, bool limit_imports) {
        limits_.assign(state.ranks().nodes(), unlimited);
        keep_back(state, target, margin);
        if (!limit_imports) {
            return margin;
        }
        imports now = find_imports(state);
        bool const is_tight = now.limit != unlimited && now.limit - now.largest_export > now.largest_export / 64;
        if (is_tight && margin > 0) {
            margin = 0;
            keep_back(state, target, margin);
            now = find_imports(state);
        }
        for (std::size_t node = 0; node < caps_.size() && now.limit != unlimited; ++node) {
            std::uint64_t const load = state.nodes().load(node);
            limits_[node] = load < caps_[node] ? load + std::min(now.limit, caps_[node] - load) : unlimited;
            caps_[node] = std::min(caps_[node], limits_[node]);
        }
        return margin;
    }

    /// Gives nodes back what was kept, but for the limits of what they take on.
    void open(stay_state const& state, std::uint64_t target) {
        for (std::size_t node = 0; node < caps_.size(); ++node) {
            caps_[node] = std::min(limits_[node], state.room_for(node, target));
        }
    }

    [[nodiscard]] std::span<std::uint64_t const> caps() const noexcept { return caps_; }

  private:
    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

    struct imports {
        std::uint64_t limit = unlimited;
        std::uint64_t largest_export = 0;
    };

    void keep_back(stay_state const& state, std::uint64_t target, std::uint64_t margin) {
        caps_.resize(state.ranks().nodes());
        for (std::size_t node = 0; node < caps_.size(); ++node) {
            std::uint64_t const whole = state.room_for(node, target);
            caps_[node] = whole - std::min(whole, margin);
        }
    }

    /// The least limit with which a tenth of the room that would be left over without one is.
    [[nodiscard]] imports find_imports(stay_state const& state) const {
        __extension__ typedef unsigned __int128 wide;
        imports result;
        std::uint64_t largest_room = 0;
        wide exported = 0;
        auto const for_rooms = [&](auto const& visit) {
            for (std::size_t node = 0; node < caps_.size(); ++node) {
                std::uint64_t const load = state.nodes().load(node);
                visit(caps_[node] - std::min(caps_[node], load), load - std::min(caps_[node], load));
            }
        };
        auto const room_within = [&](std::uint64_t limit) {
            wide room = 0;
            for_rooms([&](std::uint64_t of_node, std::uint64_t) { room += std::min(limit, of_node); });
            return room;
        };
        for_rooms([&](std::uint64_t room, std::uint64_t excess) {
            largest_room = std::max(largest_room, room);
            result.largest_export = std::max(result.largest_export, excess);
            exported += excess;
        });
        wide const all_room = room_within(unlimited);
        if (largest_room <= result.largest_export || all_room <= exported) {
            return result;
        }
        wide const needed = exported + (all_room - exported) / 10;
        std::uint64_t low = result.largest_export;
        std::uint64_t high = largest_room;
        while (low < high) {
            std::uint64_t const middle = low + (high - low) / 2;
            if (room_within(middle) >= needed) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        result.limit = low;
        return result;
    }

    std::vector<std::uint64_t> caps_;
    std::vector<std::uint64_t> limits_;  ///< what taking on may bring a node to, or `unlimited`
};

}  // namespace evenkeel::detail
