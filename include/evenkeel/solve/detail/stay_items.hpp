// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/solve/detail/district_sorting.hpp>
#include <evenkeel/solve/detail/home_sums.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// a * b <= c * d, whatever their size.
[[nodiscard]] inline bool product_at_most(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) noexcept {
    __extension__ typedef unsigned __int128 wide;
    return static_cast<wide>(a) * b <= static_cast<wide>(c) * d;
}

/// The items of a task, and what moving each means.
///
/// They have the numbers that they have in the batch, so that what is known of the items of a node is found together,
/// and nothing is put into another order but the lists of items by weight.
struct stay_items {
    /// Those that weigh something, heaviest first in each district.
    sorted_items sorted;
    home_sums at_home;  ///< in units

    /// Bytes are everywhere the same multiple of the weight, so that weights may stand for bytes.
    bool proportional = true;
    std::uint64_t bytes_per_unit = 1;
    /// In no district do heavier items cost more per weight, so that their order is also that of their cheapness.
    bool heavier_is_cheaper = true;
    /// As in the task.
    bool limit_imports = false;

    void reserve(std::size_t batch, std::size_t nodes) {
        sorted.reserve(batch);
        districts_.reserve(batch, nodes);
        in_units_.reserve(batch);
    }

    /// How many weigh something.
    [[nodiscard]] std::size_t size() const noexcept { return sorted.size(); }
    /// These, heaviest first in each district.
    [[nodiscard]] std::span<std::uint32_t const> order() const noexcept { return sorted.positions; }
    /// Where the items of each district end in that order.
    [[nodiscard]] std::span<std::size_t const> district_ends() const noexcept { return districts_.ends(); }
    /// Whether they are all in one.
    [[nodiscard]] bool is_falling() const noexcept { return district_ends().size() == 1; }
    /// How many there are with those that weigh nothing.
    [[nodiscard]] std::size_t batch() const noexcept { return weights_.size(); }

