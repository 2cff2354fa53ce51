// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// The ordered data-parallel instances of a phase; each is a list of world ranks, its first the leader.
///
///     evenkeel::group pairs{.members = {world_rank{0}, world_rank{1}, world_rank{2}, world_rank{3}},
///                           .offsets = {0, 2, 4}};            // 2 instances of 2 tensor-parallel members
///     pairs.leader(evenkeel::rank_id{1});                     // world_rank{2}
///
/// A plan is made over the ranks of a group; `layout_of` tells where in the world its items then are. `require_group`
/// checks what cannot be seen from the type.
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
///
///     evenkeel::flat_group({64})[evenkeel::rank_id{3}];   // world rank 3
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

/// The instance that a world rank is a member of; none if it has no part in the group.
///
///     evenkeel::instance_of(pairs, world_rank{3});   // rank_id{1}
///
/// @complexity O(members)
[[nodiscard]] inline std::optional<rank_id> instance_of(group const& group, world_rank member) noexcept {
    auto const place = std::ranges::find(group.members, member);
    if (place == group.members.end()) {
        return std::nullopt;
    }
    auto const end = std::ranges::upper_bound(group.offsets, static_cast<std::size_t>(place - group.members.begin()));
    return to_id<rank_id>(static_cast<std::size_t>(end - group.offsets.begin()) - 1);
}

/// Refuses a group whose items would have nowhere to go, or two instances that would share a place.
///
/// @param function  Who asks; named in an error.
/// @param ranks     The world.
/// @throws std::invalid_argument  names the first instance without a member, or the first member that is not in the
///                                world or has a part in the group already.
/// @complexity O(members + ranks)
inline void require_group(std::string_view function, group const& group, world_size ranks) {
    auto const& offsets = group.offsets;
    if (offsets.empty()) {
        throw_invalid(function, "group.offsets.size()", 0, "1 + instances");
    }
    if (offsets.front() != 0 || offsets.back() != group.members.size()) {
        throw_invalid(function, "group.offsets",
                      "[" + std::to_string(offsets.front()) + " .. " + std::to_string(offsets.back()) + "]",
                      "offsets from 0 to group.members.size() = " + std::to_string(group.members.size()));
    }
    auto const level = std::ranges::adjacent_find(offsets, std::greater_equal{});
    if (level != offsets.end()) {
        auto const position = static_cast<std::size_t>(level - offsets.begin()) + 1;
        throw_invalid(function, element("group.offsets", position), offsets[position],
                      "offsets that rise, for an instance has at least its leader");
    }
    std::vector<bool> seen(ranks.value);
    for (std::size_t position = 0; position < group.members.size(); ++position) {
        std::size_t const member = to_index(group.members[position]);
        if (member >= ranks.value) {
            throw_invalid(function, element("group.members", position), member,
                          "a world rank below " + std::to_string(ranks.value));
        }
        if (seen[member]) {
            throw_invalid(function, element("group.members", position), member, "every world rank at most once");
        }
        seen[member] = true;
    }
}

}  // namespace evenkeel
