// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// a * b <= c * d, whatever their size.
[[nodiscard]] inline bool product_at_most(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) noexcept {
    __extension__ typedef unsigned __int128 wide;
    return static_cast<wide>(a) * b <= static_cast<wide>(c) * d;
}

/// The items of a task that weigh something, heaviest first, and what moving each means.
struct stay_items {
    sorted_items sorted;
    std::vector<std::uint64_t> bytes;  ///< empty where `proportional`
    std::vector<std::uint32_t> home_rank;
    std::vector<std::uint32_t> home_node;
    std::vector<std::uint8_t> classes;          ///< empty where all are alike
    std::vector<std::uint64_t> home_loads;      ///< of each rank, what its items weigh
    std::vector<std::size_t> drawn_on_ranks;    ///< how many items each has, with those that weigh nothing
    std::vector<placement::summary> node_sums;  ///< what is at home in each node

    /// Bytes are everywhere the same multiple of the weight, so that weights may stand for bytes.
    bool proportional = true;
    std::uint64_t bytes_per_unit = 1;
    /// Heavier items never cost more per weight, so that the order of the items is also that of their cheapness.
    bool heavier_is_cheaper = true;
    /// Whether the home of some is no rank.
    bool some_homeless = false;

    void reserve(std::size_t batch) {
        sorted.reserve(batch);
        bytes.reserve(batch);
        home_rank.reserve(batch);
        home_node.reserve(batch);
        classes.reserve(batch);
    }

    [[nodiscard]] std::size_t size() const noexcept { return sorted.size(); }
    [[nodiscard]] std::uint64_t weight(std::size_t item) const noexcept { return sorted.weights[item]; }
    [[nodiscard]] std::uint64_t bytes_of(std::size_t item) const noexcept {
        return proportional ? bytes_per_unit * weight(item) : bytes[item];
    }
    /// What moving an item costs, for comparison: its weight if that may stand for bytes.
    [[nodiscard]] std::uint64_t cost_of(std::size_t item) const noexcept {
        return proportional ? weight(item) : bytes[item];
    }
    [[nodiscard]] std::uint8_t class_of(std::size_t item) const noexcept {
        return classes.empty() ? std::uint8_t{0} : classes[item];
    }

    /// Whether `a` leaves its node before `b` does: by class, bytes per weight, weight, position.
    [[nodiscard]] bool leaves_before(std::uint32_t a, std::uint32_t b) const noexcept {
        return class_of(a) != class_of(b) ? class_of(a) < class_of(b) : costs_less(a, b);
    }

    /// Whether `a` has fewer bytes per weight, or as many and comes first.
    [[nodiscard]] bool costs_less(std::uint32_t a, std::uint32_t b) const noexcept {
        bool const no_dearer = product_at_most(cost_of(a), weight(b), cost_of(b), weight(a));
        bool const no_cheaper = product_at_most(cost_of(b), weight(a), cost_of(a), weight(b));
        return no_dearer && no_cheaper ? a < b : no_dearer;
    }

    void assign(std::string_view function, stay_task const& task) {
        sort_items(function, task.weights, sorted);
        std::size_t const count = sorted.size();
        home_rank.resize(count);
        home_node.resize(count);
        some_homeless = false;
        for (std::size_t item = 0; item < count; ++item) {
            std::uint32_t const rank = task.home_ranks[sorted.positions[item]];
            home_rank[item] = rank;
            if (rank != no_rank) {
                home_node[item] = task.nodes_of_ranks[rank];
            } else {
                home_node[item] = task.home_nodes[sorted.positions[item]];
                some_homeless = true;
            }
        }
        add_up_homes(task);
        proportional = is_proportional(task);
        bytes.resize(proportional ? 0 : count);
        for (std::size_t item = 0; item < bytes.size(); ++item) {
            bytes[item] = task.bytes[sorted.positions[item]];
        }
        classes.resize(task.classes.empty() ? 0 : count);
        for (std::size_t item = 0; item < classes.size(); ++item) {
            classes[item] = task.classes[sorted.positions[item]];
        }
        heavier_is_cheaper = std::adjacent_find(classes.begin(), classes.end(), std::not_equal_to{}) == classes.end();
        for (std::size_t item = 1; item < bytes.size() && heavier_is_cheaper; ++item) {
            heavier_is_cheaper = product_at_most(bytes[item - 1], weight(item), bytes[item], weight(item - 1));
        }
    }

  private:
    /// In the order of the batch, where the items of a rank follow one another as a rule, and the memory of its sums is
    /// at hand.
    void add_up_homes(stay_task const& task) {
        home_loads.assign(task.nodes_of_ranks.size(), 0);
        node_sums.assign(task.nodes, {});
        drawn_on_ranks.assign(task.nodes_of_ranks.size(), 0);
        std::size_t const size = task.weights.size();
        for (std::size_t item = 0; item < size;) {
            std::uint32_t const rank = task.home_ranks[item];
            std::uint32_t const node = rank != no_rank ? task.nodes_of_ranks[rank] : task.home_nodes[item];
            std::size_t const first = item;
            std::uint64_t load = 0;
            std::size_t count = 0;
            do {
                load += task.weights[item];
                count += task.weights[item] != 0 ? 1U : 0U;
                ++item;
            } while (rank != no_rank && item < size && task.home_ranks[item] == rank);
            node_sums[node].count += count;
            node_sums[node].load += load;
            if (rank != no_rank) {
                home_loads[rank] += load;
                drawn_on_ranks[rank] += item - first;
            }
        }
        for (auto& load : home_loads) {
            load /= sorted.unit;
        }
        for (auto& node : node_sums) {
            node.load /= sorted.unit;
        }
    }

    [[nodiscard]] bool is_proportional(stay_task const& task) {
        if (sorted.size() == 0) {
            return true;
        }
        if (task.weights_are_bytes() || std::ranges::equal(task.bytes, task.weights)) {
            bytes_per_unit = sorted.unit;
            return true;
        }
        std::uint64_t const of_heaviest = task.bytes[sorted.positions.front()];
        bytes_per_unit = of_heaviest / weight(0);
        if (of_heaviest % weight(0) != 0) {
            return false;
        }
        bool same = true;
        for (std::size_t item = 0; item < task.weights.size() && same; ++item) {
            same = task.weights[item] == 0 ||
                   product_equals(task.bytes[item], sorted.unit, bytes_per_unit, task.weights[item]);
        }
        return same;
    }

    [[nodiscard]] static bool product_equals(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                             std::uint64_t d) noexcept {
        __extension__ typedef unsigned __int128 wide;
        return static_cast<wide>(a) * b == static_cast<wide>(c) * d;
    }
};

}  // namespace evenkeel::detail
