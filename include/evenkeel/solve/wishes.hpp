// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// In `wishes::pinned`: a sample that may go anywhere.
inline constexpr rank_id unpinned{std::numeric_limits<std::uint32_t>::max()};

/// In `wishes::groups`: a sample that belongs to no group.
inline constexpr std::uint32_t ungrouped = std::numeric_limits<std::uint32_t>::max();

/// What a trainer wishes of a plan besides even loads. All of them go together.
///
///     // At most 8192 tokens per rank, counts that differ by one at most, groups of rewards in one place.
///     balance(samples, ranks, model,
///             {.wishes = {.quantities = tokens, .cap = 8192, .equal_counts = true, .groups = prompts}});
///
/// Spans are read during the call alone; each is empty or has one element per sample, `speeds` one per rank.
///
/// A wish is a promise: a plan that breaks one is never returned. Where a bound proves, or for a dozen samples a
/// complete search, that a wish cannot be met, `infeasible` says which and by how much; where the search has ended
/// without a plan, `not_found` has the nearest attempt. `quality.lower_bound` knows the wishes.
struct wishes {
    /// A second quantity of each sample, such as its tokens where weights are times, and what no rank may exceed.
    std::span<std::uint64_t const> quantities = {};
    std::optional<std::uint64_t> cap = {};

    /// The most samples of a rank, those without length included.
    std::optional<std::size_t> count_cap = {};

    /// Numbers of samples, those without length included, that differ by at most one: 206 on 4 ranks are 52, 52,
    /// 51, 51.
    bool equal_counts = false;

    /// On each rank a sample that weighs something. With fewer of them than ranks, or where `groups` and `pinned` keep
    /// them together: as few ranks without one as these allow. Caps and equal counts allow no more.
    bool no_empty_rank = false;

    /// The group of each sample, or `ungrouped`: samples of one group go to one rank. Any numbers will do.
    std::span<std::uint32_t const> groups = {};

    /// The rank at which each sample stays, or `unpinned`.
    std::span<rank_id const> pinned = {};

    /// How fast each rank is: only ratios matter. A load counts as the time it takes, in units of the fastest rank:
    /// ceil(load * fastest / speed). In `quality`, `max_load` and `lower_bound` are such times, and `total_load` is
    /// what `ranks` times the mean of a perfect division would be.
    std::span<std::uint64_t const> speeds = {};

    /// The number of the training step, if ties are not to be broken for the same ranks in each: what rank r would do
    /// at step 0, another rank does, of the same speed and like it without a pinned sample, in turns.
    std::uint64_t step = 0;

    /// Whether there is any wish.
    [[nodiscard]] constexpr bool any() const noexcept {
        return cap || count_cap || equal_counts || no_empty_rank || step != 0 || !quantities.empty() ||
               !groups.empty() || !pinned.empty() || !speeds.empty();
    }
};

}  // namespace evenkeel
