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

#include <evenkeel/solve/detail/byte_rate.hpp>
#include <evenkeel/solve/detail/class_0_lists.hpp>
#include <evenkeel/solve/detail/home_sums.hpp>
#include <evenkeel/solve/detail/node_sorting.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/unit_weights.hpp>

namespace evenkeel::detail {

/// In which order a solver has the items: all of them heaviest first, or node by node.
enum class item_order : std::uint8_t { by_weight, by_node };

/// The items of a task, and what moving each means.
///
/// They have the numbers that they have in the batch, so that what is known of the items of a node is found together,
/// and nothing is put into another order but the lists of items by weight.
///
/// Where `class_0_lists` may do, nobody may ask for the order of all, and they are not sorted before.
struct stay_items {
    home_sums at_home;  ///< in units

    /// Bytes are everywhere the same multiple of the weight, so that weights may stand for bytes.
    bool proportional = true;
    std::uint64_t bytes_per_unit = 1;
    /// In no node do heavier items cost more per weight, so that their order is also that of their cheapness.
    bool heavier_is_cheaper = true;
    /// As in the task.
    bool limit_imports = false;

    void reserve(std::size_t batch, std::size_t nodes) {
        sorted_.reserve(batch);
        class_0_.reserve(batch, nodes);
        at_home.reserve(batch, nodes);
        sorting_.reserve(batch, nodes);
        in_units_.reserve(batch);
    }

    /// How many weigh something.
    [[nodiscard]] std::size_t size() const noexcept { return at_home.present; }
    /// These, heaviest first, or heaviest first in each node.
    [[nodiscard]] std::span<std::uint32_t const> order() const {
        sort_all();
        return sorted_.positions;
    }
    /// What each of them weighs.
    [[nodiscard]] std::span<std::uint64_t const> sorted_weights() const {
        sort_all();
        return sorted_.weights;
    }
    [[nodiscard]] sorted_items const& sorted() const {
        sort_all();
        return sorted_;
    }
    /// These weights, or all as the batch has them, where they have not been sorted so far.
    [[nodiscard]] std::span<std::uint64_t const> weights_at_hand() const noexcept {
        return all_sorted_ ? std::span<std::uint64_t const>{sorted_.weights} : weights_;
    }
    /// Whether they are all in one falling order.
    [[nodiscard]] bool is_falling() const noexcept { return !by_node_ || at_home.nodes.size() == 1; }
    /// What is of class 0, if nodes begin with lists of that alone; else none.
    [[nodiscard]] class_0_lists const* class_0() const noexcept { return class_0_alone_ ? &class_0_ : nullptr; }
    /// Lists for each node what it has at home, or what of that is of class 0.
    void list_at_home(placement& lists) const {
        if (class_0_alone_) {
            class_0_.list(lists, size());
        } else if (by_node_) {
            lists.reset(sorted_.weights, sorted_.positions, sorting_.ends(), at_home.nodes, size());
        } else {
            lists.reset(sorted_.weights, sorted_.positions, at_home.nodes, [&](auto const& put) {
                for (std::size_t place = 0; place < size(); ++place) {
                    put(place, home_node(sorted_.positions[place]));
                }
            });
        }
    }
    /// How many there are with those that weigh nothing.
    [[nodiscard]] std::size_t batch() const noexcept { return weights_.size(); }

    /// The greatest common divisor of the weights.
    [[nodiscard]] std::uint64_t unit() const noexcept { return in_units_.unit(); }
    /// The sum of the weights, in units.
    [[nodiscard]] std::uint64_t total() const noexcept { return at_home.total; }
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
        return all_sorted_ ? heaviest_ : std::ranges::max(weights_);
    }
    /// The weight of the lightest one, of some.
    [[nodiscard]] std::uint64_t lightest() const {
        sort_all();
        return lightest_;
    }

