// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/solve/wishes.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::test {

/// A batch with wishes, and the memory that they refer to.
struct wished_batch {
    std::vector<std::uint64_t> weights;
    rank_count ranks;
    std::vector<std::uint64_t> quantities = {};
    std::optional<std::uint64_t> cap = {};
    std::optional<std::size_t> count_cap = {};
    bool equal_counts = false;
    bool no_empty_rank = false;
    std::vector<std::uint32_t> groups = {};
    std::vector<rank_id> pinned = {};
    std::vector<std::uint64_t> speeds = {};
    std::uint64_t step = 0;

    [[nodiscard]] wishes asked() const {
        return {.quantities = quantities,
                .cap = cap,
                .count_cap = count_cap,
                .equal_counts = equal_counts,
                .no_empty_rank = no_empty_rank,
                .groups = groups,
                .pinned = pinned,
                .speeds = speeds,
                .step = step};
    }
};

/// A batch small enough to try every plan, with any combination of wishes; some cannot be met.
[[nodiscard]] inline wished_batch small_wished_batch(std::uint64_t seed) {
    auto const [lengths, ranks] = small_batch(seed);
    seeded random{seed + 0x9e3779b97f4a7c15};
    wished_batch result{.weights = lengths, .ranks = ranks};
    std::size_t const items = lengths.size();
    auto const some = [&](std::uint64_t of) { return random.up_to(of - 1) == 0; };
    if (some(2)) {
        std::uint64_t total = 0;
        std::uint64_t largest = 0;
        for (auto const length : lengths) {
            // Of the weight itself, of its own, or both.
            std::uint64_t const quantity = some(3) ? length % 50 : random.up_to(30);
            result.quantities.push_back(quantity);
            total += quantity;
            largest = std::max(largest, quantity);
        }
        std::uint64_t const mean = total / ranks.value;
        result.cap =
            std::max(largest - (some(20) ? std::min<std::uint64_t>(largest, 1) : 0), mean + random.up_to(1 + mean / 2));
    }
    if (some(4)) {
        result.count_cap = items / ranks.value + random.up_to(2);
    }
    result.equal_counts = some(3);
    result.no_empty_rank = some(3);
    if (some(3)) {
        for (std::size_t item = 0; item < items; ++item) {
            result.groups.push_back(some(4) ? ungrouped : static_cast<std::uint32_t>(random.up_to(items)));
        }
    }
    if (some(3)) {
        for (std::size_t item = 0; item < items; ++item) {
            result.pinned.push_back(some(4) ? to_id<rank_id>(random.up_to(ranks.value - 1)) : unpinned);
        }
    }
    if (some(3)) {
        for (std::size_t rank = 0; rank < ranks.value; ++rank) {
            constexpr std::uint64_t classes[] = {10, 8, 5, 1};
            result.speeds.push_back(classes[random.up_to(3)]);
        }
    }
    if (some(3)) {
        result.step = random.up_to(7);
    }
    return result;
}

/// What a placement comes to under the wishes, checked one by one as they are written down.
class wish_check {
  public:
    explicit wish_check(wished_batch const& batch) : batch_{&batch} {}

    /// How many ranks have no item that weighs something.
    [[nodiscard]] std::size_t empty_ranks(std::span<std::size_t const> rank_of) const {
        std::size_t empty = 0;
        for (std::size_t rank = 0; rank < batch_->ranks.value; ++rank) {
            bool any = false;
            for (std::size_t item = 0; item < rank_of.size(); ++item) {
                any = any || (rank_of[item] == rank && batch_->weights[item] > 0);
            }
            empty += any ? 0U : 1U;
        }
        return empty;
    }

    [[nodiscard]] bool stays_together(std::span<std::size_t const> rank_of) const {
        for (std::size_t item = 0; item < rank_of.size(); ++item) {
            if (!batch_->pinned.empty() && batch_->pinned[item] != unpinned &&
                to_index(batch_->pinned[item]) != rank_of[item]) {
                return false;
            }
            for (std::size_t other = 0; other < item && !batch_->groups.empty(); ++other) {
                if (batch_->groups[item] != ungrouped && batch_->groups[item] == batch_->groups[other] &&
                    rank_of[item] != rank_of[other]) {
                    return false;
                }
            }
        }
        return true;
    }

    /// The time of the slowest rank; nothing if a wish is broken.
    [[nodiscard]] std::optional<std::uint64_t> time(std::span<std::size_t const> rank_of,
                                                    std::size_t fewest_empty) const {
        std::size_t const ranks = batch_->ranks.value;
        std::size_t most = 0;
        std::size_t least = std::numeric_limits<std::size_t>::max();
        std::uint64_t slowest = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            std::uint64_t load = 0;
            std::uint64_t quantity = 0;
            std::size_t count = 0;
            for (std::size_t item = 0; item < rank_of.size(); ++item) {
                if (rank_of[item] == rank) {
                    load += batch_->weights[item];
                    quantity += batch_->quantities.empty() ? 0 : batch_->quantities[item];
                    ++count;
                }
            }
            if (quantity > batch_->cap.value_or(quantity) || count > batch_->count_cap.value_or(count)) {
                return std::nullopt;
            }
            most = std::max(most, count);
            least = std::min(least, count);
            if (!batch_->speeds.empty()) {
                std::uint64_t const fastest = *std::ranges::max_element(batch_->speeds);
                __extension__ typedef unsigned __int128 wide;
                load = static_cast<std::uint64_t>((wide{load} * fastest + batch_->speeds[rank] - 1) /
                                                  batch_->speeds[rank]);
            }
            slowest = std::max(slowest, load);
        }
        if ((batch_->equal_counts && most - least > 1) ||
            (batch_->no_empty_rank && empty_ranks(rank_of) > fewest_empty)) {
            return std::nullopt;
        }
        return slowest;
    }

  private:
    wished_batch const* batch_;
};

struct wish_optimum {
    std::optional<std::uint64_t> time;  ///< nothing if no plan meets the wishes
    std::size_t fewest_empty = 0;       ///< ranks without an item that weighs something, whatever else is wished
};

/// Hands to `visit` the rank of each item in every plan that keeps together what must be: for ten items or so.
template <class Visit>
void for_each_plan(wished_batch const& batch, Visit visit) {
    wish_check const check{batch};
    std::vector<std::size_t> rank_of(batch.weights.size());
    auto const place = [&](auto const& self, std::size_t item) -> void {
        if (item == rank_of.size()) {
            visit(std::as_const(rank_of));
            return;
        }
        for (std::size_t rank = 0; rank < batch.ranks.value; ++rank) {
            rank_of[item] = rank;
            if (check.stays_together(std::span{rank_of}.first(item + 1))) {
                self(self, item + 1);
            }
        }
    };
    place(place, 0);
}

/// The best plan by trying all.
[[nodiscard]] inline wish_optimum optimum_of(wished_batch const& batch) {
    wish_check const check{batch};
    wish_optimum result{.time = std::nullopt, .fewest_empty = batch.ranks.value};
    if (batch.no_empty_rank) {
        for_each_plan(batch, [&](auto const& rank_of) {
            result.fewest_empty = std::min(result.fewest_empty, check.empty_ranks(rank_of));
        });
    }
    for_each_plan(batch, [&](auto const& rank_of) {
        if (auto const time = check.time(rank_of, result.fewest_empty)) {
            result.time = std::min(result.time.value_or(*time), *time);
        }
    });
    return result;
}

}  // namespace evenkeel::test
