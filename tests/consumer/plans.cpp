// SPDX-License-Identifier: Apache-2.0
// The headers alone.
#include <cstdint>
#include <iostream>
#include <vector>

#include <evenkeel/core.hpp>
#include <evenkeel/cost.hpp>
#include <evenkeel/solve.hpp>

int main() {
    auto const lengths = std::vector{900, 500, 400, 100};
    auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::linear_cost{});
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        std::cout << "rank " << rank << ": samples";
        for (auto const item : even.plan[evenkeel::rank_id{rank}]) {
            std::cout << ' ' << evenkeel::to_index(item);
        }
        std::cout << '\n';
    }
}
