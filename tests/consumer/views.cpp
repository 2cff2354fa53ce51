// SPDX-License-Identifier: Apache-2.0
// The room that needs range-v3.
#include <iostream>
#include <vector>

#include <evenkeel/cost.hpp>
#include <evenkeel/solve.hpp>
#include <evenkeel/view.hpp>

int main() {
    auto const lengths = std::vector{900, 500, 400, 100};
    auto const numbers = std::vector{0, 1, 2, 3};
    auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::linear_cost{});
    int rank = 0;
    for (auto const& batch : numbers | evenkeel::views::batches(even.plan)) {
        std::cout << "rank " << rank++ << ": samples";
        for (auto const number : batch) {
            std::cout << ' ' << number;
        }
        std::cout << '\n';
    }
}
