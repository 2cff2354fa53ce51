// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>

namespace evenkeel::detail {

/// What has to leave a node at least because it does not fit onto its ranks, although its sum would.
///
///     5 5 5 on two ranks of 8: one of the three has to go
///
/// Dual feasible functions give each item a value such that what fits onto a rank has values of at most F together.
/// What stays on the ranks of a node has at most ranks * F, so the rest must leave: the cheapest per value, the last
/// one cut to measure (G. B. Dantzig 1957). The functions are those of `dual_feasible`.
class packing_cover {
  public:
    void reserve(std::size_t items) {
        valued_.reserve(items);
        limits_.reserve(2 * items);
    }

    /// @param items     What is at home in the node, heaviest first; costs less than 2^64 in all.
    /// @param capacity  No rank of the node has more.
    [[nodiscard]] std::uint64_t operator()(std::span<export_item const> items, std::size_t ranks,
                                           std::uint64_t capacity, step_budget& steps) {
        std::uint64_t too_heavy = 0;
        while (!items.empty() && items.front().weight > capacity) {
            too_heavy += items.front().cost;
            items = items.subspan(1);
        }
        // The values of all items must not wrap.
        if (std::bit_width(2 * capacity) + std::bit_width(std::max(items.size(), ranks)) > 63) {
            return too_heavy;
        }
        limits_.clear();
        for (auto const& item : items) {
            std::uint64_t const weight = item.weight;
            if (2 * weight <= capacity) {
                limits_.push_back(weight);
            }
            if (2 * (capacity - weight + 1) <= capacity) {
                limits_.push_back(capacity - weight + 1);
            }
        }
        std::sort(limits_.begin(), limits_.end());
        limits_.erase(std::unique(limits_.begin(), limits_.end()), limits_.end());
        std::uint64_t bound = 0;
        for (auto const limit : limits_) {
            if (steps.exhausted()) {
                break;
            }
            bound = std::max(bound, cover(items, ranks * capacity, steps,
                                          [&](std::uint64_t weight) { return cut_off(weight, capacity, limit); }));
            bound = std::max(bound, cover(items, ranks * 2 * (capacity / limit), steps,
                                          [&](std::uint64_t weight) { return in_steps(weight, capacity, limit); }));
        }
        return too_heavy + bound;
    }

  private:
    __extension__ typedef unsigned __int128 wide;

    struct valued {
        std::uint64_t cost;
        std::uint64_t value;
    };

    template <class Value>
    [[nodiscard]] std::uint64_t cover(std::span<export_item const> items, std::uint64_t room, step_budget& steps,
                                      Value value_of) {
        valued_.clear();
        std::uint64_t all = 0;
        for (auto const& item : items) {
            if (auto const value = value_of(item.weight); value > 0) {
                valued_.push_back({item.cost, value});
                all += value;
            }
        }
        steps.spend(2 * items.size());
        if (all <= room) {
            return 0;
        }
        steps.spend(8 * items.size());
        std::sort(valued_.begin(), valued_.end(), [](valued const& a, valued const& b) {
            wide const of_a = wide{a.cost} * b.value;
            wide const of_b = wide{b.cost} * a.value;
            return of_a != of_b ? of_a < of_b : a.value < b.value;
        });
        std::uint64_t need = all - room;
        std::uint64_t cost = 0;
        for (auto const& item : valued_) {
            if (item.value >= need) {
                return cost + static_cast<std::uint64_t>((wide{item.cost} * need + (item.value - 1)) / item.value);
            }
            need -= item.value;
            cost += item.cost;
        }
        return cost;
    }

    [[nodiscard]] static std::uint64_t cut_off(std::uint64_t weight, std::uint64_t capacity,
                                               std::uint64_t limit) noexcept {
        return weight < limit ? 0 : weight > capacity - limit ? capacity : weight;
    }

    [[nodiscard]] static std::uint64_t in_steps(std::uint64_t weight, std::uint64_t capacity,
                                                std::uint64_t limit) noexcept {
        std::uint64_t const all = capacity / limit;
        if (2 * weight > capacity) {
            return 2 * (all - (capacity - weight) / limit);
        }
        return 2 * weight == capacity ? all : 2 * (weight / limit);
    }

    std::vector<valued> valued_;
    std::vector<std::uint64_t> limits_;
};

}  // namespace evenkeel::detail
