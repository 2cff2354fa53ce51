// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <evenkeel/core/errors.hpp>

namespace evenkeel {

/// What `relabel` makes small.
enum class relabel_objective : std::uint8_t {
    total,   ///< the bytes between nodes, over all nodes
    busiest  ///< the bytes that the busiest node sends or receives, whichever is more
};

/// What `relabel` aims for, and how hard.
///
///     evenkeel::relabel(plan, home, cluster, bytes, {.objective = evenkeel::relabel_objective::busiest});
struct relabel_options {
    relabel_objective objective = relabel_objective::total;

    /// How far the bytes kept inside nodes may be from the most that any relabelling keeps, as a share of what the
    /// batches would keep if every node had room for all of them. Work grows as this falls, and what is reached is far
    /// better than what is allowed: the default leaves some 3e-4 at thousands of ranks, less at fewer. Below 1e-4 the
    /// result is the optimum, of any number of bytes, in some ten milliseconds at thousands of ranks; the busiest node
    /// is relieved from there.
    double precision = 4e-2;

    friend bool operator==(relabel_options const&, relabel_options const&) = default;
};

namespace detail {

inline void require_options(relabel_options const& options) {
    if (options.objective != relabel_objective::total && options.objective != relabel_objective::busiest) {
        throw_invalid("relabel", "options.objective", static_cast<unsigned>(options.objective), "total or busiest");
    }
    if (!(options.precision >= 0 && options.precision <= 1)) {
        throw_invalid("relabel", "options.precision", options.precision, "between 0 and 1");
    }
}

}  // namespace detail

}  // namespace evenkeel
