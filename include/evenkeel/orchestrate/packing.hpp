// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/orchestrate/detail/require_batch.hpp>

namespace evenkeel {

/// The sequences of one rank and micro-batch, one after the other, as attention over packed sequences takes them.
///
/// All numbers are tokens in 32 bits, as kernels want them.
struct packed_batch {
    std::vector<item_id> items;                ///< whose sequences they are
    std::vector<std::int32_t> offsets;         ///< `cu_seqlens`: where each begins without padding, and the end
    std::vector<std::int32_t> padded_offsets;  ///< `cu_seqlens_padded`: where each begins in memory, and the end
    std::vector<std::int32_t> position_ids;    ///< of each token in memory, from 0 in each sequence; padding counts on
    std::int32_t longest = 0;                  ///< `max_seqlen`, without padding
    std::int32_t longest_padded = 0;           ///< the same with it

    friend bool operator==(packed_batch const&, packed_batch const&) = default;
};

/// Packs the batch of `rank`.
///
///     // Rank 0 runs items 2 and 0, of 3 and 5 tokens, each padded to a multiple of 4.
///     auto const batch = evenkeel::packed(plan, evenkeel::rank_id{0}, evenkeel::micro_batch_id{0}, lengths, 4);
///     batch.offsets;          // 0, 3, 8
///     batch.padded_offsets;   // 0, 4, 12
///     batch.position_ids;     // 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7
///
/// @param lengths  Tokens of every item of the plan.
/// @param pad_to   Each sequence is padded up to a multiple of this.
/// @throws std::invalid_argument  if the plan has no such rank or micro-batch or an item past its last, there is not
///                                one length per item, or `pad_to` is 0.
/// @throws std::overflow_error    if the batch has 2^31 tokens or more.
/// @complexity O(tokens of the batch)
[[nodiscard]] inline packed_batch packed(plan const& plan, rank_id rank, micro_batch_id micro_batch,
                                         std::span<std::uint64_t const> lengths, std::uint64_t pad_to = 1) {
    if (lengths.size() != plan.items.size()) {
        throw_invalid("packed", "lengths.size()", lengths.size(),
                      "one for each of " + std::to_string(plan.items.size()) + " items");
    }
    if (pad_to == 0) {
        throw_invalid("packed", "pad_to", 0, "at least 1");
    }
    detail::require_batch("packed", plan, rank, micro_batch, "the plan");
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
    auto const items = plan.batch(rank, micro_batch);
    packed_batch result{
        .items = {items.begin(), items.end()}, .offsets = {0}, .padded_offsets = {0}, .position_ids = {}};
    for (item_id const& item : items) {
        if (to_index(item) >= lengths.size()) {
            throw_invalid("packed", element("plan.items", static_cast<std::size_t>(&item - plan.items.data())),
                          to_index(item), "an item below " + std::to_string(lengths.size()));
        }
        std::uint64_t const length = lengths[to_index(item)];
        std::uint64_t const rest = length % pad_to;
        std::uint64_t const padding = rest == 0 ? 0 : pad_to - rest;
        auto const end = static_cast<std::uint64_t>(result.padded_offsets.back());
        if (length > most || padding > most || end + length + padding > most) {
            throw std::overflow_error{"packed: the tokens of rank " + std::to_string(to_index(rank)) +
                                      " exceed 31 bits in micro-batch " + std::to_string(to_index(micro_batch))};
        }
        auto const padded = static_cast<std::int32_t>(length + padding);
        result.offsets.push_back(result.offsets.back() + static_cast<std::int32_t>(length));
        result.padded_offsets.push_back(result.padded_offsets.back() + padded);
        result.longest = std::max(result.longest, static_cast<std::int32_t>(length));
        result.longest_padded = std::max(result.longest_padded, padded);
        for (std::int32_t position = 0; position < padded; ++position) {
            result.position_ids.push_back(position);
        }
    }
    return result;
}

}  // namespace evenkeel
