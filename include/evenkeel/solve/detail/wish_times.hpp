// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include <evenkeel/solve/detail/named_sum.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>

namespace evenkeel::detail {

/// What all ranks would have if the work could be divided perfectly: with one speed, the work.
[[nodiscard]] inline std::uint64_t fair_total(wish_problem const& problem) {
    std::uint64_t all = problem.total;
    for (auto const& base : problem.base) {
        all += base.load;
    }
    if (problem.speeds.empty()) {
        return all;
    }
    __extension__ typedef unsigned __int128 wide;
    wide speed = 0;
    for (auto const one : problem.speeds) {
        speed += one;
    }
    wide const total = wide{all} * problem.fastest / speed * problem.ranks() +
                       wide{all} * problem.fastest % speed * problem.ranks() / speed;
    return static_cast<std::uint64_t>(std::min<wide>(total, rank_limits::none));
}

/// Times of the slowest rank must be numbers, too.
inline void require_times(wish_problem const& problem, std::string_view function) {
    std::uint64_t all = problem.total;
    for (auto const& base : problem.base) {
        all = named_sum(all, base.load, function, "the total load");
    }
    if (!problem.speeds.empty()) {
        std::uint64_t const slowest = *std::ranges::min_element(problem.speeds);
        // In 128 bits: the work of all ranks may be all that 64 hold.
        __extension__ typedef unsigned __int128 wide;
        wide const longest = (wide{all} * problem.fastest + (slowest - 1)) / slowest;
        if (longest > std::numeric_limits<std::uint64_t>::max()) {
            throw std::overflow_error{std::string{function}.append(": the time of a rank exceeds 64 bits")};
        }
    }
}

}  // namespace evenkeel::detail
