// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <evenkeel/solve/detail/named_sum.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/weight_sorting.hpp>

namespace evenkeel::detail {

/// Sorts the items of a large batch district by district, each heaviest first.
///
/// A district is some nodes that follow one another, with so few items that a cache holds what there is to know of
/// them. Whoever then goes from node to node finds all of it there, however large the batch.
class district_sorting {
  public:
    void reserve(std::size_t batch, std::size_t nodes) {
        sorting_.reserve(batch);
        weights_.reserve(batch);
        positions_.reserve(batch);
        district_of_.reserve(nodes);
        starts_.reserve(nodes + 1);
        next_.reserve(nodes + 1);
        ends_.reserve(nodes);
        units_.reserve(nodes);
    }

    /// @param drawn     How many items are at home in each node, with those that weigh nothing.
    /// @param in_order  Whether the batch has those of each node together, and the nodes in their order.
    /// @param most      How many items a district has at most, unless one node has more.
    /// @throws std::overflow_error  if the sum of the weights exceeds 64 bits; names `function`.
    void operator()(std::string_view function, stay_task const& task, std::span<std::size_t const> drawn, bool in_order,
                    std::size_t most, sorted_items& sorted) {
        divide(drawn, most);
        ends_.clear();
        if (starts_.size() <= 2) {
            sort_items(function, task.weights, sorted);
            ends_.push_back(sorted.size());
            return;
        }
        if (!in_order) {
            gather(task);
        }
        sorted.weights.resize(task.weights.size());
        sorted.positions.resize(task.weights.size());
        units_.clear();
        sorted.unit = 0;
        sorted.total = 0;
        std::size_t end = 0;
        for (std::size_t district = 0; district + 1 < starts_.size(); ++district) {
            std::size_t const first = starts_[district];
            auto const batch = in_order ? task.weights : std::span<std::uint64_t const>{weights_};
            sort_items(function, batch.subspan(first, starts_[district + 1] - first), sorting_);
            std::uint64_t const unit = sorting_.unit;
            sorted.total = named_sum(sorted.total, unit * sorting_.total, function, "the total load");
            std::ranges::copy(sorting_.weights, sorted.weights.begin() + static_cast<std::ptrdiff_t>(end));
            for (std::size_t item = 0; item < sorting_.size(); ++item) {
                std::size_t const place = first + sorting_.positions[item];
                sorted.positions[end + item] = in_order ? static_cast<std::uint32_t>(place) : positions_[place];
            }
            end += sorting_.size();
            ends_.push_back(end);
            units_.push_back(unit);
            sorted.unit = sorting_.size() > 0 ? std::gcd(sorted.unit, unit) : sorted.unit;
        }
        sorted.weights.resize(end);
        sorted.positions.resize(end);
        use_one_unit(sorted);
    }

    /// Where the items of each district end.
    [[nodiscard]] std::span<std::size_t const> ends() const noexcept { return ends_; }

  private:
    void divide(std::span<std::size_t const> drawn, std::size_t most) {
        // Sorting district by district takes a little longer, which only a batch of several is worth.
        constexpr std::size_t worthwhile = 4;
        std::size_t const all = std::accumulate(drawn.begin(), drawn.end(), std::size_t{0});
        most = all / worthwhile > most ? most : all;
        starts_.assign(1, 0);
        district_of_.resize(drawn.size());
        std::size_t end = 0;
        for (std::size_t node = 0; node < drawn.size(); ++node) {
            if (end > starts_.back() && end + drawn[node] > starts_.back() + most) {
                starts_.push_back(end);
            }
            district_of_[node] = static_cast<std::uint32_t>(starts_.size() - 1);
            end += drawn[node];
        }
        starts_.push_back(end);
    }

    /// Puts the items of each district together, in the order of the batch.
    void gather(stay_task const& task) {
        weights_.resize(task.weights.size());
        positions_.resize(task.weights.size());
        next_.assign(starts_.begin(), starts_.end());
        for (std::size_t position = 0; position < task.weights.size(); ++position) {
            std::size_t const place = next_[district_of_[task.home_node(position)]]++;
            weights_[place] = task.weights[position];
            positions_[place] = static_cast<std::uint32_t>(position);
        }
    }

    /// Districts were measured each by its own divisor.
    void use_one_unit(sorted_items& sorted) noexcept {
        sorted.unit = std::max<std::uint64_t>(sorted.unit, 1);
        sorted.total /= sorted.unit;
        std::size_t first = 0;
        for (std::size_t district = 0; district < ends_.size(); ++district) {
            std::uint64_t const factor = units_[district] / sorted.unit;
            for (std::size_t item = first; item < ends_[district] && factor != 1; ++item) {
                sorted.weights[item] *= factor;
            }
            first = ends_[district];
        }
    }

    sorted_items sorting_;
    std::vector<std::uint64_t> weights_;      ///< by district, where the batch is in another order
    std::vector<std::uint32_t> positions_;    ///< of these in the batch
    std::vector<std::uint32_t> district_of_;  ///< each node
    std::vector<std::size_t> starts_;         ///< of the districts, with what weighs nothing
    std::vector<std::size_t> next_;
    std::vector<std::size_t> ends_;
    std::vector<std::uint64_t> units_;
};

}  // namespace evenkeel::detail
