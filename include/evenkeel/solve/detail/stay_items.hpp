// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

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
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> home_rank;
    std::vector<std::uint32_t> home_node;
    std::vector<std::uint8_t> classes;  ///< empty where all are alike

    /// Heavier items never cost more per weight, so that the order of the items is also that of their cheapness.
    bool heavier_is_cheaper = true;
    /// Bytes are everywhere the same multiple of the weight, so that weights may stand for bytes.
    bool proportional = true;

    void reserve(std::size_t batch) {
        sorted.reserve(batch);
        bytes.reserve(batch);
        home_rank.reserve(batch);
        home_node.reserve(batch);
        classes.reserve(batch);
    }

    [[nodiscard]] std::size_t size() const noexcept { return sorted.size(); }
    [[nodiscard]] std::uint64_t weight(std::size_t item) const noexcept { return sorted.weights[item]; }
    [[nodiscard]] std::uint8_t class_of(std::size_t item) const noexcept {
        return classes.empty() ? std::uint8_t{0} : classes[item];
    }

    /// Whether `a` leaves its node before `b` does: by class, bytes per weight, weight, position.
    [[nodiscard]] bool leaves_before(std::uint32_t a, std::uint32_t b) const noexcept {
        if (class_of(a) != class_of(b)) {
            return class_of(a) < class_of(b);
        }
        bool const no_dearer = product_at_most(bytes[a], weight(b), bytes[b], weight(a));
        bool const no_cheaper = product_at_most(bytes[b], weight(a), bytes[a], weight(b));
        return no_dearer && no_cheaper ? a < b : no_dearer;
    }

    void assign(std::string_view function, stay_task const& task) {
        sort_items(function, task.weights, sorted);
        std::size_t const count = sorted.size();
        bytes.resize(count);
        home_rank.resize(count);
        home_node.resize(count);
        classes.resize(task.classes.empty() ? 0 : count);
        for (std::size_t item = 0; item < count; ++item) {
            std::size_t const position = sorted.positions[item];
            bytes[item] = task.bytes[position];
            home_rank[item] = task.home_ranks[position];
            home_node[item] = task.home_nodes[position];
        }
        for (std::size_t item = 0; item < classes.size(); ++item) {
            classes[item] = task.classes[sorted.positions[item]];
        }
        compare_bytes();
    }

  private:
    void compare_bytes() {
        bool const alike = std::adjacent_find(classes.begin(), classes.end(), std::not_equal_to{}) == classes.end();
        proportional = alike;
        heavier_is_cheaper = alike;
        for (std::size_t item = 1; item < size() && proportional; ++item) {
            proportional = bytes[item] == bytes[0] / weight(0) * weight(item);
        }
        proportional = proportional && (size() == 0 || bytes[0] % weight(0) == 0);
        for (std::size_t item = 1; item < size() && heavier_is_cheaper && !proportional; ++item) {
            heavier_is_cheaper = product_at_most(bytes[item - 1], weight(item), bytes[item], weight(item - 1));
        }
    }
};

}  // namespace evenkeel::detail
