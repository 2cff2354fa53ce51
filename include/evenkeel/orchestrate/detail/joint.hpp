// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/detail/cargo_step.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/laden_exports.hpp>
#include <evenkeel/orchestrate/detail/output_anchors.hpp>
#include <evenkeel/orchestrate/detail/phase_planner.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/rank_assessor.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/detail/write_ranks.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/phase.hpp>

namespace evenkeel::detail {

/// Chooses the ranks of all phases together, so that what one phase has to move need not be moved again for the next.
///
/// Encoders first, that with most raw bytes before others (`laden_exports`): items leave home only as far as balance
/// demands. Then the LLM, from where most outputs of a sample are: whose inputs had to move is not fetched back. What
/// that upsets, text alone levels again, a thousand times cheaper; where it is scarce, whole samples (`cargo_step`).
class joint_choice {
  public:
    /// @param slots  How many micro-batches there are.
    void start(step_problem const& problem, std::span<group_view const> views, std::size_t slots,
               std::vector<phase_ranks>& chosen) {
        views_ = views;
        problem.order_encoders(order_);
        chosen.resize(problem.phases.size());
        std::size_t most = 0;
        for (auto const& amounts : problem.amounts.phases) {
            most = std::max(most, amounts.weights.size());
        }
        answer_.rank_of.reserve(most);
        leave_unladen_.reserve(most);
        for (std::size_t number = 0; number < chosen.size(); ++number) {
            chosen[number].qualities.clear();
            chosen[number].from_scratch = false;
            chosen[number].rank_of.reserve(most);  // it may come back as that of another phase
            chosen[number].rank_of.resize(problem.amounts.phases[number].weights.size());
            if (auto const& given = problem.phases[number].given) {
                write_ranks(*given, chosen[number].rank_of);
            }
        }
        anchors_.resize(problem.samples.size());
        if (slots > 1) {
            reserve(problem, most);
        }
    }

    /// Decides one micro-batch of the samples given, in ascending order.
    void operator()(step_problem const& problem, orchestrate_options const& options, std::span<item_id const> samples,
                    std::vector<phase_ranks>& chosen) {
        start_from_home(problem, samples);
        for (std::size_t const encoder : order_) {
            gather_units(problem, samples, encoder, encoder == order_.front());
            plan(problem, options, encoder, chosen[encoder]);
            if (encoder == order_.front() && samples.size() == problem.samples.size()) {
                leave_unladen_(problem, views_[encoder], encoder, chosen[encoder], [&](auto const& write_classes) {
                    gather_units(problem, samples, encoder, true);
                    write_classes(task_);
                    plan(problem, options, encoder, chosen[encoder]);
                });
            }
            tell(options, encoder);
            anchors_.follow(problem, views_[encoder], samples, encoder, chosen[encoder].rank_of);
        }
        gather_samples(problem, samples);
        bool const was_from_scratch = chosen.back().from_scratch;
        plan(problem, options, problem.encoders(), chosen.back());
        auto const plan_again = [&](auto const& for_each_text) {
            start_from_home(problem, samples);
            for_each_text([&](item_id sample, world_rank rank) { anchors_.start(sample, rank); });
            for (std::size_t const encoder : order_) {
                anchors_.follow(problem, views_[encoder], samples, encoder, chosen[encoder].rank_of);
            }
            gather_samples(problem, samples);
            chosen.back().from_scratch = was_from_scratch;  // the plan that is replaced no longer counts
            plan(problem, options, problem.encoders(), chosen.back());
        };
        level_by_cargo_(problem, views_, samples, task_, options.micro_batches, planner_, chosen, plan_again);
        tell(options, problem.encoders());
    }

  private:
    /// What micro-batches have differs from step to step, which must not show in the memory that they take.
    void reserve(step_problem const& problem, std::size_t items) {
        task_.reserve(items);
        for (std::size_t number = 0; number < problem.phases.size(); ++number) {
            auto const& amounts = problem.amounts.phases[number];
            planner_.reserve(problem.phases[number], amounts.weights.size(), amounts.several_units, views_[number]);
        }
    }

    static void tell(orchestrate_options const& options, std::size_t number) {
        if (options.planned) {
            options.planned(number);
        }
    }

    void start_from_home(step_problem const& problem, std::span<item_id const> samples) {
        if (samples.size() == problem.samples.size()) {
            problem.for_each_drawn(problem.encoders(), [&](world_rank home, std::size_t first, std::size_t last) {
                anchors_.start(first, last, home);
            });
            return;
        }
        for (item_id const sample : samples) {
            anchors_.start(sample, problem.home[sample].rank);
        }
    }

