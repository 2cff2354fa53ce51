// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/assembly.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
#include <evenkeel/orchestrate/detail/require_batch.hpp>
#include <evenkeel/orchestrate/detail/require_of_step.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel {

/// What keeps the loss what it was before samples moved: how many of its tokens each rank and micro-batch has.
///
/// A loss that is a sum over tokens divided by `total` is right as it is. Trainers that take the mean per micro-batch
/// and then the mean over micro-batches and ranks count the tokens of short batches too much; they multiply each
/// micro-batch's mean by its `weight`.
struct loss_counts {
    std::vector<std::uint64_t> labels;  ///< of list `rank * micro_batches + micro_batch`
    std::uint64_t total = 0;            ///< of the step
    std::size_t micro_batches = 1;

    /// @throws std::invalid_argument  if the LLM's group has no such rank, or the step no such micro-batch.
    [[nodiscard]] std::uint64_t of(rank_id rank, micro_batch_id micro_batch = {}) const {
        return count("loss_counts::of", rank, micro_batch);
    }

    /// Labels of the micro-batch * ranks * micro-batches / labels of the step; 0 where there are none.
    ///
    /// @throws std::invalid_argument  as `of`.
    [[nodiscard]] double weight(rank_id rank, micro_batch_id micro_batch = {}) const {
        auto const own = static_cast<double>(count("loss_counts::weight", rank, micro_batch));
        return total == 0 ? 0.0 : own * static_cast<double>(labels.size()) / static_cast<double>(total);
    }

    friend bool operator==(loss_counts const&, loss_counts const&) = default;

  private:
    [[nodiscard]] std::uint64_t count(std::string_view function, rank_id rank, micro_batch_id micro_batch) const {
        detail::require_batch(function, rank, micro_batch, labels.size(), micro_batches, "the LLM's group");
        return labels[to_index(rank) * micro_batches + to_index(micro_batch)];
    }
};

/// Counts the labels of a step: known before the first forward pass, the same on every rank.
///
///     // Of the example of `orchestrate`, where the ranks have 116 and 140 tokens of text:
///     auto const counts = evenkeel::loss_counts_of(samples, step);
///     counts.total;                            // 256: divide by this, or multiply
///     counts.weight(evenkeel::rank_id{0});     // a rank's mean by 2 * 116 / 256
///
/// @param samples  As for `orchestrate`,
/// @param step     which has made this of them.
/// @throws std::invalid_argument  if there is no step, or it is of another number of samples or world ranks.
/// @throws std::overflow_error    if labels do not fit into 64 bits.
[[nodiscard]] inline loss_counts loss_counts_of(step_samples const& samples, planned_step const& step) {
    detail::require_samples_of("loss_counts_of", samples, step);
    auto const& plan = step.llm().plan;
    loss_counts result{.labels = {}, .total = 0, .micro_batches = plan.micro_batches};
    result.labels.resize(plan.offsets.size() - 1);
    for (std::size_t list = 0; list < result.labels.size(); ++list) {
        for (std::size_t at = plan.offsets[list]; at < plan.offsets[list + 1]; ++at) {
            std::uint64_t const labels = detail::labels_of(samples, to_index(plan.items[at]));
            result.total = detail::sum_or_throw("loss_counts_of", result.total, labels, [&] {
                return "the labels up to those of sample " + std::to_string(to_index(plan.items[at]));
            });
            result.labels[list] += labels;
        }
    }
    return result;
}

}  // namespace evenkeel
