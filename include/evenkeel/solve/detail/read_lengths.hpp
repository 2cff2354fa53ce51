// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <utility>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/length.hpp>
#include <evenkeel/solve/detail/arguments.hpp>
#include <evenkeel/solve/options.hpp>

namespace evenkeel::detail {

/// Checks the arguments of `balance` and hands the length of one sample after the other to `take`.
template <class Samples, class Length, class Take>
void read_lengths(Samples&& samples, rank_count ranks, balance_options const& options, Length& length, Take take) {
    require_counts("balance", 0, ranks);
    require_options(options);
    std::size_t count = 0;
    for (auto&& sample : samples) {
        take(whole_length(std::invoke(length, std::forward<decltype(sample)>(sample)), options.resolution, "balance",
                          count));
        ++count;
    }
    require_counts("balance", count, ranks);
}

/// How many samples there will be, where that is known.
template <class Samples>
[[nodiscard]] std::size_t expected_count(Samples& samples) {
    if constexpr (std::ranges::sized_range<Samples>) {
        return static_cast<std::size_t>(std::ranges::size(samples));
    }
    return 0;
}

}  // namespace evenkeel::detail
