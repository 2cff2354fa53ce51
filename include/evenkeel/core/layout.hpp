// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel {

/// Where an item is: on which world rank, in which micro-batch, at which position of that batch.
///
/// Ordered as the rank keeps them in memory: micro-batch by micro-batch, position by position.
struct place {
    world_rank rank{};
    micro_batch_id micro_batch{};
    std::uint32_t position = 0;

    friend auto operator<=>(place const&, place const&) = default;
    friend bool operator==(place const&, place const&) = default;
};

/// The inverse of a plan in world coordinates: item -> place.
///
///     auto const home = evenkeel::home_layout(std::vector<std::size_t>{2, 0, 1});
///     home[evenkeel::item_id{2}].rank;   // world_rank{2}
///
/// @invariant  No two items share a place, and each rank's positions run from 0 without a hole.
struct layout {
    std::vector<place> places;
    world_size ranks;

    [[nodiscard]] std::size_t size() const noexcept { return places.size(); }
    [[nodiscard]] place const& operator[](item_id item) const noexcept { return places[to_index(item)]; }

    friend bool operator==(layout const&, layout const&) = default;
};

/// Where the items of a batch are before anything moves: rank 0 drew the first `counts[0]`, rank 1 the next.
///
/// Counts may be ragged and zero.
/// @throws std::invalid_argument  if there are more than `max_items` items in all.
/// @complexity O(items)
[[nodiscard]] inline layout home_layout(std::span<std::size_t const> counts) {
    layout result{.places = {}, .ranks = {counts.size()}};
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        if (counts[rank] > max_items - result.places.size()) {
            throw_invalid("home_layout", element("counts", rank), counts[rank],
                          "at most " + std::to_string(max_items) + " items in all");
        }
        for (std::size_t position = 0; position < counts[rank]; ++position) {
            result.places.push_back({to_id<world_rank>(rank), {}, static_cast<std::uint32_t>(position)});
        }
    }
    return result;
}

/// Where the items of `plan` are once it is carried out: with the leader of their rank in `group`.
///
/// @param ranks  The world; every member of `group` must be in it.
/// @throws std::invalid_argument  if the plan is no partition, the group not fit for the world, or one not made for the
///                                other.
/// @complexity O(items + ranks)
[[nodiscard]] inline layout layout_of(plan const& plan, group const& group, world_size ranks) {
    require_partition("layout_of", plan, plan.items.size());
    require_group("layout_of", group, ranks);
    if (plan.ranks() != group.ranks()) {
        throw_invalid("layout_of", "plan.ranks()", plan.ranks().value,
                      "the " + std::to_string(group.ranks().value) + " ranks of the group");
    }
    layout result{.places = std::vector<place>(plan.items.size()), .ranks = ranks};
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        auto const id = to_id<rank_id>(rank);
        world_rank const leader = group.leader(id);
        for (std::size_t micro_batch = 0; micro_batch < plan.micro_batches; ++micro_batch) {
            std::uint32_t position = 0;
            for (item_id const item : plan.batch(id, to_id<micro_batch_id>(micro_batch))) {
                result.places[to_index(item)] = {leader, to_id<micro_batch_id>(micro_batch), position++};
            }
        }
    }
    return result;
}

/// The same for a plan over all world ranks.
[[nodiscard]] inline layout layout_of(plan const& plan) {
    // A plan that is no partition may not know how many ranks it has.
    require_partition("layout_of", plan, plan.items.size());
    return layout_of(plan, flat_group({plan.ranks().value}), {plan.ranks().value});
}

}  // namespace evenkeel
