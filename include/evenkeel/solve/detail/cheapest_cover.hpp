// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <evenkeel/solve/detail/export_item.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/subset_sums.hpp>

namespace evenkeel::detail {

/// The cheapest of all subsets of up to sixteen items that weigh at least so much: a knapsack cover.
///
/// By meeting in the middle (E. Horowitz and S. Sahni 1974): for each subset of the first half, the cheapest of those
/// of the second half that are heavy enough.
class cheapest_cover {
  public:
    static constexpr std::size_t most_items = 16;

    /// @param open    Positions in `items`; together they weigh at least `weight`.
    /// @param weight  At least 1.
    /// @return        The subset, one bit for each of `open`.
    std::uint32_t operator()(std::span<export_item const> items, std::span<std::uint32_t const> open,
                             std::uint64_t weight, step_budget& steps) {
        std::size_t const size = open.size() / 2;
        auto const& [a, b] = halves_;
        halves_[0].fill(items, open.first(size));
        halves_[1].fill(items, open.subspan(size));
        // From each sum of the second half on: the cheapest of those that are at least as large.
        std::uint64_t cheapest = nothing;
        for (std::size_t index = b.sums.size(); index-- > 0;) {
            std::uint64_t const cost = b.costs[b.sums.subset(index)];
            best_from_[index] = cost <= cheapest ? static_cast<std::uint16_t>(index) : best_from_[index + 1];
            cheapest = cost <= cheapest ? cost : cheapest;
        }
        steps.spend(3 * (a.sums.size() + b.sums.size()));
        std::uint64_t best = nothing;
        std::uint64_t best_weight = nothing;
        std::uint32_t subset = 0;
        std::size_t first = b.sums.size();
        for (std::size_t index = 0; index < a.sums.size(); ++index) {
            while (first > 0 && a.sums.sum(index) + b.sums.sum(first - 1) >= weight) {
                --first;
            }
            if (first == b.sums.size()) {
                continue;
            }
            std::size_t const other = best_from_[first];
            std::uint64_t const cost = a.costs[a.sums.subset(index)] + b.costs[b.sums.subset(other)];
            std::uint64_t const sum = a.sums.sum(index) + b.sums.sum(other);
            if (cost < best || (cost == best && sum < best_weight)) {
                best = cost;
                best_weight = sum;
                subset = a.sums.subset(index) | static_cast<std::uint32_t>(b.sums.subset(other)) << size;
            }
        }
        return subset;
    }

  private:
    static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();

    struct half {
        subset_sums sums;
        std::array<std::uint64_t, std::size_t{1} << most_items / 2> costs;

        void fill(std::span<export_item const> items, std::span<std::uint32_t const> open) {
            std::array<std::uint64_t, most_items / 2> weights{};
            costs[0] = 0;
            for (std::size_t bit = 0; bit < open.size(); ++bit) {
                weights[bit] = items[open[bit]].weight;
                std::size_t const without = std::size_t{1} << bit;
                for (std::size_t subset = 0; subset < without; ++subset) {
                    costs[without + subset] = costs[subset] + items[open[bit]].cost;
                }
            }
            sums.assign(std::span{weights}.first(open.size()));
        }
    };

    std::array<half, 2> halves_;
    std::array<std::uint16_t, 257> best_from_{};
};

}  // namespace evenkeel::detail
