// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/home_sums.hpp>
#include <evenkeel/solve/detail/node_sorting.hpp>
#include <evenkeel/solve/detail/placement.hpp>
#include <evenkeel/solve/detail/short_sorting.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// What each node has at home of class 0, sorted; of other items only once they have to be looked at.
///
/// Class 0 leaves first, and mostly nothing else has to: then most items of a batch need no order at all.
class class_0_lists {
  public:
    void reserve(std::size_t batch, std::size_t nodes) {
        sorted_.reserve(batch);
        sorting_.reserve(batch, nodes);
    }

    /// With no more items than that which weigh something, most have to be looked at.
    static constexpr std::size_t few_per_rank = 13;

    /// Whether there is enough of class 0 to make the other items wait, and these can be sorted later: no node has more
    /// than `short_sorting` takes.
    [[nodiscard]] static bool may_do(stay_task const& task, home_sums const& at_home) {
        auto const of_class_0 = static_cast<std::size_t>(std::ranges::count(task.classes, std::uint8_t{0}));
        return task.nodes > 1 && at_home.present > few_per_rank * task.nodes_of_ranks.size() &&
               !at_home.some_homeless && of_class_0 >= task.classes.size() / 16 &&
               short_sorting::fits(std::ranges::max(at_home.drawn_on_nodes), width_of(at_home));
    }

    /// @param weights, classes, at_home  Of all items; are read again later.
    void assign(std::span<std::uint64_t const> weights, std::span<std::uint8_t const> classes,
                home_sums const& at_home) {
        weights_ = weights;
        classes_ = classes;
        at_home_ = &at_home;
        sorting_.of_class_0(weights, classes, at_home.runs, at_home.nodes.size(), sorted_);
    }

    /// @param all  How many items lists are to have room for.
    void list(placement& lists, std::size_t all) const {
        lists.reset(sorted_.weights, sorted_.positions, sorting_.ends(), at_home_->nodes, all);
    }

    /// Lists what a node has at home of other classes, heaviest first.
    template <class Item>
    void list_others(std::uint32_t node, std::vector<Item>& result) const {
        std::array<std::uint64_t, short_sorting::most_items> weights;
        std::array<std::uint32_t, short_sorting::most_items> numbers;
        std::size_t count = 0;
        for (auto const [first, size] : at_home_->runs.of(node)) {
            for (std::uint32_t item = first; item < first + size; ++item) {
                weights[count] = weights_[item];
                numbers[count] = item;
                count += classes_[item] != 0 && weights_[item] != 0 ? 1U : 0U;
            }
        }
        std::array<std::uint64_t, short_sorting::most_items> falling;
        std::array<std::uint32_t, short_sorting::most_items> places;
        short_sorting::sort(std::span{weights}.first(count), {.width = width_of(*at_home_), .present = count}, 0,
                            falling.data(), places.data());
        result.resize(count);
        for (std::size_t place = 0; place < count; ++place) {
            result[place] = {numbers[places[place]], falling[place]};
        }
    }

  private:
    [[nodiscard]] static unsigned width_of(home_sums const& at_home) noexcept {
        return static_cast<unsigned>(std::bit_width(at_home.most));
    }

    std::span<std::uint64_t const> weights_;
    std::span<std::uint8_t const> classes_;
    home_sums const* at_home_ = nullptr;
    sorted_items sorted_;
    node_sorting sorting_;
};

}  // namespace evenkeel::detail
