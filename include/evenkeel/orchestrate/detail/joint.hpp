// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_planner.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>

namespace evenkeel::detail {

/// All that decides a step.
struct step_problem {
    step_samples const& samples;
    std::span<phase const> phases;
    topology const& cluster;
    step_amounts const& amounts;
    layout const& home;

    [[nodiscard]] std::size_t encoders() const noexcept { return phases.size() - 1; }

    /// How often the outputs of an encoder travel: forward, and their gradients back.
    [[nodiscard]] std::uint64_t ways(std::size_t encoder) const noexcept { return phases[encoder].trained ? 2 : 1; }
};

/// What has been decided of one phase: the rank of each item, and per micro-batch how even that is.
struct phase_ranks {
    std::vector<std::uint32_t> rank_of;
    std::vector<quality> qualities;
    std::uint64_t one_batch_bound = 0;
    bool from_scratch = false;
};

/// Chooses the ranks of all phases together, so that what one phase has to move need not be moved again for the next.
///
/// Encoders first, the one with most raw bytes before the others: items leave home only as far as balance demands. Then
/// the LLM, from where most of a sample's outputs are: a sample whose inputs had to move is not fetched back. What that
/// upsets, samples of text alone level again, which are a thousand times cheaper to move.
class joint_choice {
  public:
    joint_choice(step_problem const& problem, orchestrate_options const& options, std::vector<phase_ranks>& chosen)
        : problem_{problem}, options_{options}, chosen_{chosen} {
        order_.resize(problem.encoders());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
            auto const bytes_a = problem.amounts.phases[a].total_bytes;
            auto const bytes_b = problem.amounts.phases[b].total_bytes;
            return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
        });
        for (std::size_t number = 0; number < chosen.size(); ++number) {
            chosen[number].rank_of.resize(problem.amounts.phases[number].weights.size());
            if (auto const& given = problem.phases[number].given) {
                write_ranks(*given, chosen[number].rank_of);
            }
            views_.emplace_back(problem.phases[number].group, problem.cluster);
        }
        anchors_.resize(problem.samples.size());
        held_.resize(problem.samples.size());
    }

    /// Decides one micro-batch of the samples given, in ascending order.
    void operator()(std::span<item_id const> samples) {
        for (item_id const sample : samples) {
            anchors_[to_index(sample)] = problem_.home[sample].rank;
            held_[to_index(sample)] = 0;
        }
        for (std::size_t const encoder : order_) {
            gather_units(samples, encoder);
            decide(encoder);
            follow(samples, encoder);
        }
        gather_samples(samples);
        decide(problem_.encoders());
    }

  private:
    void gather_units(std::span<item_id const> samples, std::size_t encoder) {
        task_.clear();
        items_.clear();
        auto const& amounts = problem_.amounts.phases[encoder];
        auto const& units = problem_.samples.inputs[encoder].units;
        for (item_id const sample : samples) {
            // Other outputs of the sample are placed already; this one would have to travel to them.
            bool const placed = held_[to_index(sample)] != 0;
            for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
                std::uint64_t const outputs = placed ? problem_.ways(encoder) * amounts.output_bytes[unit] : 0;
                task_.push(amounts.weights[unit],
                           checked_add(amounts.bytes[unit], outputs, "orchestrate: the bytes of a unit"),
                           anchors_[to_index(sample)], placed ? 1 : 0, static_cast<std::uint32_t>(sample));
                items_.push_back(to_id<item_id>(unit));
            }
        }
    }

    void gather_samples(std::span<item_id const> samples) {
        task_.clear();
        items_.clear();
        auto const& amounts = problem_.amounts.phases.back();
        for (item_id const sample : samples) {
            std::size_t const position = to_index(sample);
            std::uint64_t outputs = 0;
            std::uint64_t moving = amounts.bytes[position];
            for (std::size_t encoder = 0; encoder < problem_.encoders(); ++encoder) {
                std::uint64_t const bytes = output_bytes_of(sample, encoder);
                outputs = checked_add(outputs, bytes, "orchestrate: the bytes of a sample");
                moving = checked_add(moving, problem_.ways(encoder) * bytes, "orchestrate: the bytes of a sample");
            }
            // Text alone is free cargo; after that, samples whose outputs are scattered anyway.
            std::uint8_t const item_class = outputs == 0 ? 0 : held_[position] < outputs - held_[position] ? 1 : 2;
            task_.push(amounts.weights[position], moving, anchors_[position], item_class,
                       static_cast<std::uint32_t>(sample));
            items_.push_back(sample);
        }
    }

    [[nodiscard]] std::uint64_t output_bytes_of(item_id sample, std::size_t encoder) const noexcept {
        auto const& units = problem_.samples.inputs[encoder].units;
        auto const& bytes = problem_.amounts.phases[encoder].output_bytes;
        std::uint64_t sum = 0;
        for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
            sum += bytes[unit];
        }
        return sum;
    }

    void decide(std::size_t number) {
        auto& chosen = chosen_[number];
        if (problem_.phases[number].given) {
            use_given(number);
        } else {
            planner_(task_, problem_.phases[number], views_[number],
                     tolerance_of(problem_.phases[number], options_.micro_batches), answer_);
            for (std::size_t item = 0; item < items_.size(); ++item) {
                chosen.rank_of[to_index(items_[item])] = answer_.rank_of[item];
            }
        }
        chosen.qualities.push_back(answer_.quality);
        chosen.from_scratch = chosen.from_scratch || answer_.from_scratch;
        if (options_.planned) {
            options_.planned(number);
        }
    }

    /// The ranks of a given plan stand in `chosen` already; what is left to say is how even they are.
    void use_given(std::size_t number) {
        rank_count const ranks = problem_.phases[number].group.ranks();
        std::vector<std::uint64_t> loads(ranks.value);
        std::uint64_t total = 0;
        for (std::size_t item = 0; item < items_.size(); ++item) {
            total = checked_add(total, task_.weights[item], "orchestrate: the total load");
            loads[chosen_[number].rank_of[to_index(items_[item])]] += task_.weights[item];
        }
        answer_.quality = {.max_load = *std::ranges::max_element(loads),
                           .total_load = total,
                           .lower_bound = lower_bound(task_.weights, ranks),
                           .ranks = ranks};
        answer_.from_scratch = false;
    }

    /// Moves the anchor of each sample to the rank that has most of its outputs by now.
    void follow(std::span<item_id const> samples, std::size_t encoder) {
        auto const& units = problem_.samples.inputs[encoder].units;
        auto const& bytes = problem_.amounts.phases[encoder].output_bytes;
        auto const& group = problem_.phases[encoder].group;
        auto const& rank_of = chosen_[encoder].rank_of;
        for (item_id const sample : samples) {
            std::size_t const first = units.first(sample);
            shares_.clear();
            for (std::size_t unit = first; unit < first + units.count(sample); ++unit) {
                shares_.emplace_back(rank_of[unit], bytes[unit]);
            }
            if (shares_.size() > 1) {
                std::ranges::sort(shares_);
            }
            for (std::size_t share = 0; share < shares_.size();) {
                std::uint32_t const rank = shares_[share].first;
                std::uint64_t together = 0;
                for (; share < shares_.size() && shares_[share].first == rank; ++share) {
                    together += shares_[share].second;
                }
                if (together > held_[to_index(sample)]) {
                    held_[to_index(sample)] = together;
                    anchors_[to_index(sample)] = group.leader(to_id<rank_id>(rank));
                }
            }
        }
    }

    step_problem const& problem_;
    orchestrate_options const& options_;
    std::vector<phase_ranks>& chosen_;
    std::vector<std::size_t> order_;   ///< of the encoders
    std::vector<group_view> views_;    ///< of each phase
    std::vector<world_rank> anchors_;  ///< of each sample: where most of its outputs are, or where it was drawn
    std::vector<std::uint64_t> held_;  ///< of each sample: bytes of its outputs that are there
    std::vector<std::pair<std::uint32_t, std::uint64_t>> shares_;  ///< of a sample: rank and bytes of each unit
    phase_task task_;
    std::vector<item_id> items_;  ///< of the task
    phase_planner planner_;
    phase_answer answer_;
};

}  // namespace evenkeel::detail
