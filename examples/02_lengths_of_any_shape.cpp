// SPDX-License-Identifier: Apache-2.0
// Lengths come as a trainer has them: five shapes of the same batch, one plan.
//
// Prints:
//     one rank runs "a film"
//     one rank runs "a dog" "two cats" "a song"
//     std::vector: the same plan
//     std::span of 16-bit values: the same plan
//     double: the same plan
//     range-v3 view: the same plan
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <range/v3/view/transform.hpp>

#include <evenkeel/cost.hpp>
#include <evenkeel/solve.hpp>
#include <evenkeel/view.hpp>

struct sample {
    std::string caption;
    std::int32_t tokens;
};

void report(char const* shape, bool same) {
    std::cout << shape << ": " << (same ? "the same" : "another") << " plan\n";
}

int main() {
    auto const samples = std::vector<sample>{{"a dog", 300}, {"a film", 1800}, {"two cats", 500}, {"a song", 900}};
    auto const ranks = evenkeel::rank_count{2};
    auto const model = evenkeel::linear_cost{};

    // The trainer's own samples, their length through a projection.
    auto const plan = evenkeel::balance(samples, ranks, model, {}, &sample::tokens).plan;
    for (auto&& batch : samples | evenkeel::views::batches(plan)) {
        std::cout << "one rank runs";
        for (auto const& one : batch) {
            std::cout << " \"" << one.caption << '"';
        }
        std::cout << '\n';
    }

    auto const lengths = std::vector<std::int64_t>{300, 1800, 500, 900};
    report("std::vector", evenkeel::balance(lengths, ranks, model).plan == plan);

    std::uint16_t const buffer[] = {300, 1800, 500, 900};
    report("std::span of 16-bit values", evenkeel::balance(std::span{buffer}, ranks, model).plan == plan);

    // Seconds at 25 tokens each: `resolution` says how many parts of a second count.
    auto const seconds = std::vector{12.0, 72.0, 20.0, 36.0};
    report("double", evenkeel::balance(seconds, ranks, model, {.resolution = 25}).plan == plan);

    auto const view = samples | ranges::views::transform(&sample::tokens);
    report("range-v3 view", evenkeel::balance(view, ranks, model).plan == plan);
}