    /// @param first  Whether no outputs are placed yet, to which those of this encoder would have to travel.
    void gather_units(step_problem const& problem, std::span<item_id const> samples, std::size_t encoder, bool first) {
        auto const& amounts = problem.amounts.phases[encoder];
        auto const& offsets = problem.samples.inputs[encoder].units.offsets;
        bool const whole = samples.size() == problem.samples.size();
        task_.items.clear();
        if (!whole) {
            for (item_id const sample : samples) {
                for (std::size_t unit = offsets[to_index(sample)]; unit < offsets[to_index(sample) + 1]; ++unit) {
                    task_.items.push_back(to_id<item_id>(unit));
                }
            }
        }
        std::size_t const count = whole ? amounts.weights.size() : task_.items.size();
        auto const& view = views_[encoder];
        task_.home_ranks.resize(count);
        if (first && whole) {
            problem.for_each_drawn(encoder, [&](world_rank drawn_on, std::size_t begin, std::size_t end) {
                view.find_nearest(drawn_on, begin, std::span{task_.home_ranks}.subspan(begin, end - begin));
            });
        } else {
            std::uint64_t const ways = problem.ways(encoder);
            task_.some_bytes.resize(count);
            task_.some_classes.resize(count);
            auto const anchors = anchors_.all();
            auto const held_of = anchors_.all_held();
            auto const homes = std::span{task_.home_ranks};
            auto const bytes = std::span{task_.some_bytes};
            auto const classes = std::span{task_.some_classes};
            auto const owners = std::span{amounts.owners};
            auto const raw = amounts.bytes;
            auto const outputs = amounts.output_bytes;
            for (std::size_t at = 0; at < count; ++at) {
                std::size_t const unit = whole ? at : task_.item(at);
                std::size_t const owner = to_index(owners[unit]);
                bool const placed = held_of[owner] != 0;
                homes[at] = view.nearest(anchors[owner], at);
                bytes[at] = raw[unit] + (ways & -static_cast<std::uint64_t>(placed)) * outputs[unit];
                classes[at] = placed ? 1 : 0;
            }
        }
        if (first && !amounts.weights_are_bytes()) {
            task_.some_bytes.resize(count);
            for (std::size_t at = 0; at < count; ++at) {
                task_.some_bytes[at] = amounts.bytes[whole ? at : task_.item(at)];
            }
        }
        task_.take_weights(amounts, whole);
        task_.bytes = first && amounts.weights_are_bytes() ? task_.weights : std::span{std::as_const(task_.some_bytes)};
        task_.classes = first ? std::span<std::uint8_t const>{} : std::span<std::uint8_t const>{task_.some_classes};
        task_.limit_imports = first;
        task_.several_units = amounts.several_units;
        task_.starts.clear();
        if (task_.several_units) {
            list_starts(amounts.owners, task_);
        }
    }

    void gather_samples(step_problem const& problem, std::span<item_id const> samples) {
        auto const& amounts = problem.amounts;
        auto const& view = views_[problem.encoders()];
        bool const whole = samples.size() == problem.samples.size();
        task_.home_ranks.resize(samples.size());
        task_.some_classes.resize(samples.size());
        task_.several_units = false;
        task_.limit_imports = false;
        // A class might be stored anywhere, as far as a compiler knows: what it must not read anew stands here.
        auto const outputs_of = std::span{amounts.outputs};
        auto const anchors = anchors_.all();
        auto const held_of = anchors_.all_held();
        auto const homes = std::span{task_.home_ranks};
        auto const classes = std::span{task_.some_classes};
        for (std::size_t at = 0; at < samples.size(); ++at) {
            std::size_t const sample = to_index(samples[at]);
            homes[at] = view.nearest(anchors[sample], at);
            // Text alone is free cargo; after that, samples whose outputs are scattered anyway.
            std::uint64_t const outputs = outputs_of[sample];
            // In sums, as no processor foresees which it is.
            std::uint64_t const held = held_of[sample];
            bool const together = held >= outputs - held;
            classes[at] = static_cast<std::uint8_t>((outputs != 0 ? 1U : 0U) * (together ? 2U : 1U));
        }
        task_.items.clear();
        if (!whole) {
            task_.items.assign(samples.begin(), samples.end());
        }
        task_.take_weights(amounts.phases.back(), whole);
        task_.bytes =
            whole ? std::span<std::uint64_t const>{amounts.moving} : task_.copies_of(amounts.moving, task_.some_bytes);
        task_.classes = task_.some_classes;
    }

    void plan(step_problem const& problem, orchestrate_options const& options, std::size_t number,
              phase_ranks& chosen) {
        auto const& phase = problem.phases[number];
        if (phase.given) {
            // The ranks stand in `chosen` already; what is left to say is how even they are.
            in_phase(problem.phases, number, [&] { assess_(task_, phase, chosen.rank_of, answer_); });
        } else {
            in_phase(problem.phases, number, [&] {
                planner_(task_, phase, views_[number], tolerance_of(phase, options.micro_batches), answer_);
            });
            if (task_.size() == chosen.rank_of.size()) {
                chosen.rank_of.swap(answer_.rank_of);
            } else {
                for (std::size_t at = 0; at < task_.size(); ++at) {
                    chosen.rank_of[to_index(task_.items[at])] = answer_.rank_of[at];
                }
            }
        }
        chosen.qualities.push_back(answer_.quality);
        chosen.from_scratch = chosen.from_scratch || answer_.from_scratch;
    }

    std::span<group_view const> views_;  ///< of each phase
    std::vector<std::size_t> order_;     ///< of the encoders
    output_anchors anchors_;
    phase_task task_;
    phase_planner planner_;
    rank_assessor assess_;
    laden_exports leave_unladen_;
    cargo_step level_by_cargo_;
    phase_answer answer_;
};

}  // namespace evenkeel::detail
