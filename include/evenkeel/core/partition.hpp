// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel {

/// Refuses a plan that would lose a sample or train on it twice.
///
///     evenkeel::require_partition("move", plan, lengths.size());
///
/// Every plan of this library passes; plans that come from elsewhere are checked with it before anything moves.
///
/// @param function  Who asks; named in an error.
/// @param items     How many items the batch has.
/// @param argument  What the plan is called in an error, and
/// @param access    what stands between it and its members there.
/// @throws std::invalid_argument  names the first item that is missing, unknown or placed twice, or the offset at which
///                                the lists do not follow each other.
/// @complexity O(items)
inline void require_partition(std::string_view function, plan const& plan, std::size_t items,
                              std::string_view argument = "plan", std::string_view access = ".") {
    auto const member = [&](std::string_view name) { return std::string{argument}.append(access).append(name); };
    if (plan.micro_batches == 0) {
        throw_invalid(function, member("micro_batches"), 0, "at least 1");
    }
    auto const& offsets = plan.offsets;
    if (offsets.empty() || (offsets.size() - 1) % plan.micro_batches != 0) {
        throw_invalid(function, member("offsets.size()"), offsets.size(), "1 + ranks * micro_batches");
    }
    if (offsets.front() != 0 || offsets.back() != plan.items.size()) {
        throw_invalid(function, member("offsets"),
                      "[" + std::to_string(offsets.front()) + " .. " + std::to_string(offsets.back()) + "]",
                      "offsets from 0 to " + member("items.size() = ") + std::to_string(plan.items.size()));
    }
    auto const falling = std::ranges::adjacent_find(offsets, std::greater{});
    if (falling != offsets.end()) {
        auto const position = static_cast<std::size_t>(falling - offsets.begin()) + 1;
        throw_invalid(function, element(member("offsets"), position), offsets[position], "offsets that never fall");
    }
    std::vector<bool> seen(items);
    for (std::size_t position = 0; position < plan.items.size(); ++position) {
        std::size_t const item = to_index(plan.items[position]);
        if (item >= items) {
            throw_invalid(function, element(member("items"), position), item, "an item below " + std::to_string(items));
        }
        if (seen[item]) {
            throw_invalid(function, element(member("items"), position), item, "every item once, not twice");
        }
        seen[item] = true;
    }
    auto const missing = std::ranges::find(seen, false);
    if (missing != seen.end()) {
        throw std::invalid_argument{std::string{function}.append(": ").append(argument).append(" lacks item ") +
                                    std::to_string(missing - seen.begin()) + ", expected every item once"};
    }
}

}  // namespace evenkeel
