// SPDX-License-Identifier: Apache-2.0
// Balances the samples of one step over the ranks, by what they cost a transformer, and says how good the plan is.
//
// Prints:
//     rank 0 drew 700 120 90 300 and runs 2600
//     rank 1 drew 60 1500 80 110 and runs 120 2500
//     rank 2 drew 2500 2600 350 40 and runs 1500 350 900
//     rank 3 drew 900 150 1200 70 and runs 700 90 300 60 80 110 40 150 1200 70
//     busiest rank / mean: 2.093 as drawn, 1.002 as planned; no plan is below 1.002
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <span>
#include <vector>

#include <evenkeel/cost.hpp>
#include <evenkeel/solve.hpp>
#include <evenkeel/view.hpp>

constexpr auto model = evenkeel::attention_cost{.linear = 24576, .quadratic = 1};

/// Prints the lengths of a rank and adds up their weights: its load.
std::uint64_t print(auto const& batch) {
    std::uint64_t load = 0;
    for (std::uint64_t const length : batch) {
        std::cout << ' ' << length;
        load += model.weight(length);
    }
    return load;
}

int main() {
    constexpr std::size_t ranks = 4;
    constexpr std::size_t per_rank = 4;
    // In tokens, as four ranks drew them: the third has two long videos.
    auto const lengths =
        std::vector<std::uint64_t>{700, 120, 90, 300, 60, 1500, 80, 110, 2500, 2600, 350, 40, 900, 150, 1200, 70};
    auto const even = evenkeel::balance(lengths, evenkeel::rank_count{ranks}, model);
    auto const batches = lengths | evenkeel::views::batches(even.plan);

    std::uint64_t busiest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::cout << "rank " << rank << " drew";
        busiest = std::max(busiest, print(std::span{lengths}.subspan(rank * per_rank, per_rank)));
        std::cout << " and runs";
        print(batches[rank]);
        std::cout << '\n';
    }
    auto const drawn = evenkeel::quality{busiest, even.quality.total_load, even.quality.lower_bound, {ranks}};
    std::cout << std::fixed << std::setprecision(3) << "busiest rank / mean: " << drawn.imbalance() << " as drawn, "
              << even.quality.imbalance() << " as planned; no plan is below " << even.quality.tail_floor() << '\n';
}
