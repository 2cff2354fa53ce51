// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evenkeel::detail {

/// Which items of a batch are at home in each node: runs of items that follow one another, as a batch as a rule has the
/// items of a node together, but for a few.
class node_runs {
  public:
    struct run {
        std::uint32_t first;
        std::uint32_t size;
    };

    void reserve(std::size_t batch, std::size_t nodes) {
        drawn_.reserve(batch);
        nodes_.reserve(batch);
        runs_.reserve(batch);
        starts_.reserve(nodes + 1);
    }

    void clear() noexcept {
        drawn_.clear();
        nodes_.clear();
    }

    /// The next items of the batch, `first` and those behind it, are of `node`.
    void add(std::uint32_t node, std::size_t first, std::size_t size) {
        if (!nodes_.empty() && nodes_.back() == node) {
            drawn_.back().size += static_cast<std::uint32_t>(size);
            return;
        }
        nodes_.push_back(node);
        drawn_.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(size)});
    }

    /// Once all are known.
    void sort_by_node(std::size_t nodes) {
        starts_.assign(nodes + 1, 0);
        for (auto const node : nodes_) {
            ++starts_[node + 1];
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            starts_[node + 1] += starts_[node];
        }
        runs_.resize(drawn_.size());
        for (std::size_t at = drawn_.size(); at-- > 0;) {
            runs_[--starts_[nodes_[at] + 1]] = drawn_[at];
        }
        // Each start has moved to that of the node before it.
        starts_.front() = 0;
        for (std::size_t node = 0; node < nodes; ++node) {
            starts_[node] = starts_[node + 1];
        }
        starts_[nodes] = static_cast<std::uint32_t>(runs_.size());
    }

    /// In the order of the batch.
    [[nodiscard]] std::span<run const> of(std::size_t node) const noexcept {
        return std::span{runs_}.subspan(starts_[node], starts_[node + 1] - starts_[node]);
    }

  private:
    std::vector<run> drawn_;            ///< in the order of the batch
    std::vector<std::uint32_t> nodes_;  ///< of each
    std::vector<run> runs_;             ///< by node
    std::vector<std::uint32_t> starts_;
};

}  // namespace evenkeel::detail
