// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/wish_input.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/lower_bound.hpp>
#include <evenkeel/solve/wishes.hpp>

namespace evenkeel::detail {

/// The wish that a rank breaks, as it is called.
[[nodiscard]] inline std::string broken_wish(rank_limits const& limits, holding const& of, wishes const& asked,
                                             std::string_view function = "balance") {
    auto const start = std::string{function}.append(": options.wishes.");
    if (of.quantity > limits.quantity) {
        return start + "cap";
    }
    if (of.count > limits.most_items || of.count < limits.least_items) {
        bool const capped = asked.count_cap && of.count > *asked.count_cap;
        return start + (asked.equal_counts && !capped ? "equal_counts" : "count_cap");
    }
    return start + "no_empty_rank";
}

/// A wish that a plan breaks, as it is called, and by how much over all ranks, in its own unit.
struct missed_wish {
    std::string name;
    std::uint64_t amount = 0;
};

/// Of the wishes that are broken, the cap, then counts, then ranks that are empty without need.
[[nodiscard]] inline missed_wish find_missed(rank_limits const& limits, std::span<holding const> held,
                                             wishes const& asked, std::string_view function) {
    std::uint64_t quantity = 0;
    std::uint64_t above = 0;
    std::uint64_t below = 0;
    std::uint64_t idle = 0;
    holding of;  // breaks the wish that is named
    for (auto const& own : held) {
        std::uint64_t const over = own.quantity - std::min(own.quantity, limits.quantity);
        if (__builtin_add_overflow(quantity, over, &quantity)) {
            quantity = rank_limits::none;
        }
        above += own.count - std::min(own.count, limits.most_items);
        below += limits.least_items - std::min(own.count, limits.least_items);
        idle += own.working == 0 ? 1U : 0U;
        of.quantity = std::max(of.quantity, own.quantity);
        of.count = std::max(of.count, own.count);
    }
    if (above == 0) {
        of.count = limits.least_items - (below > 0 ? 1U : 0U);
    }
    std::uint64_t const empty = idle - std::min(idle, limits.idle_allowed);
    std::uint64_t const counts = std::max(above, below);
    return {broken_wish(limits, of, asked, function), quantity > 0 ? quantity : counts > 0 ? counts : empty};
}

/// Throws where an item, what is pinned to a rank, or all items together cannot be within the limits, whatever the
/// plan.
///
/// @throws infeasible  names the wish, the item that stands against it, and the amount.
inline void require_possible(wish_input const& input, wishes const& asked, std::string_view function = "balance") {
    auto const& problem = input.problem;
    auto const& limits = problem.limits;
    auto const refuse = [&](holding const& of, std::optional<std::size_t> item) {
        std::uint64_t const over_quantity = of.quantity - std::min(of.quantity, limits.quantity);
        std::uint64_t const over_count = of.count - std::min(of.count, limits.most_items);
        if (over_quantity > 0 || over_count > 0) {
            throw infeasible{broken_wish(limits, of, asked, function), item, std::max(over_quantity, over_count)};
        }
    };
    for (std::size_t bundle = 0; bundle < problem.size(); ++bundle) {
        holding alone;
        problem.add(alone, bundle);
        refuse(alone, input.firsts[bundle]);
    }
    std::uint64_t longer = 0;
    for (std::size_t rank = 0; rank < problem.ranks(); ++rank) {
        auto const& base = problem.base[rank];
        std::optional<std::size_t> item;
        for (std::size_t at = 0; at < asked.pinned.size() && limits.violation(base) > 0 && !item; ++at) {
            if (asked.pinned[at] != unpinned && to_index(asked.pinned[at]) == rank) {
                item = at;
            }
        }
        refuse(base, item);
        longer += base.count > limits.least_items ? 1U : 0U;
    }
    // Of equal counts, only the remainder's ranks have one more.
    std::uint64_t const remainder = problem.items % problem.ranks();
    if (asked.equal_counts && longer > remainder) {
        throw infeasible{std::string{function}.append(": options.wishes.equal_counts with options.wishes.pinned"),
                         std::nullopt, longer - remainder};
    }
    std::uint64_t all = 0;
    if (!__builtin_mul_overflow(limits.most_items, problem.ranks(), &all) && all < problem.items) {
        throw infeasible{std::string{function}.append(": options.wishes.count_cap"), std::nullopt, problem.items - all};
    }
    if (!__builtin_mul_overflow(limits.quantity, problem.ranks(), &all) && all < problem.total_quantity) {
        throw infeasible{std::string{function}.append(": options.wishes.cap"), std::nullopt,
                         problem.total_quantity - all};
    }
}

/// The dearer proof, for when no plan was found: of the bundles with the largest quantities, some rank has two, three,
/// ...
inline void require_packable(wish_problem const& problem, sorted_items& sorting,
                             std::string_view function = "balance") {
    if (problem.limits.quantity == rank_limits::none) {
        return;
    }
    sort_items("balance", problem.quantities, sorting);
    std::uint64_t const least = lower_bound(sorting, problem.ranks()) * sorting.unit;
    if (least > problem.limits.quantity) {
        throw infeasible{std::string{function}.append(": options.wishes.cap"), std::nullopt,
                         least - problem.limits.quantity};
    }
}

}  // namespace evenkeel::detail
