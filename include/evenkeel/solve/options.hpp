// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel {

/// When `balance` may stop, how finely it reads lengths, and what is wished of the plan besides.
///
///     evenkeel::balance(lengths, ranks, model, {.tolerance = 1e-3});   // stop at 0.1 % above the lower bound
///     evenkeel::balance(lengths, ranks, model, {.wishes = {.equal_counts = true}});
struct balance_options {
    /// Good enough: a busiest rank of at most lower bound * (1 + tolerance).
    double tolerance = 0;

    /// How many steps per sample the search for a better plan may take after longest first, which always runs; a batch
    /// of fewer than 1024 samples counts as one of 1024. A step is a comparison or two, a few nanoseconds at most.
    /// Steps are counted, so the plan does not depend on the machine.
    ///
    /// With a `cost_model` and no wishes, only samples that weigh something count, each as 7/4, three times as much
    /// where a rank has fewer than five of them, six times where it has 3.3 or fewer; and 512 are the least. On 17 to
    /// 64 ranks they count four times as much again. Where ranks have a dozen samples or fewer, of no more than a few
    /// hundred sizes, patterns of these may take up to three times as many steps besides.
    ///
    /// It also says how fine a difference is worth a search: where loads are a million or more, as those of
    /// `attention_cost` are, one part in 80 * effort is not.
    std::uint64_t effort = 128;

    /// How many parts of a unit of length count: 100 reads 2.54 seconds as 254 hundredths.
    std::uint64_t resolution = 1;

    /// What the plan must respect besides even loads; nothing, unless asked.
    evenkeel::wishes wishes = {};
};

namespace detail {

inline void require_options(balance_options const& options) {
    if (!(options.tolerance >= 0)) {
        throw_invalid("balance", "options.tolerance", options.tolerance, "at least 0");
    }
    if (options.resolution == 0) {
        throw_invalid("balance", "options.resolution", options.resolution, "at least 1");
    }
}

/// The first wish that is given.
[[nodiscard]] constexpr char const* name_of_wish(wishes const& asked) {
    return asked.cap                   ? "cap"
           : asked.count_cap           ? "count_cap"
           : asked.equal_counts        ? "equal_counts"
           : asked.no_empty_rank       ? "no_empty_rank"
           : !asked.groups.empty()     ? "groups"
           : !asked.pinned.empty()     ? "pinned"
           : !asked.speeds.empty()     ? "speeds"
           : !asked.quantities.empty() ? "quantities"
                                       : "step";
}

/// For solvers that know no wishes.
///
/// @param model  Such as "a padded_model".
inline void refuse_wishes(balance_options const& options, char const* model) {
    if (options.wishes.any()) {
        throw_invalid("balance", std::string{"options.wishes."} + name_of_wish(options.wishes), "given",
                      std::string{"no wishes together with "} + model);
    }
}

/// The load at which to stop, as an integer once and for all: bound + floor(bound * tolerance).
[[nodiscard]] inline std::uint64_t goal_of(std::uint64_t bound, double tolerance) {
    double const slack = std::floor(static_cast<double>(bound) * tolerance);
    std::uint64_t const room = std::numeric_limits<std::uint64_t>::max() - bound;
    // No finite tolerance makes anything of a bound of zero; an infinite one makes "not a number".
    return slack < static_cast<double>(room) ? bound + static_cast<std::uint64_t>(slack) : bound + room;
}

}  // namespace detail

}  // namespace evenkeel