    /// In units.
    [[nodiscard]] std::span<std::uint64_t const> weights() const noexcept { return weights_; }
    [[nodiscard]] std::uint64_t weight(std::size_t item) const noexcept { return weights_[item]; }
    [[nodiscard]] std::span<std::uint32_t const> home_ranks() const noexcept { return homes_; }
    [[nodiscard]] std::uint32_t home_rank(std::size_t item) const noexcept { return homes_[item]; }
    [[nodiscard]] std::uint32_t home_node(std::size_t item) const noexcept {
        return homes_[item] != no_rank ? nodes_of_ranks_[homes_[item]] : home_nodes_[item];
    }
    [[nodiscard]] std::uint64_t bytes_of(std::size_t item) const noexcept {
        return proportional ? bytes_per_unit * weight(item) : bytes_[item];
    }
    /// What moving an item costs, for comparison: its weight if that may stand for bytes.
    [[nodiscard]] std::uint64_t cost_of(std::size_t item) const noexcept {
        return proportional ? weight(item) : bytes_[item];
    }
    /// Those of all items that weigh something.
    [[nodiscard]] std::uint64_t total_bytes() const noexcept {
        std::uint64_t total = std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0});
        for (std::size_t item = 0; item < batch() && size() < batch(); ++item) {
            total -= weights_[item] == 0 ? bytes_[item] : 0;
        }
        return total;
    }
    /// Of each item; empty where all are alike.
    [[nodiscard]] std::span<std::uint8_t const> classes() const noexcept { return classes_; }
    [[nodiscard]] std::uint8_t class_of(std::size_t item) const noexcept {
        return classes_.empty() ? std::uint8_t{0} : classes_[item];
    }

    /// Whether `a` comes first in a list that begins with the heaviest item.
    [[nodiscard]] bool precedes(std::uint32_t a, std::uint32_t b) const noexcept {
        return weight(a) > weight(b) || (weight(a) == weight(b) && a < b);
    }

    /// Whether `a` has fewer bytes per weight, or as many and comes first.
    [[nodiscard]] bool costs_less(std::uint32_t a, std::uint32_t b) const noexcept {
        bool const no_dearer = product_at_most(cost_of(a), weight(b), cost_of(b), weight(a));
        bool const no_cheaper = product_at_most(cost_of(b), weight(a), cost_of(a), weight(b));
        return no_dearer && no_cheaper ? precedes(a, b) : no_dearer;
    }

    /// The weight of the heaviest one, of some.
    [[nodiscard]] std::uint64_t heaviest() const noexcept {
        std::uint64_t most = sorted.weights.front();
        for (auto const end : district_ends()) {
            most = std::max(most, end < size() ? sorted.weights[end] : most);
        }
        return most;
    }
    /// The weight of the lightest one.
    [[nodiscard]] std::uint64_t lightest() const noexcept {
        std::uint64_t least = sorted.weights.front();
        for (auto const end : district_ends()) {
            least = std::min(least, end > 0 ? sorted.weights[end - 1] : least);
        }
        return least;
    }

    /// Calls `visit(place, node)` for each item in that order, with its node.
    template <class Visit>
    void for_homes(Visit visit) const {
        auto const positions = std::span<std::uint32_t const>{sorted.positions};
        auto const nodes_of_ranks = nodes_of_ranks_;
        if (at_home.runs_are_even) {
            for (std::size_t place = 0; place < positions.size(); ++place) {
                visit(place, nodes_of_ranks[at_home.runs.rank_of(positions[place])]);
            }
        } else if (home_nodes_.empty()) {
            auto const homes = homes_;
            for (std::size_t place = 0; place < positions.size(); ++place) {
                visit(place, nodes_of_ranks[homes[positions[place]]]);
            }
        } else {
            for (std::size_t place = 0; place < positions.size(); ++place) {
                visit(place, home_node(positions[place]));
            }
        }
    }

    /// @param task               What it refers to is read again later.
    /// @param most_per_district  How many items, unless one node has more.
    void assign(std::string_view function, stay_task const& task,
                std::size_t most_per_district = std::numeric_limits<std::size_t>::max()) {
        limit_imports = task.limit_imports;
        bytes_ = task.bytes;
        homes_ = task.home_ranks;
        home_nodes_ = task.home_nodes;
        nodes_of_ranks_ = task.nodes_of_ranks;
        classes_ = task.classes;
        at_home.add_up(task);
        districts_(function, task, at_home.drawn_on_nodes, at_home.nodes_in_order, most_per_district, sorted);
        use_unit(task.weights);
        proportional = is_proportional(task);
        heavier_is_cheaper = std::ranges::adjacent_find(classes_, std::not_equal_to{}) == classes_.end();
        std::size_t first = 0;
        for (auto const end : district_ends()) {
            for (std::size_t place = first + 1; place < end && heavier_is_cheaper && !proportional; ++place) {
                std::uint32_t const before = sorted.positions[place - 1];
                std::uint32_t const item = sorted.positions[place];
                heavier_is_cheaper = product_at_most(cost_of(before), weight(item), cost_of(item), weight(before));
            }
            first = end;
        }
    }

  private:
    void use_unit(std::span<std::uint64_t const> weights) {
        weights_ = weights;
        if (sorted.unit == 1) {
            return;
        }
        in_units_.resize(weights.size());
        std::ranges::transform(weights, in_units_.begin(), [&](std::uint64_t weight) { return weight / sorted.unit; });
        weights_ = in_units_;
        at_home.divide_by(sorted.unit);
    }

    [[nodiscard]] bool is_proportional(stay_task const& task) {
        if (sorted.size() == 0) {
            return true;
        }
        if (task.weights_are_bytes() || std::ranges::equal(task.bytes, task.weights)) {
            bytes_per_unit = sorted.unit;
            return true;
        }
        std::uint32_t const any = sorted.positions.front();
        bytes_per_unit = task.bytes[any] / weight(any);
        if (task.bytes[any] % weight(any) != 0) {
            return false;
        }
        bool same = true;
        if ((bytes_per_unit | heaviest()) >> 32 == 0 && sorted.unit == 1) {
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
        __extension__ typedef unsigned __int128 wide;
        for (std::size_t item = 0; item < task.weights.size() && same; ++item) {
            same = task.weights[item] == 0 || task.bytes[item] == static_cast<wide>(bytes_per_unit) * weight(item);
        }
        return same;
    }

    std::span<std::uint64_t const> weights_;
    std::span<std::uint64_t const> bytes_;
    std::span<std::uint32_t const> homes_;
    std::span<std::uint32_t const> home_nodes_;
    std::span<std::uint32_t const> nodes_of_ranks_;
    std::span<std::uint8_t const> classes_;
    std::vector<std::uint64_t> in_units_;  ///< the weights, where that is another than 1
    district_sorting districts_;
};

}  // namespace evenkeel::detail