    /// @param task  What it refers to is read again later.
    /// @throws std::overflow_error  if the sum of the weights exceeds 64 bits; names `function`.
    void assign(std::string_view function, stay_task const& task, item_order order = item_order::by_weight) {
        limit_imports = task.limit_imports;
        bytes_ = task.bytes;
        homes_ = task.home_ranks;
        home_nodes_ = task.home_nodes;
        nodes_of_ranks_ = task.nodes_of_ranks;
        classes_ = task.classes;
        at_home.add_up(function, task);
        in_units_.assign(task.weights);
        weights_ = in_units_.weights();
        at_home.divide_by(unit());
        by_node_ = order == item_order::by_node;
        heavier_is_cheaper = std::ranges::adjacent_find(classes_, std::not_equal_to{}) == classes_.end();
        class_0_alone_ = by_node_ && !heavier_is_cheaper && class_0_lists::may_do(task, at_home);
        all_sorted_ = false;
        if (class_0_alone_) {
            class_0_.assign(weights_, classes_, at_home);
        } else {
            sort_all();
        }
        auto const rate = bytes_per_weight(task, weights_, unit(), at_home.most);
        proportional = rate.has_value();
        bytes_per_unit = rate.value_or(0);
        std::size_t first = 0;
        for (std::size_t node = 0; node < task.nodes && by_node_ && heavier_is_cheaper && !proportional; ++node) {
            heavier_is_cheaper = are_rising_in_cost(first, sorting_.ends()[node]);
            first = sorting_.ends()[node];
        }
        if (!by_node_ && heavier_is_cheaper && !proportional) {
            heavier_is_cheaper = are_rising_in_cost(0, size());
        }
    }

  private:
    void sort_all() const {
        if (all_sorted_) {
            return;
        }
        all_sorted_ = true;
        if (by_node_) {
            sorting_(weights_, at_home.runs, at_home.nodes.size(), size(), sorted_);
        } else {
            sort_items({}, weights_, sorted_);
        }
        sorted_.unit = 1;
        sorted_.total = total();
        find_extremes();
    }

    /// Asked for over and over: the first one and the last one of some node are.
    void find_extremes() const noexcept {
        heaviest_ = sorted_.weights.empty() ? 0 : sorted_.weights.front();
        lightest_ = sorted_.weights.empty() ? 0 : sorted_.weights.back();
        for (auto const end : by_node_ ? sorting_.ends() : std::span<std::size_t const>{}) {
            heaviest_ = end < sorted_.size() ? std::max(heaviest_, sorted_.weights[end]) : heaviest_;
            lightest_ = end > 0 ? std::min(lightest_, sorted_.weights[end - 1]) : lightest_;
        }
    }

    /// Whether cheapness falls with weight between two places of the order.
    [[nodiscard]] bool are_rising_in_cost(std::size_t first, std::size_t end) const noexcept {
        for (std::size_t place = first + 1; place < end; ++place) {
            std::uint32_t const before = sorted_.positions[place - 1];
            std::uint32_t const item = sorted_.positions[place];
            if (!product_at_most(cost_of(before), weight(item), cost_of(item), weight(before))) {
                return false;
            }
        }
        return true;
    }

    std::span<std::uint64_t const> weights_;  ///< in units
    std::span<std::uint64_t const> bytes_;
    std::span<std::uint32_t const> homes_;
    std::span<std::uint32_t const> home_nodes_;
    std::span<std::uint32_t const> nodes_of_ranks_;
    std::span<std::uint8_t const> classes_;
    unit_weights in_units_;
    bool by_node_ = false;
    bool class_0_alone_ = false;
    class_0_lists class_0_;
    mutable bool all_sorted_ = false;
    mutable sorted_items sorted_;  ///< those that weigh something
    mutable std::uint64_t heaviest_ = 0;
    mutable std::uint64_t lightest_ = 0;
    mutable node_sorting sorting_;
};

}  // namespace evenkeel::detail
