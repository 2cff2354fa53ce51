// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// Refuses wishes that say nothing clear about a batch.
inline void require_wishes(wishes const& asked, std::size_t items, std::size_t ranks,
                           std::string_view function = "balance") {
    auto const require_size = [&](char const* name, std::size_t size, std::size_t expected, char const* of) {
        if (size != 0 && size != expected) {
            throw_invalid(function, std::string{"options.wishes."}.append(name).append(".size()"), size,
                          "one for each of the " + std::to_string(expected) + of);
        }
    };
    require_size("quantities", asked.quantities.size(), items, " samples");
    require_size("groups", asked.groups.size(), items, " samples");
    require_size("pinned", asked.pinned.size(), items, " samples");
    require_size("speeds", asked.speeds.size(), ranks, " ranks");
    if (!asked.quantities.empty() && !asked.cap) {
        throw_invalid(function, "options.wishes.cap", "none", "a cap, as options.wishes.quantities are given");
    }
    if (asked.quantities.empty() && asked.cap && items > 0) {
        throw_invalid(function, "options.wishes.quantities.size()", 0,
                      "one for each sample, as options.wishes.cap is given");
    }
    for (std::size_t item = 0; item < asked.pinned.size(); ++item) {
        if (asked.pinned[item] != unpinned && to_index(asked.pinned[item]) >= ranks) {
            throw_invalid(function, element("options.wishes.pinned", item), to_index(asked.pinned[item]),
                          "a rank below " + std::to_string(ranks) + ", or unpinned");
        }
    }
    auto const idle = std::ranges::find(asked.speeds, 0U);
    if (idle != asked.speeds.end()) {
        throw_invalid(function, element("options.wishes.speeds", static_cast<std::size_t>(idle - asked.speeds.begin())),
                      0, "at least 1");
    }
}

/// What ranks must respect, as far as it does not depend on what weighs something.
[[nodiscard]] inline rank_limits limits_of(wishes const& asked, std::size_t items, std::size_t ranks) {
    rank_limits limits;
    limits.quantity = asked.cap.value_or(rank_limits::none);
    limits.most_items = asked.count_cap.value_or(rank_limits::none);
    if (asked.equal_counts) {
        limits.least_items = items / ranks;
        limits.most_items = std::min(limits.most_items, limits.least_items + (items % ranks != 0 ? 1U : 0U));
    }
    limits.nobody_idle = asked.no_empty_rank;
    return limits;
}

}  // namespace evenkeel::detail
