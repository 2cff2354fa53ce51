// SPDX-License-Identifier: Apache-2.0
// The headers alone.
#include <vector>

#include <evenkeel/cost.hpp>
#include <evenkeel/solve.hpp>

int main() {
    auto const lengths = std::vector{900, 100, 500, 400};
    auto const even = evenkeel::balance(lengths, evenkeel::rank_count{2}, evenkeel::linear_cost{});
    return even.quality.gap() == 0.0 ? 0 : 1;
}
