// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel::test {

/// The smallest possible load of the busiest rank, by trying every assignment: for ten items or so.
///
/// Idle ranks are all alike, so an item tries the ranks in use and one idle one: Bell numbers, not powers.
[[nodiscard]] inline std::uint64_t optimum(std::span<std::uint64_t const> weights, rank_count ranks) {
    std::vector<std::uint64_t> loads;
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    auto const place = [&](auto const& self, std::size_t item) -> void {
        if (item == weights.size()) {
            best = std::min(best, loads.empty() ? 0 : *std::ranges::max_element(loads));
            return;
        }
        for (std::size_t rank = 0; rank < loads.size(); ++rank) {
            loads[rank] += weights[item];
            self(self, item + 1);
            loads[rank] -= weights[item];
        }
        if (loads.size() < ranks.value) {
            loads.push_back(weights[item]);
            self(self, item + 1);
            loads.pop_back();
        }
    };
    place(place, 0);
    return best;
}

/// The load of the busiest rank under a plan, recomputed from the weights.
[[nodiscard]] inline std::uint64_t busiest_load(plan const& plan, std::span<std::uint64_t const> weights) {
    std::uint64_t busiest = 0;
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        std::uint64_t load = 0;
        for (item_id const item : plan[to_id<rank_id>(rank)]) {
            load += weights[to_index(item)];
        }
        busiest = std::max(busiest, load);
    }
    return busiest;
}

/// What longest first reaches, written down as plainly as it can be said.
[[nodiscard]] inline std::uint64_t longest_first_load(std::span<std::uint64_t const> weights, rank_count ranks) {
    std::vector<std::uint64_t> falling(weights.begin(), weights.end());
    std::ranges::sort(falling, std::ranges::greater{});
    std::vector<std::uint64_t> loads(ranks.value);
    for (auto const weight : falling) {
        *std::ranges::min_element(loads) += weight;
    }
    return *std::ranges::max_element(loads);
}

/// What largest differencing reaches, as it is commonly told: sets of loads, all sorted anew each time.
[[nodiscard]] inline std::uint64_t largest_differencing_load(std::span<std::uint64_t const> weights, rank_count ranks) {
    std::vector<std::vector<std::uint64_t>> open;
    for (auto const weight : weights) {
        open.emplace_back(ranks.value).front() = weight;
    }
    // Heaviest first, so that equal differences are met in the order of the weights.
    std::ranges::stable_sort(open, std::ranges::greater{}, [](auto const& loads) { return loads.front(); });
    while (open.size() > 1) {
        std::ranges::stable_sort(open, std::ranges::greater{},
                                 [](auto const& loads) { return loads.front() - loads.back(); });
        for (std::size_t rank = 0; rank < ranks.value; ++rank) {
            open[0][rank] += open[1][ranks.value - 1 - rank];
        }
        open.erase(open.begin() + 1);
        std::ranges::sort(open[0], std::ranges::greater{});
    }
    return open.empty() ? 0 : open.front().front();
}

}  // namespace evenkeel::test
