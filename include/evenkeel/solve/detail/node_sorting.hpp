// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/node_runs.hpp>
#include <evenkeel/solve/detail/short_sorting.hpp>
#include <evenkeel/solve/detail/sorted_items.hpp>

namespace evenkeel::detail {

/// Sorts the items of a batch node by node, each heaviest first, ties by position.
///
/// What there is to know of the items of a node stays in a near cache however large the batch, and whoever goes from
/// node to node finds it together.
class node_sorting {
  public:
    void reserve(std::size_t batch, std::size_t nodes) {
        sorting_.reserve(batch);
        weights_.reserve(batch);
        positions_.reserve(batch);
        ends_.reserve(nodes);
    }

    /// All that weighs something.
    ///
    /// @param batch    Their sum fits into 64 bits.
    /// @param present  How many weigh something.
    /// @param sorted   Its weights and positions are written.
    void operator()(std::span<std::uint64_t const> batch, node_runs const& homes, std::size_t nodes,
                    std::size_t present, sorted_items& sorted) {
        start(present, sorted);
        for (std::size_t node = 0; node < nodes; ++node) {
            auto const runs = homes.of(node);
            if (runs.size() == 1) {
                sort(batch.subspan(runs.front().first, runs.front().size), runs.front().first, {}, sorted);
                continue;
            }
            weights_.clear();
            positions_.clear();
            for (auto const [first, size] : runs) {
                auto const of_run = batch.subspan(first, size);
                weights_.insert(weights_.end(), of_run.begin(), of_run.end());
                std::size_t const before = positions_.size();
                positions_.resize(before + size);
                std::iota(positions_.begin() + static_cast<std::ptrdiff_t>(before), positions_.end(), first);
            }
            sort(weights_, 0, positions_, sorted);
        }
        finish(sorted);
    }

    /// Of these only what is of class 0, as it is.
    void of_class_0(std::span<std::uint64_t const> batch, std::span<std::uint8_t const> classes, node_runs const& homes,
                    std::size_t nodes, sorted_items& sorted) {
        start(static_cast<std::size_t>(std::ranges::count(classes, std::uint8_t{0})), sorted);
        for (std::size_t node = 0; node < nodes; ++node) {
            std::size_t most = 0;
            for (auto const run : homes.of(node)) {
                most += run.size;
            }
            weights_.resize(std::max(weights_.size(), most));
            positions_.resize(weights_.size());
            std::size_t count = 0;
            for (auto const [first, size] : homes.of(node)) {
                for (std::uint32_t item = first; item < first + size; ++item) {
                    // What is not taken is overwritten by the next one: which it is no processor foresees.
                    weights_[count] = batch[item];
                    positions_[count] = item;
                    count += classes[item] == 0 ? 1U : 0U;
                }
            }
            sort(std::span{weights_}.first(count), 0, std::span{positions_}.first(count), sorted);
        }
        finish(sorted);
    }

    /// Where the items of each node end.
    [[nodiscard]] std::span<std::size_t const> ends() const noexcept { return ends_; }

  private:
    /// @param most  How many may come: no more memory is made ready, as that takes time.
    void start(std::size_t most, sorted_items& sorted) {
        sorted.weights.resize(most);
        sorted.positions.resize(most);
        ends_.clear();
        end_ = 0;
    }

    void finish(sorted_items& sorted) {
        sorted.weights.resize(end_);
        sorted.positions.resize(end_);
    }

    /// Sorts the items of the next node behind those of the others.
    ///
    /// @param positions  In the batch; or, if there are none, items follow one another from `first` on.
    void sort(std::span<std::uint64_t const> batch, std::uint32_t first, std::span<std::uint32_t const> positions,
              sorted_items& sorted) {
        std::size_t const before = end_;
        if (!sort_short(batch, first, sorted)) {
            sort_items({}, batch, sorting_);  // names nobody in an error, as there is none: the sum is known to fit
            for (std::size_t item = 0; item < sorting_.size(); ++item, ++end_) {
                sorted.weights[end_] = sorting_.unit * sorting_.weights[item];
                sorted.positions[end_] = first + sorting_.positions[item];
            }
        }
        for (std::size_t item = before; item < end_ && !positions.empty(); ++item) {
            sorted.positions[item] = positions[sorted.positions[item]];
        }
        ends_.push_back(end_);
    }

    /// False if they are too many or too heavy.
    bool sort_short(std::span<std::uint64_t const> batch, std::uint32_t first, sorted_items& sorted) {
        if (batch.size() > short_sorting::most_items) {
            return false;
        }
        auto const common = short_sorting::summarize(batch);
        if (!short_sorting::fits(batch.size(), common.width)) {
            return false;
        }
        short_sorting::sort(batch, common, first, sorted.weights.data() + end_, sorted.positions.data() + end_);
        end_ += common.present;
        return true;
    }

    sorted_items sorting_;
    std::vector<std::uint64_t> weights_;    ///< of a node
    std::vector<std::uint32_t> positions_;  ///< of these in the batch
    std::vector<std::size_t> ends_;
    std::size_t end_ = 0;  ///< of the latest node
};

}  // namespace evenkeel::detail
