// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace evenkeel {

/// An item by its position in the batch that the caller passed: `item_id{0}` is the first.
enum class item_id : std::uint32_t {};

/// A data-parallel instance by its position in the group of a phase.
enum class rank_id : std::uint32_t {};

/// A process of the job, as the communicator counts them.
enum class world_rank : std::uint32_t {};

/// The world ranks that share the fast links.
enum class node_id : std::uint32_t {};

/// A part of the step that all ranks run at the same time.
enum class micro_batch_id : std::uint32_t {};

/// The most items that a batch may have: ids are 32-bit, which halves what plans and layouts take up.
inline constexpr std::size_t max_items = std::numeric_limits<std::uint32_t>::max();

/// How many ranks a group has. A type of its own, so that it is never swapped with another count.
struct rank_count {
    std::size_t value = 0;
    friend bool operator==(rank_count const&, rank_count const&) = default;
};

/// How many world ranks a job has.
struct world_size {
    std::size_t value = 0;
    friend bool operator==(world_size const&, world_size const&) = default;
};

/// How many world ranks a node has.
struct node_size {
    std::size_t value = 0;
    friend bool operator==(node_size const&, node_size const&) = default;
};

/// How many micro-batches a step has, from one update of the weights to the next.
struct micro_batch_count {
    std::size_t value = 0;
    friend bool operator==(micro_batch_count const&, micro_batch_count const&) = default;
};

/// One of the id types above.
template <class Id>
concept identifier = std::is_enum_v<Id> && std::same_as<std::underlying_type_t<Id>, std::uint32_t>;

/// The position that an id stands for.
///
///     evenkeel::to_index(evenkeel::rank_id{3});   // std::size_t{3}
template <identifier Id>
[[nodiscard]] constexpr std::size_t to_index(Id id) noexcept {
    return static_cast<std::size_t>(id);
}

/// The id of a position. The caller knows that it fits into 32 bits.
///
///     evenkeel::to_id<evenkeel::rank_id>(std::size_t{3});   // rank_id{3}
template <identifier Id>
[[nodiscard]] constexpr Id to_id(std::size_t position) noexcept {
    return static_cast<Id>(static_cast<std::uint32_t>(position));
}

}  // namespace evenkeel
