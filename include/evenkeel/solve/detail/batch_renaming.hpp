// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <evenkeel/solve/detail/stay_state.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// Gives the batches that a node was packed into to the ranks of the node that keep most of them, the batch with most
/// to keep first.
class batch_renaming {
  public:
    void reserve(std::size_t ranks) {
        kept_.reserve(ranks * std::min<std::size_t>(ranks, 64));
        rank_of_batch_.reserve(ranks);
        batch_on_.reserve(ranks);
    }

    /// @param batch_of  Of each item of the node its batch; becomes its rank among those of the node.
    void operator()(stay_state const& state, std::uint32_t node, std::span<std::uint32_t> batch_of) {
        std::size_t const ranks = state.ranks().size(node);
        auto const numbers = state.nodes().items(node);
        kept_.assign(ranks * ranks, {0, 0, 0});
        for (std::uint32_t batch = 0; batch < ranks; ++batch) {
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                kept_[batch * ranks + rank] = {0, batch, rank};
            }
        }
        for (std::size_t position = 0; position < numbers.size(); ++position) {
            std::uint32_t const home = state.items().home_rank(numbers[position]);
            if (home != no_rank && state.node_of_rank(home) == node) {
                std::get<0>(kept_[batch_of[position] * ranks + state.ranks().local[home]]) +=
                    state.items().bytes_of(numbers[position]);
            }
        }
        std::sort(kept_.begin(), kept_.end(), [](auto const& a, auto const& b) {
            return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b) : a < b;
        });
        rank_of_batch_.assign(ranks, no_rank);
        batch_on_.assign(ranks, no_rank);
        for (auto const& [bytes, batch, rank] : kept_) {
            if (rank_of_batch_[batch] == no_rank && batch_on_[rank] == no_rank) {
                rank_of_batch_[batch] = rank;
                batch_on_[rank] = batch;
            }
        }
        for (auto& batch : batch_of) {
            batch = rank_of_batch_[batch];
        }
    }

  private:
    std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> kept_;  ///< bytes, batch, rank
    std::vector<std::uint32_t> rank_of_batch_;
    std::vector<std::uint32_t> batch_on_;
};

}  // namespace evenkeel::detail
