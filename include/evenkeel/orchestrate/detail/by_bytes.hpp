// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_planner.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/solve/options.hpp>

namespace evenkeel::detail {

/// Whether a sample runs in another node than its outputs are in.
///
/// @param task     What the LLM is planned from: home is where outputs are, and all but text alone is of a later class.
/// @param rank_of  Of all samples of the step.
[[nodiscard]] inline bool parts_samples(phase_task const& task, group_view const& view,
                                        std::span<std::uint32_t const> rank_of) noexcept {
    auto const nodes = view.nodes_of_ranks();
    bool const whole = task.items.empty();
    for (std::size_t at = 0; at < task.size(); ++at) {
        std::uint32_t const rank = rank_of[whole ? at : to_index(task.items[at])];
        if (rank != task.home_ranks[at] && task.classes[at] != 0 && nodes[rank] != nodes[task.home_ranks[at]]) {
            return true;
        }
    }
    return false;
}

/// Plans the LLM as if text alone were no other than samples with outputs, but for its bytes.
///
/// Text alone goes first as a rule, being free. Where it is long and rare, that upsets more than it levels, and what is
/// left to level goes with outputs; by bytes per token both are weighed against each other.
class by_bytes {
  public:
    /// Tries with ever less slack for the ranks of a node, then with more, until no sample is parted.
    ///
    /// A plan that was given stays, and nothing is tried where batches are made without regard to homes, or text alone
    /// is no longer than other samples: then it levels better than anything else.
    ///
    /// @param chosen  The plan so far, whose place the cheapest one takes that is as even.
    void operator()(phase_task& task, phase const& llm, group_view const& view, double tolerance,
                    phase_planner& planner, phase_ranks& chosen) {
        if (llm.given || llm.method != phase_method::stay || llm.cost.pads() || !is_text_alone_long(task)) {
            return;
        }
        auto const classes = task.classes;
        std::uint64_t const slack_tenths = task.slack_tenths;
        auto& quality = chosen.qualities.back();
        std::uint64_t const allowed = std::max(quality.max_load, goal_of(quality.lower_bound, tolerance));
        auto best = parted_by(task, classes, view, [&](std::size_t at) { return chosen.rank_of[task.item(at)]; });
        task.classes = {};
        for (std::uint64_t const tenths : {5U, 2U, 0U, 8U}) {
            if (!best.with_outputs) {
                break;
            }
            task.slack_tenths = tenths;
            planner(task, llm, view, tolerance, answer_);
            auto const found = parted_by(task, classes, view, [&](std::size_t at) { return answer_.rank_of[at]; });
            if (answer_.quality.max_load > allowed || found.bytes >= best.bytes) {
                continue;
            }
            best = found;
            for (std::size_t at = 0; at < task.size(); ++at) {
                chosen.rank_of[task.item(at)] = answer_.rank_of[at];
            }
            quality = answer_.quality;
            chosen.from_scratch = answer_.from_scratch;
        }
        task.classes = classes;
        task.slack_tenths = slack_tenths;
    }

  private:
    [[nodiscard]] static bool is_text_alone_long(phase_task const& task) noexcept {
        double alone = 0;
        double all = 0;
        std::size_t count = 0;
        for (std::size_t at = 0; at < task.size(); ++at) {
            auto const weight = static_cast<double>(task.weights[at]);
            all += weight;
            alone += task.classes[at] == 0 ? weight : 0;
            count += task.classes[at] == 0 ? 1U : 0U;
        }
        return alone * static_cast<double>(task.size()) > all * static_cast<double>(count);
    }

    /// Samples that run in another node than their outputs are in or, without outputs, than their text is in.
    struct parted {
        std::uint64_t bytes = 0;
        bool with_outputs = false;
    };

    template <class RankOf>
    [[nodiscard]] static parted parted_by(phase_task const& task, std::span<std::uint8_t const> classes,
                                          group_view const& view, RankOf rank_of) {
        auto const nodes = view.nodes_of_ranks();
        parted result;
        for (std::size_t at = 0; at < task.size(); ++at) {
            if (nodes[rank_of(at)] != nodes[task.home_ranks[at]]) {
                result.bytes += task.bytes[at];
                result.with_outputs = result.with_outputs || classes[at] != 0;
            }
        }
        return result;
    }

    phase_answer answer_;
};

}  // namespace evenkeel::detail
