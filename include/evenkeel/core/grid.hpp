// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// Which end of an order string steps fastest from one world rank to the next.
enum class fastest_axis : std::uint8_t {
    first,  ///< as Megatron: "tp-cp-ep-dp-pp", neighbours are tensor-parallel
    last    ///< as device meshes: "pp-dp-cp-tp"
};

/// How a block of world ranks splits into tensor-, context-, expert-, data- and pipeline-parallel ones.
///
///     evenkeel::grid const llm{.tensor = 2, .data = 4};                      // 8 world ranks
///     evenkeel::coordinates_of(llm, evenkeel::world_rank{5}).data;           // 2: 5 = 1 + 2 * 2
///     evenkeel::group_of(llm);                                               // {0, 1}, {2, 3}, {4, 5}, {6, 7}
///
/// An axis's stride is the product of the sizes of the axes that step faster, and a rank's coordinate on it is
/// `(rank - offset) / stride % size`: the formulas of Megatron's `RankGenerator` and of row-major device meshes.
/// Encoder and LLM have grids of their own, which may be the same ranks, overlap or lie apart.
struct grid {
    std::size_t tensor = 1;
    std::size_t context = 1;
    std::size_t expert = 1;
    std::size_t data = 1;
    std::size_t pipeline = 1;
    /// Axes by their short names, joined by `-`. An axis of size 1 may be left out.
    std::string order = "tp-cp-ep-dp-pp";
    fastest_axis fastest = fastest_axis::first;
    /// The first world rank of the block.
    std::size_t offset = 0;

    friend bool operator==(grid const&, grid const&) = default;
};

/// Where a world rank stands in a grid.
struct grid_coordinates {
    std::size_t tensor = 0;
    std::size_t context = 0;
    std::size_t expert = 0;
    std::size_t data = 0;
    std::size_t pipeline = 0;

    friend bool operator==(grid_coordinates const&, grid_coordinates const&) = default;
};

namespace detail {

inline constexpr std::array<std::string_view, 5> axis_names{"tp", "cp", "ep", "dp", "pp"};

[[nodiscard]] inline std::array<std::size_t, 5> axis_sizes(grid const& grid) {
    return {grid.tensor, grid.context, grid.expert, grid.data, grid.pipeline};
}

/// The stride of each axis, in the order of `axis_names`, and the number of ranks.
struct grid_strides {
    std::array<std::size_t, 5> of{};
    std::size_t ranks = 1;
};

/// The axes that an order string names, as positions in `axis_names`; each once.
inline std::size_t read_axes(std::string_view function, grid const& grid, std::array<std::size_t, 5>& axes) {
    std::array<bool, 5> seen{};
    std::size_t count = 0;
    for (std::string_view rest = grid.order; !rest.empty() || count == 0;) {
        std::size_t const end = rest.find('-');
        std::string_view const name = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        std::size_t axis = 0;
        while (axis < axis_names.size() && axis_names[axis] != name) {
            ++axis;
        }
        bool const trailing = end != std::string_view::npos && rest.empty();
        if (axis == axis_names.size() || seen[axis] || trailing) {
            throw_invalid(function, "grid.order", grid.order,
                          "each of tp, cp, ep, dp and pp at most once, joined by -");
        }
        seen[axis] = true;
        axes[count++] = axis;
    }
    for (std::size_t axis = 0; axis < axis_names.size(); ++axis) {
        if (!seen[axis] && axis_sizes(grid)[axis] != 1) {
            throw_invalid(function, "grid.order", grid.order,
                          std::string{axis_names[axis]} + " among its axes, whose size is " +
                              std::to_string(axis_sizes(grid)[axis]));
        }
    }
    return count;
}

/// Strides of a grid that makes sense; refuses any other.
[[nodiscard]] inline grid_strides grid_strides_of(std::string_view function, grid const& grid) {
    constexpr std::array<std::string_view, 5> members{"grid.tensor", "grid.context", "grid.expert", "grid.data",
                                                      "grid.pipeline"};
    auto const sizes = axis_sizes(grid);
    std::array<std::size_t, 5> axes{};
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        if (sizes[axis] == 0) {
            throw_invalid(function, members[axis], 0, "at least 1");
        }
    }
    if (grid.context > 1 && grid.expert > 1) {
        // Experts are a second factorisation of the ranks, in which context-parallel ones are data-parallel.
        throw_invalid(function, "grid.expert", grid.expert, "1 where grid.context is above 1: two grids, one for each");
    }
    std::size_t const count = read_axes(function, grid, axes);
    grid_strides result;
    for (std::size_t step = 0; step < count; ++step) {
        std::size_t const axis = grid.fastest == fastest_axis::first ? axes[step] : axes[count - 1 - step];
        result.of[axis] = result.ranks;
        if (__builtin_mul_overflow(result.ranks, sizes[axis], &result.ranks) || result.ranks > max_items) {
            throw_invalid(function, members[axis], sizes[axis], "fewer than 2^32 ranks in all");
        }
    }
    if (grid.offset > max_items - result.ranks) {
        throw_invalid(function, "grid.offset", grid.offset, "world ranks below 2^32");
    }
    return result;
}

