// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace evenkeel::detail {

/// How far batches get that take, from the heaviest item on, as many of the next items as a bound on their load allows.
///
/// A batch of falling weights costs count * first, so the count is known as the batch begins: bound / first. It rises
/// slowly, so it mostly is the count of the batch before, and a comparison tells.
struct padded_reach {
    std::uint64_t bound = 0;
    std::size_t items = 0;                                           ///< how many are in batches
    std::size_t batches = 0;                                         ///< so far
    std::uint64_t last = 0;                                          ///< load of the last batch
    std::uint64_t largest = 0;                                       ///< load of any
    std::uint64_t next = std::numeric_limits<std::uint64_t>::max();  ///< the first bound under which a batch takes more
    std::uint64_t fitting = 0;                                       ///< how many of the last batch's first would fit

    /// So many weights are in the processor's caches anyway.
    static constexpr std::size_t near = std::size_t{1} << 17;

    /// One more batch; some item is left and none weighs more than the bound.
    /// @return  How many items it takes.
    std::size_t take(std::span<std::uint64_t const> weights) noexcept {
        std::uint64_t const first = weights[items];
        // A branch, as it is foreseen: the next batch begins before a division, or even `first`, would have come.
        if (bound - fitting * first >= first) {
            fitting = bound / first;
        }
        auto const count = static_cast<std::size_t>(std::min<std::uint64_t>(fitting, weights.size() - items));
        last = count * first;
        largest = std::max(largest, last);
        next = std::min(next, std::max(last + first, last));  // a sum that wraps is less
        items += count;
        ++batches;
        if (weights.size() > near) {
            // The next batches are about as large, so what they begin with can be fetched before it is known.
            __builtin_prefetch(weights.data() + std::min(items + 2 * count, weights.size() - 1));
        }
        return count;
    }
};

/// What is to be known of a bound: whether the batches of all ranks hold all items, and by how much not.
struct padded_check {
    padded_reach reach;       ///< after as many batches as there are ranks, or fewer if no item is left
    std::int64_t excess = 0;  ///< how many ranks too few there are, in 256ths; at most as many as there are
    bool feasible = false;
};

/// Checks several bounds at once: each is a chain of divisions that wait for one another, and the processor takes
/// turns.
///
/// @param weights  In falling order, at least one, none above any of the bounds.
template <std::size_t Bounds>
[[nodiscard]] std::array<padded_check, Bounds> check_padded(std::span<std::uint64_t const> weights, std::size_t ranks,
                                                            std::array<std::uint64_t, Bounds> const& bounds) {
    std::array<padded_reach, Bounds> reaches;
    for (std::size_t i = 0; i < Bounds; ++i) {
        reaches[i] = {.bound = bounds[i]};
    }
    auto const all_have_items = [&] {
        std::size_t furthest = 0;
        for (auto const& reach : reaches) {
            furthest = std::max(furthest, reach.items);
        }
        return furthest < weights.size();
    };
    for (std::size_t batch = 0; batch < ranks && all_have_items(); ++batch) {
        for (auto& reach : reaches) {
            reach.take(weights);
        }
    }

    std::array<padded_check, Bounds> checks;
    for (std::size_t i = 0; i < Bounds; ++i) {
        auto& [reach, excess, feasible] = checks[i];
        reach = reaches[i];
        while (reach.items < weights.size() && reach.batches < ranks) {
            reach.take(weights);
        }
        feasible = reach.items == weights.size();
        padded_reach beyond = reach;
        while (beyond.items < weights.size() && beyond.batches < 2 * ranks) {
            beyond.take(weights);
        }
        auto const filled =
            static_cast<std::int64_t>(std::min<std::uint64_t>(256, beyond.last / (beyond.bound / 256 + 1)));
        excess = 256 * (static_cast<std::int64_t>(beyond.batches) - static_cast<std::int64_t>(ranks) - 1) + filled;
    }
    return checks;
}

}  // namespace evenkeel::detail
