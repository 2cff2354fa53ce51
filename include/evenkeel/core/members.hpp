// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/grid.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// What the members of each instance of a group are to each other: pipeline stages, in each of these context-parallel
/// parts, and in each of these tensor-parallel siblings, as many as are left.
///
///     // One instance: stage 0 = {0, 1 | 2, 3}, stage 1 = {4, 5 | 6, 7}, each with 2 parts of 2 siblings.
///     evenkeel::member_shape const shape{.pipeline = 2, .context = 2};
///     evenkeel::members_of(group, shape, rank, 1);   // 4, 5, 6, 7
///
/// An instance lists its members stage by stage, part by part: `(stage * context + part) * tensor + sibling`. That is
/// how `group_of(grid)` lists them, whatever the grid's order.
struct member_shape {
    std::size_t pipeline = 1;
    std::size_t context = 1;

    friend bool operator==(member_shape const&, member_shape const&) = default;
};

/// The members of one pipeline stage of an instance, part by part; the first is the stage's leader.
[[nodiscard]] inline std::span<world_rank const> members_of(group const& group, member_shape const& shape, rank_id rank,
                                                            std::size_t stage) noexcept {
    auto const all = group[rank];
    std::size_t const count = all.size() / shape.pipeline;
    return all.subspan(stage * count, count);
}

/// Refuses a shape into which an instance's members cannot be put.
///
/// @param function  Who asks; named in an error.
/// @throws std::invalid_argument  if a number is zero, or names the first instance that it does not divide.
inline void require_shape(std::string_view function, member_shape const& shape, group const& group) {
    if (shape.pipeline == 0 || shape.context == 0) {
        throw_invalid(function, shape.pipeline == 0 ? "members.pipeline" : "members.context", 0, "at least 1");
    }
    for (std::size_t rank = 0; rank < group.ranks().value; ++rank) {
        std::size_t const size = group[to_id<rank_id>(rank)].size();
        if (size % shape.pipeline != 0 || size / shape.pipeline % shape.context != 0) {
            throw_invalid(function, "the members of instance " + std::to_string(rank), size,
                          "a multiple of " + std::to_string(shape.pipeline) + " stages of " +
                              std::to_string(shape.context) + " parts");
        }
    }
}

/// The data-parallel instances of a grid: what plans are made over.
///
///     evenkeel::group_of({.tensor = 2, .data = 4})[evenkeel::rank_id{1}];   // world ranks 2 and 3
///
/// Tensor-, context- and pipeline-parallel ranks work on the same samples and make up one instance. Data- and
/// expert-parallel ones work on different samples. Instances ascend in their leader, as process groups number them.
///
/// @throws std::invalid_argument  as `ranks_of`.
/// @complexity O(ranks log ranks)
[[nodiscard]] inline group group_of(grid const& grid) {
    auto const strides = detail::grid_strides_of("group_of", grid);
    auto const rank = [&](grid_coordinates const& at) { return detail::rank_of_coordinates(strides, grid.offset, at); };
    std::vector<grid_coordinates> instances;
    for (std::size_t data = 0; data < grid.data; ++data) {
        for (std::size_t expert = 0; expert < grid.expert; ++expert) {
            instances.push_back({.expert = expert, .data = data});
        }
    }
    std::ranges::sort(instances, {}, rank);
    group result;
    result.members.reserve(strides.ranks);
    for (auto at : instances) {
        for (at.pipeline = 0; at.pipeline < grid.pipeline; ++at.pipeline) {
            for (at.context = 0; at.context < grid.context; ++at.context) {
                for (at.tensor = 0; at.tensor < grid.tensor; ++at.tensor) {
                    result.members.push_back(rank(at));
                }
            }
        }
        result.offsets.push_back(result.members.size());
    }
    return result;
}

/// How `group_of` lists the members of each instance.
[[nodiscard]] inline member_shape shape_of(grid const& grid) noexcept {
    return {.pipeline = grid.pipeline, .context = grid.context};
}

}  // namespace evenkeel
