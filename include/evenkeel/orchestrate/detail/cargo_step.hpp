// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/by_bytes.hpp>
#include <evenkeel/orchestrate/detail/cargo_hold.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/phase_planner.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/scarce_cargo.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/solve/options.hpp>

namespace evenkeel::detail {

/// More tries at a step whose LLM had to part samples from their outputs, of which the cheapest is kept: the LLM chooses
/// by bytes (`by_bytes`), or whole samples move first (`scarce_cargo`).
class cargo_step {
  public:
    /// @param task      What the LLM was planned from.
    /// @param plan_llm  Plans the LLM anew, from where outputs are by then. It is given what visits each long text that
    ///                  has to move, and the rank to start from.
    template <class PlanLlm>
    void operator()(step_problem const& problem, std::span<group_view const> views, std::span<item_id const> samples,
                    phase_task& task, micro_batch_count micro_batches, phase_planner& planner,
                    std::vector<phase_ranks>& chosen, PlanLlm plan_llm) {
        if (!parts_samples(task, views.back(), chosen.back().rank_of)) {
            return;
        }
        in_phase(problem.phases, problem.encoders(), [&] {
            double const tolerance = tolerance_of(problem.phases.back(), micro_batches);
            plan_by_bytes_(task, problem.phases.back(), views.back(), tolerance, planner, chosen.back());
        });
        if (!cargo_hold::is_possible(problem, views)) {
            return;
        }
        allowed_.resize(chosen.size());
        for (std::size_t number = 0; number < chosen.size(); ++number) {
            auto const& quality = chosen[number].qualities.back();
            auto const goal = goal_of(quality.lower_bound, tolerance_of(problem.phases[number], micro_batches));
            allowed_[number] = std::max(quality.max_load, goal);
        }
        hold_.load(problem, views, samples, chosen, task.home_ranks, allowed_);
        exchange_(hold_);
        if (exchange_.moved().empty()) {
            return;
        }
        std::uint64_t const before = between_nodes(problem, views, samples, chosen);
        remember(chosen);
        for (std::size_t encoder = 0; encoder < problem.encoders(); ++encoder) {
            auto& ranks = chosen[encoder];
            move_units(problem, views[encoder], samples, encoder, ranks);
            ranks.qualities.back().max_load = *std::ranges::max_element(loads_);
            if (ranks.qualities.back().max_load > allowed_[encoder]) {
                double const tolerance = tolerance_of(problem.phases[encoder], micro_batches);
                plan_anew(problem, views[encoder], samples, encoder, tolerance, planner, ranks);
            }
        }
        chosen.back().qualities.pop_back();
        plan_llm([&](auto const& visit) {
            for (auto const at : exchange_.moved()) {
                if (problem.amounts.outputs[to_index(samples[at])] == 0) {
                    auto const ranks = views.back().on_node(hold_.node_of(at));
                    visit(samples[at], views.back().leader(ranks[at % ranks.size()]));
                }
            }
        });
        if (!is_even(chosen) || between_nodes(problem, views, samples, chosen) >= before) {
            go_back(chosen);
        }
    }

  private:
    void remember(std::span<phase_ranks const> chosen) {
        before_.resize(chosen.size());
        for (std::size_t number = 0; number < chosen.size(); ++number) {
            before_[number].rank_of.assign(chosen[number].rank_of.begin(), chosen[number].rank_of.end());
            before_[number].qualities.assign(1, chosen[number].qualities.back());
            before_[number].from_scratch = chosen[number].from_scratch;
        }
    }

    void go_back(std::span<phase_ranks> chosen) const {
        for (std::size_t number = 0; number < chosen.size(); ++number) {
            chosen[number].rank_of.assign(before_[number].rank_of.begin(), before_[number].rank_of.end());
            chosen[number].qualities.back() = before_[number].qualities.back();
            chosen[number].from_scratch = before_[number].from_scratch;
        }
    }

    [[nodiscard]] bool is_even(std::span<phase_ranks const> chosen) const noexcept {
        for (std::size_t number = 0; number < chosen.size(); ++number) {
            if (chosen[number].qualities.back().max_load > allowed_[number]) {
                return false;
            }
        }
        return true;
    }

