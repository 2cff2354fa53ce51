// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>

namespace evenkeel {

/// Which items each rank works on in each micro-batch: a partition, every item exactly once.
///
///     for (auto item : plan[evenkeel::rank_id{3}]) { ... }   // the items of rank 3, in the order it should run them
///
/// Two flat arrays: list `rank * micro_batches + micro_batch` owns `items[offsets[list]] .. items[offsets[list + 1])`.
/// Lists may be empty. `require_partition` checks what cannot be seen from the type.
struct plan {
    std::vector<item_id> items;
    std::vector<std::size_t> offsets = {0};
    std::size_t micro_batches = 1;

    [[nodiscard]] rank_count ranks() const noexcept { return {(offsets.size() - 1) / micro_batches}; }

    /// The items of `rank` over all its micro-batches.
    [[nodiscard]] std::span<item_id const> operator[](rank_id rank) const noexcept {
        std::size_t const first = to_index(rank) * micro_batches;
        return lists(first, first + micro_batches);
    }

    /// The items of `rank` in one micro-batch.
    [[nodiscard]] std::span<item_id const> batch(rank_id rank, micro_batch_id micro_batch) const noexcept {
        std::size_t const list = to_index(rank) * micro_batches + to_index(micro_batch);
        return lists(list, list + 1);
    }

    friend bool operator==(plan const&, plan const&) = default;

  private:
    [[nodiscard]] std::span<item_id const> lists(std::size_t first, std::size_t last) const noexcept {
        return std::span{items}.subspan(offsets[first], offsets[last] - offsets[first]);
    }
};

}  // namespace evenkeel
