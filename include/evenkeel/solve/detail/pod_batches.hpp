// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/solve/detail/stay_items.hpp>
#include <evenkeel/solve/detail/stay_task.hpp>

namespace evenkeel::detail {

/// Cuts padded batches out of the items of single nodes as far as these go well together, and the rest out of ever
/// larger pods of neighbouring nodes: 2 nodes, 4, 8, until a pod has them all.
///
/// A batch of falling weights costs count * first, so its count is known from its first item; what is left of the load
/// once its items are taken off is waste: padding, and what no further item fits into. A pod makes a batch where the
/// waste is no more than is allowed, else it leaves the first item to the next larger pod, where more items of about
/// that weight come together. More allowance means more batches in all, and more of them in small pods.
class pod_batches {
  public:
    void reserve(std::size_t items, std::size_t nodes) {
        pool_.reserve(items);
        sorted_.reserve(items);
        sums_.reserve(items + 1);
        offsets_.reserve(nodes + 2);
    }

    /// As few bytes away from home as the ranks allow under a bound on the load, one that suffices for all items
    /// together and is none below the heaviest.
    ///
    /// @param batch_of  Filled with the batch of each item.
    /// @return          Whether pods of fewer than all nodes have been of use.
    bool operator()(stay_items const& items, std::size_t nodes, std::size_t ranks, std::uint64_t bound,
                    std::span<std::uint32_t> batch_of) {
        if (cut(items, nodes, bound, bound, batch_of) <= ranks) {
            return true;
        }
        constexpr std::uint64_t parts = 4096;
        std::uint64_t enough = 0;
        std::uint64_t excessive = bound;
        while (excessive - enough > bound / parts + 1) {
            std::uint64_t const allowance = enough + (excessive - enough) / 2;
            (cut(items, nodes, bound, allowance, batch_of) <= ranks ? enough : excessive) = allowance;
        }
        if (enough > 0 && cut(items, nodes, bound, enough, batch_of) <= ranks) {
            return true;
        }
        static_cast<void>(cut(items, 1, bound, bound, batch_of));
        return false;
    }

  private:
    /// @return  How many batches that takes.
    std::size_t cut(stay_items const& items, std::size_t nodes, std::uint64_t bound, std::uint64_t allowance,
                    std::span<std::uint32_t> batch_of) {
        pool_.assign(items.order().begin(), items.order().end());
        for (auto const item : pool_) {
            batch_of[item] = no_rank;
        }
        batches_ = 0;
        for (std::size_t nodes_per_pod = 1; !pool_.empty(); nodes_per_pod *= 2) {
            bool const all = nodes_per_pod >= nodes;
            sort_by_pod(items, nodes_per_pod, all ? 1 : (nodes - 1) / nodes_per_pod + 1);
            for (std::size_t pod = 0; pod + 1 < offsets_.size(); ++pod) {
                auto const of_pod = std::span{sorted_}.subspan(offsets_[pod], offsets_[pod + 1] - offsets_[pod]);
                cut_pod(items, of_pod, bound, all ? bound : allowance, batch_of);
            }
            std::erase_if(pool_, [&](std::uint32_t item) { return batch_of[item] != no_rank; });
        }
        return batches_;
    }

    void sort_by_pod(stay_items const& items, std::size_t nodes_per_pod, std::size_t pods) {
        auto const pod_of = [&](std::uint32_t item) { return pods == 1 ? 0 : items.home_node(item) / nodes_per_pod; };
        offsets_.assign(pods + 1, 0);
        for (auto const item : pool_) {
            ++offsets_[pod_of(item)];
        }
        std::size_t before = 0;
        for (auto& offset : offsets_) {
            before += std::exchange(offset, before);
        }
        sorted_.resize(pool_.size());
        for (auto const item : pool_) {
            sorted_[offsets_[pod_of(item)]++] = item;
        }
        std::rotate(offsets_.begin(), offsets_.end() - 1, offsets_.end());
        offsets_.front() = 0;
    }

    void cut_pod(stay_items const& items, std::span<std::uint32_t const> of_pod, std::uint64_t bound,
                 std::uint64_t allowance, std::span<std::uint32_t> batch_of) {
        sums_.assign(1, 0);
        for (auto const item : of_pod) {
            sums_.push_back(sums_.back() + items.weight(item));
        }
        for (std::size_t first = 0; first < of_pod.size();) {
            std::uint64_t const most = bound / items.weight(of_pod[first]);
            std::size_t const end =
                first + static_cast<std::size_t>(std::min<std::uint64_t>(most, of_pod.size() - first));
            if (bound - (sums_[end] - sums_[first]) > allowance) {
                ++first;
                continue;
            }
            for (; first < end; ++first) {
                batch_of[of_pod[first]] = batches_;
            }
            ++batches_;
        }
    }

    std::vector<std::uint32_t> pool_;    ///< the items that are in no batch yet, heaviest first
    std::vector<std::uint32_t> sorted_;  ///< `pool_` by pod
    std::vector<std::uint64_t> sums_;    ///< of the weights of a pod, up to each item
    std::vector<std::size_t> offsets_;   ///< by pod
    std::uint32_t batches_ = 0;
};

}  // namespace evenkeel::detail
