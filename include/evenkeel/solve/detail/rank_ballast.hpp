// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// What ranks have besides the items of a batch and cannot give away, and what that comes to on each node.
class rank_ballast {
  public:
    void reserve(std::size_t nodes) { of_nodes_.reserve(nodes); }

    /// Of each rank, or of none at all. Stays where it is and is read again.
    void carry(std::span<std::uint64_t const> of_ranks) noexcept { of_ranks_ = of_ranks; }

    void add_up(node_ranks const& ranks) {
        of_nodes_.assign(of_ranks_.empty() ? 0 : ranks.nodes(), 0);
        for (std::uint32_t node = 0; node < of_nodes_.size(); ++node) {
            for (auto const rank : ranks[node]) {
                of_nodes_[node] += of_ranks_[rank];
            }
        }
    }

    [[nodiscard]] std::span<std::uint64_t const> of_ranks() const noexcept { return of_ranks_; }

    /// What `ranks` ranks of a node may have beside it, if none may have more than `target`.
    [[nodiscard]] std::uint64_t room_beside(std::size_t node, std::size_t ranks, std::uint64_t target) const noexcept {
        std::uint64_t room = 0;
        // What does not fit into 64 bits is room for everything.
        if (__builtin_mul_overflow(target, ranks, &room)) {
            room = std::numeric_limits<std::uint64_t>::max();
        }
        return room - (of_nodes_.empty() ? 0 : of_nodes_[node]);
    }

  private:
    std::span<std::uint64_t const> of_ranks_;
    std::vector<std::uint64_t> of_nodes_;
};

}  // namespace evenkeel::detail
