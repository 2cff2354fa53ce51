// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/solve/detail/differencing.hpp>
#include <evenkeel/solve/detail/longest_first.hpp>
#include <evenkeel/solve/detail/mixed_buffers.hpp>
#include <evenkeel/solve/detail/search.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>
#include <evenkeel/solve/detail/wish_buffers.hpp>

namespace evenkeel {

/// A plan and how good it is.
struct balanced {
    evenkeel::plan plan;
    evenkeel::quality quality;

    friend bool operator==(balanced const&, balanced const&) = default;
};

namespace detail {

/// What a solver remembers from call to call: memory alone, no state.
struct buffers {
    /// Enough for any batch of so many items on so many ranks.
    void reserve(std::size_t count, std::size_t ranks) {
        items.reserve(count);
        longest.reserve(ranks);
        searching.reserve(count, ranks);
        differing.reserve(count, ranks);
        rank_of.reserve(count);
        rank_of_item.reserve(count);
    }

    std::vector<std::uint64_t> weights;  ///< of the whole batch
    sorted_items items;
    longest_first longest;
    search searching;
    differencing differing;
    std::vector<std::uint32_t> rank_of;       ///< of the sorted items
    std::vector<std::uint32_t> rank_of_item;  ///< of the whole batch
    mixed_buffers mixed;
    wish_buffers wishes;
    balanced result;
};

}  // namespace detail

/// The memory that solvers work in. From the second batch of the same shape on, planning allocates nothing.
///
///     evenkeel::workspace space;                                                  // lives as long as training
///     auto const& even = evenkeel::balance(space, lengths, ranks, evenkeel::linear_cost{});  // until the next use
///
/// Results do not depend on what a workspace was used for before. It belongs to one thread at a time.
class workspace {
  public:
    /// For the solvers.
    [[nodiscard]] detail::buffers& buffers() noexcept { return buffers_; }

  private:
    detail::buffers buffers_;
};

}  // namespace evenkeel
