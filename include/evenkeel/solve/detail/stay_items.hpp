// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/solve/detail/drawn_runs.hpp>
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
    /// As in the task.
    bool limit_imports = false;

    void reserve(std::size_t batch) {
        sorted.reserve(batch);
        home_rank.reserve(batch);
        home_node.reserve(batch);
        classes.reserve(batch);
    }

    [[nodiscard]] std::size_t size() const noexcept { return sorted.size(); }
    [[nodiscard]] std::uint64_t weight(std::size_t item) const noexcept { return sorted.weights[item]; }
    [[nodiscard]] std::uint64_t bytes_of(std::size_t item) const noexcept {
        return proportional ? bytes_per_unit * weight(item) : bytes_in_batch(item);
    }
    /// What moving an item costs, for comparison: its weight if that may stand for bytes.
    [[nodiscard]] std::uint64_t cost_of(std::size_t item) const noexcept {
        return proportional ? weight(item) : bytes_in_batch(item);
    }
    /// Those of all items that weigh something.
    [[nodiscard]] std::uint64_t total_bytes() const noexcept {
        std::uint64_t total = std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0});
        for (std::size_t position = 0; position < bytes_.size() && size() < bytes_.size(); ++position) {
            total -= weights_[position] == 0 ? bytes_[position] : 0;
        }
        return total;
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

    /// @param task  Its weights and bytes are read again later.
    void assign(std::string_view function, stay_task const& task) {
        limit_imports = task.limit_imports;
        weights_ = task.weights;
        bytes_ = task.bytes;
        sort_items(function, task.weights, sorted);
        std::size_t const count = sorted.size();
        home_rank.resize(count);
        home_node.resize(count);
        classes.resize(task.classes.empty() ? 0 : count);
        add_up_homes(task);
        read_homes(task);
        proportional = is_proportional(task);
        heavier_is_cheaper = std::adjacent_find(classes.begin(), classes.end(), std::not_equal_to{}) == classes.end();
        for (std::size_t item = 1; item < count && heavier_is_cheaper && !proportional; ++item) {
            heavier_is_cheaper = product_at_most(cost_of(item - 1), weight(item), cost_of(item), weight(item - 1));
        }
    }

  private:
    /// Read where they stand, not put in order: few are asked for, mostly together with others of their node.
    [[nodiscard]] std::uint64_t bytes_in_batch(std::size_t item) const noexcept {
        return bytes_[sorted.positions[item]];
    }

    void read_homes(stay_task const& task) {
        // Copies of all that is read and written, for a class might be stored anywhere, as far as a compiler knows.
        auto const positions = std::span<std::uint32_t const>{sorted.positions};
        auto const homes = task.home_ranks;
        auto const nodes_of_ranks = task.nodes_of_ranks;
        auto* const to_rank = home_rank.data();
        auto* const to_node = home_node.data();
        some_homeless = false;
        if (runs_.even(task.weights.size())) {
            for (std::size_t item = 0; item < positions.size(); ++item) {
                std::uint32_t const rank = runs_.rank_of(positions[item]);
                to_rank[item] = rank;
                to_node[item] = nodes_of_ranks[rank];
            }
        } else if (task.home_nodes.empty()) {
            for (std::size_t item = 0; item < positions.size(); ++item) {
                std::uint32_t const rank = homes[positions[item]];
                to_rank[item] = rank;
                to_node[item] = nodes_of_ranks[rank];
            }
        } else {
            for (std::size_t item = 0; item < positions.size(); ++item) {
                std::uint32_t const rank = homes[positions[item]];
                to_rank[item] = rank;
                to_node[item] = rank == no_rank ? task.home_nodes[positions[item]] : nodes_of_ranks[rank];
                some_homeless = some_homeless || rank == no_rank;
            }
        }
        auto const all_classes = task.classes;
        auto* const to_class = classes.data();
        for (std::size_t item = 0; item < positions.size() && !all_classes.empty(); ++item) {
            to_class[item] = all_classes[positions[item]];
        }
    }

    /// In the order of the batch, where the items of a rank follow one another as a rule, and the memory of its sums is
    /// at hand.
    void add_up_homes(stay_task const& task) {
        home_loads.assign(task.nodes_of_ranks.size(), 0);
        node_sums.assign(task.nodes, {});
        drawn_on_ranks.assign(task.nodes_of_ranks.size(), 0);
        runs_.start(task.nodes_of_ranks.size());
        std::size_t const size = task.weights.size();
        for (std::size_t item = 0; item < size;) {
            std::uint32_t const rank = task.home_ranks[item];
            std::uint32_t const node = rank != no_rank ? task.nodes_of_ranks[rank] : task.home_nodes[item];
            std::size_t const first = item;
            std::size_t const most = rank != no_rank ? size : item + 1;
            do {
                ++item;
            } while (item < most && task.home_ranks[item] == rank);
            std::uint64_t load = 0;
            std::size_t count = 0;
            for (auto const weight : task.weights.subspan(first, item - first)) {
                load += weight;
                count += weight != 0 ? 1U : 0U;
            }
            runs_.add(rank, first, item - first);
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
        if ((bytes_per_unit | weight(0)) >> 32 == 0 && sorted.unit == 1) {
            // Products of 32 bits; with no end before the last of a few, these are taken together.
            constexpr std::size_t together = 64;
            for (std::size_t first = 0; first < task.weights.size() && same; first += together) {
                std::uint64_t differ = 0;
                for (std::size_t item = first; item < std::min(first + together, task.weights.size()); ++item) {
                    differ |= task.weights[item] == 0 ? 0 : task.bytes[item] ^ (bytes_per_unit * task.weights[item]);
                }
                same = differ == 0;
            }
            return same;
        }
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

    std::span<std::uint64_t const> weights_;  ///< in the order of the batch
    std::span<std::uint64_t const> bytes_;
    drawn_runs runs_;
};

}  // namespace evenkeel::detail
