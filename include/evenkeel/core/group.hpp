// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// The ordered data-parallel instances of a phase; each is a list of world ranks, its first the leader.
///
///     evenkeel::group pairs{.members = {world_rank{0}, world_rank{1}, world_rank{2}, world_rank{3}},
///                           .offsets = {0, 2, 4}};            // 2 instances of 2 tensor-parallel members
///     pairs.leader(evenkeel::rank_id{1});                     // world_rank{2}
///
/// A plan is made over the ranks of a group; `layout_of` tells where in the world its items then are.
struct group {
    std::vector<world_rank> members;
    std::vector<std::size_t> offsets = {0};

    [[nodiscard]] rank_count ranks() const noexcept { return {offsets.size() - 1}; }

    /// The world ranks that run `rank` together.
    [[nodiscard]] std::span<world_rank const> operator[](rank_id rank) const noexcept {
        std::size_t const first = offsets[to_index(rank)];
        return std::span{members}.subspan(first, offsets[to_index(rank) + 1] - first);
    }

    /// The member to which the items of `rank` are delivered.
    [[nodiscard]] world_rank leader(rank_id rank) const noexcept { return members[offsets[to_index(rank)]]; }

    friend bool operator==(group const&, group const&) = default;
};

/// Every world rank an instance of its own: plain data parallelism.
[[nodiscard]] inline group flat_group(world_size ranks) {
    group result;
    result.members.reserve(ranks.value);
    result.offsets.reserve(ranks.value + 1);
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        result.members.push_back(to_id<world_rank>(rank));
        result.offsets.push_back(rank + 1);
    }
    return result;
}

}  // namespace evenkeel