/// The world rank at coordinates that are in the grid.
[[nodiscard]] inline world_rank rank_of_coordinates(grid_strides const& strides, std::size_t offset,
                                                    grid_coordinates const& at) noexcept {
    return to_id<world_rank>(offset + at.tensor * strides.of[0] + at.context * strides.of[1] +
                             at.expert * strides.of[2] + at.data * strides.of[3] + at.pipeline * strides.of[4]);
}

}  // namespace detail

/// How many world ranks a grid has.
///
/// @throws std::invalid_argument  if a size is zero, `order` names an axis twice, lacks one whose size is not 1 or has
///                                anything else in it, or both experts and context are split, as in Megatron.
[[nodiscard]] inline world_size ranks_of(grid const& grid) { return {detail::grid_strides_of("ranks_of", grid).ranks}; }

/// Where `rank` stands in `grid`.
///
/// @throws std::invalid_argument  as `ranks_of`, and if the rank is not in the grid.
[[nodiscard]] inline grid_coordinates coordinates_of(grid const& grid, world_rank rank) {
    auto const strides = detail::grid_strides_of("coordinates_of", grid);
    if (to_index(rank) < grid.offset || to_index(rank) - grid.offset >= strides.ranks) {
        throw_invalid("coordinates_of", "rank", to_index(rank),
                      std::to_string(grid.offset) + " to " + std::to_string(grid.offset + strides.ranks - 1));
    }
    std::size_t const local = to_index(rank) - grid.offset;
    // An axis that the order leaves out has stride 0 and size 1.
    auto const on = [&](std::size_t axis, std::size_t size) { return size == 1 ? 0 : local / strides.of[axis] % size; };
    return {.tensor = on(0, grid.tensor),
            .context = on(1, grid.context),
            .expert = on(2, grid.expert),
            .data = on(3, grid.data),
            .pipeline = on(4, grid.pipeline)};
}

/// The world rank at `at`.
///
/// @throws std::invalid_argument  as `ranks_of`, and if a coordinate is not in the grid.
[[nodiscard]] inline world_rank rank_at(grid const& grid, grid_coordinates const& at) {
    auto const strides = detail::grid_strides_of("rank_at", grid);
    std::array<std::size_t, 5> const coordinates{at.tensor, at.context, at.expert, at.data, at.pipeline};
    constexpr std::array<std::string_view, 5> names{"at.tensor", "at.context", "at.expert", "at.data", "at.pipeline"};
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
        if (std::size_t const size = detail::axis_sizes(grid)[axis]; coordinates[axis] >= size) {
            throw_invalid("rank_at", names[axis], coordinates[axis], "a coordinate below " + std::to_string(size));
        }
    }
    return detail::rank_of_coordinates(strides, grid.offset, at);
}

}  // namespace evenkeel
