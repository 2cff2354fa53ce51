// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>

namespace evenkeel::detail {

/// Refuses a number that none of `count` things has.
///
///     require_below("assembly_of", "rank", 3, 2, "ranks of the LLM's group");
///     // "assembly_of: rank = 3, expected below the 2 ranks of the LLM's group"
inline void require_below(std::string_view function, std::string_view argument, std::size_t number, std::size_t count,
                          std::string_view of) {
    if (number >= count) {
        throw_invalid(function, argument, number, "below the " + std::to_string(count) + " " + std::string{of});
    }
}

/// Refuses a rank or a micro-batch that has no list.
///
/// @param lists  Of all ranks, in all their micro-batches.
/// @param of     What the ranks are of.
inline void require_batch(std::string_view function, rank_id rank, micro_batch_id micro_batch, std::size_t lists,
                          std::size_t micro_batches, std::string_view of) {
    // First, because no rank could be counted if there were none.
    require_below(function, "micro_batch", to_index(micro_batch), micro_batches, "micro-batches");
    if (std::size_t const ranks = lists / micro_batches; to_index(rank) >= ranks) {
        require_below(function, "rank", to_index(rank), ranks, std::string{"ranks of "}.append(of));
    }
}

/// The same for the batch of a plan.
inline void require_batch(std::string_view function, plan const& plan, rank_id rank, micro_batch_id micro_batch,
                          std::string_view of) {
    std::size_t const lists = plan.offsets.empty() ? 0 : plan.offsets.size() - 1;
    require_batch(function, rank, micro_batch, lists, plan.micro_batches, of);
}

}  // namespace evenkeel::detail