    /// Bytes of all movements, forward and backward.
    [[nodiscard]] static std::uint64_t between_nodes(step_problem const& problem, std::span<group_view const> views,
                                                     std::span<item_id const> samples,
                                                     std::span<phase_ranks const> chosen) {
        std::uint64_t bytes = 0;
        auto const node_of = [&](std::size_t number, std::size_t item) {
            return problem.cluster.node_of(views[number].leader(chosen[number].rank_of[item]));
        };
        for (item_id const id : samples) {
            std::size_t const sample = to_index(id);
            node_id const home = problem.cluster.node_of(problem.home.places[sample].rank);
            node_id const llm = node_of(problem.encoders(), sample);
            bytes += llm != home ? problem.amounts.phases.back().bytes[sample] : 0;
            for (std::size_t encoder = 0; encoder < problem.encoders(); ++encoder) {
                auto const& amounts = problem.amounts.phases[encoder];
                auto const& offsets = problem.samples.inputs[encoder].units.offsets;
                for (std::size_t unit = offsets[sample]; unit < offsets[sample + 1]; ++unit) {
                    node_id const there = node_of(encoder, unit);
                    bytes += there != home ? amounts.bytes[unit] : 0;
                    bytes += there != llm ? problem.ways(encoder) * amounts.output_bytes[unit] : 0;
                }
            }
        }
        return bytes;
    }

    /// Seats the units of samples that have moved, each on the lightest rank of its node; `loads_` then are the ranks'.
    void move_units(step_problem const& problem, group_view const& view, std::span<item_id const> samples,
                    std::size_t encoder, phase_ranks& chosen) {
        auto const& weights = problem.amounts.phases[encoder].weights;
        auto const& offsets = problem.samples.inputs[encoder].units.offsets;
        auto const for_units = [&](item_id sample, auto const& visit) {
            for (std::size_t unit = offsets[to_index(sample)]; unit < offsets[to_index(sample) + 1]; ++unit) {
                visit(unit);
            }
        };
        loads_.assign(view.ranks(), 0);
        for (item_id const sample : samples) {
            for_units(sample, [&](std::size_t unit) { loads_[chosen.rank_of[unit]] += weights[unit]; });
        }
        for (auto const at : exchange_.moved()) {
            for_units(samples[at], [&](std::size_t unit) { loads_[chosen.rank_of[unit]] -= weights[unit]; });
        }
        for (auto const at : exchange_.moved()) {
            for_units(samples[at], [&](std::size_t unit) {
                auto const ranks = view.on_node(hold_.node_of(at));
                std::uint32_t const rank = *std::ranges::min_element(
                    ranks, [&](std::uint32_t a, std::uint32_t b) { return loads_[a] < loads_[b]; });
                chosen.rank_of[unit] = rank;
                loads_[rank] += weights[unit];
            });
        }
    }

    /// Evens out the ranks of each node again.
    void plan_anew(step_problem const& problem, group_view const& view, std::span<item_id const> samples,
                   std::size_t encoder, double tolerance, phase_planner& planner, phase_ranks& chosen) {
        auto const& amounts = problem.amounts.phases[encoder];
        auto const& offsets = problem.samples.inputs[encoder].units.offsets;
        again_.items.clear();
        again_.home_ranks.clear();
        again_.some_weights.clear();
        again_.some_bytes.clear();
        again_.starts.clear();
        again_.limit_imports = true;
        again_.several_units = amounts.several_units;
        for (item_id const sample : samples) {
            std::size_t const first = offsets[to_index(sample)];
            std::size_t const last = offsets[to_index(sample) + 1];
            if (again_.several_units && first < last) {
                again_.starts.push_back(static_cast<std::uint32_t>(again_.items.size()));
            }
            for (std::size_t unit = first; unit < last; ++unit) {
                again_.items.push_back(to_id<item_id>(unit));
                again_.home_ranks.push_back(chosen.rank_of[unit]);
                again_.some_weights.push_back(amounts.weights[unit]);
                again_.some_bytes.push_back(amounts.bytes[unit] + problem.ways(encoder) * amounts.output_bytes[unit]);
            }
        }
        again_.weights = again_.some_weights;
        again_.bytes = again_.some_bytes;
        in_phase(problem.phases, encoder, [&] { planner(again_, problem.phases[encoder], view, tolerance, answer_); });
        for (std::size_t at = 0; at < again_.size(); ++at) {
            chosen.rank_of[to_index(again_.items[at])] = answer_.rank_of[at];
        }
        chosen.qualities.back() = answer_.quality;
        chosen.from_scratch = chosen.from_scratch || answer_.from_scratch;
    }

    by_bytes plan_by_bytes_;
    cargo_hold hold_;
    scarce_cargo exchange_;
    std::vector<std::uint64_t> allowed_;  ///< of each phase: what no rank may exceed
    std::vector<std::uint64_t> loads_;    ///< of the ranks of an encoder
    std::vector<phase_ranks> before_;
    phase_task again_;
    phase_answer answer_;
};

}  // namespace evenkeel::detail
