// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/solve/balance.hpp>

namespace evenkeel::detail {

/// Splits the items of a node over its ranks without regard to where in the node they are.
class node_splitter {
  public:
    /// @param size    How many ranks a node has.
    /// @param target  What none of them may exceed.
    /// @param effort  Steps per item.
    /// @param usual   Room for so many items of a node is made at once.
    void start(phase_task const& task, std::size_t size, std::uint64_t target, std::uint64_t effort,
               std::size_t usual) {
        auto& buffers = balancing_.buffers();
        buffers.reserve(usual, size);
        buffers.weights.reserve(usual);
        buffers.result.plan.items.reserve(usual);
        weights_.reserve(usual);
        task_ = &task;
        size_ = size;
        target_ = target;
        effort_ = effort;
    }

    /// Leaves the items of a node where they are, if that is even.
    bool stay(std::span<std::uint32_t const> ranks, std::span<std::uint32_t const> items,
              std::vector<std::uint32_t>& rank_of) {
        loads_.assign(size_, 0);
        rank_of.resize(items.size());
        for (std::size_t at = 0; at < items.size(); ++at) {
            std::size_t const home = place_of(task_->home_ranks[items[at]], ranks);
            if (home == ranks.size()) {
                return false;
            }
            rank_of[at] = static_cast<std::uint32_t>(home);
            loads_[rank_of[at]] += task_->weights[items[at]];
        }
        return *std::max_element(loads_.begin(), loads_.end()) <= target_;
    }

    /// Splits items over the ranks of a node.
    ///
    /// @return  Whether no rank has more than the target.
    bool split(std::span<std::uint32_t const> items, std::vector<std::uint32_t>& rank_of) {
        weights_.clear();
        std::uint64_t load = 0;
        for (auto const item : items) {
            weights_.push_back(task_->weights[item]);
            load += task_->weights[item];
        }
        // To the target and no further: an optimum would take many times the steps.
        double const mean = static_cast<double>(load) / static_cast<double>(size_);
        double const tolerance = mean > 0 ? std::max(0.0, static_cast<double>(target_) / mean - 1) : 0.0;
        auto const& even = balance(balancing_, weights_, rank_count{size_}, linear_cost{},
                                   {.tolerance = tolerance, .effort = effort_});
        rank_of.resize(items.size());
        for (std::uint32_t rank = 0; rank < size_; ++rank) {
            for (item_id const at : even.plan[rank_id{rank}]) {
                rank_of[to_index(at)] = rank;
            }
        }
        return even.quality.max_load <= target_;
    }

    /// Gives each batch to the rank of its node that has most of it, the largest share first.
    ///
    /// @param batch_of  Of each item.
    /// @param rank_of   Of all items of the task; those of the node are filled in.
    /// @return          The load of the busiest rank.
    std::uint64_t seat(std::span<std::uint32_t const> ranks, std::span<std::uint32_t const> items,
                       std::span<std::uint32_t const> batch_of, std::span<std::uint32_t> rank_of) {
        shares_.assign(size_ * size_, 0);
        loads_.assign(size_, 0);
        for (std::size_t at = 0; at < items.size(); ++at) {
            std::size_t const home = place_of(task_->home_ranks[items[at]], ranks);
            std::uint64_t const weight = task_->weights[items[at]];
            // What weighs nothing stays at home whoever has its batch.
            if (home != ranks.size() && weight > 0) {
                shares_[batch_of[at] * size_ + home] += task_->bytes[items[at]];
            }
            loads_[batch_of[at]] += weight;
        }
        seats_.assign(size_, size_);
        taken_.assign(size_, 0);
        for (std::size_t turn = 0; turn < size_; ++turn) {
            std::size_t best_batch = size_;
            std::size_t best_rank = size_;
            std::uint64_t most = 0;
            for (std::size_t batch = 0; batch < size_; ++batch) {
                for (std::size_t rank = 0; rank < size_ && seats_[batch] == size_; ++rank) {
                    std::uint64_t const share = shares_[batch * size_ + rank];
                    if (taken_[rank] == 0 && (best_batch == size_ || share > most)) {
                        best_batch = batch;
                        best_rank = rank;
                        most = share;
                    }
                }
            }
            seats_[best_batch] = best_rank;
            taken_[best_rank] = 1;
        }
        for (std::size_t at = 0; at < items.size(); ++at) {
            std::uint32_t const item = items[at];
            bool const stays = task_->weights[item] == 0 && place_of(task_->home_ranks[item], ranks) != ranks.size();
            rank_of[item] = stays ? task_->home_ranks[item] : ranks[seats_[batch_of[at]]];
        }
        return *std::max_element(loads_.begin(), loads_.end());
    }

  private:
    /// Which of `ranks` it is, or their number if it is none. Mostly they follow one another.
    [[nodiscard]] static std::size_t place_of(std::uint32_t rank, std::span<std::uint32_t const> ranks) noexcept {
        std::size_t const guess = rank - std::min(rank, ranks.front());
        return guess < ranks.size() && ranks[guess] == rank
                   ? guess
                   : static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
    }

    phase_task const* task_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t target_ = 0;
    std::uint64_t effort_ = 0;
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint64_t> shares_;  ///< bytes of each batch that are with each rank of its node
    std::vector<std::uint64_t> loads_;
    std::vector<std::size_t> seats_;
    std::vector<std::uint8_t> taken_;
    workspace balancing_;
};

}  // namespace evenkeel::detail
