// SPDX-License-Identifier: Apache-2.0
// The room that needs range-v3.
#include <iostream>
#include <vector>

#include <evenkeel/core.hpp>
#include <evenkeel/view.hpp>

#include "planned.hpp"

int main() {
    auto const numbers = std::vector{0, 1, 2, 3};
    auto const even = planned();
    int rank = 0;
    for (auto const& batch : numbers | evenkeel::views::batches(even)) {
        std::cout << "rank " << rank++ << ": samples";
        for (auto const number : batch) {
            std::cout << ' ' << number;
        }
        std::cout << '\n';
    }
}
