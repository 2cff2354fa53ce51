// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/polish.hpp>
#include <evenkeel/orchestrate/detail/sparse_nodes.hpp>
#include <evenkeel/orchestrate/detail/whole_samples.hpp>
#include <evenkeel/orchestrate/detail/write_ranks.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/place/relabel.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/balance_mixed.hpp>
#include <evenkeel/solve/balance_padded.hpp>
#include <evenkeel/solve/rebalance.hpp>
#include <evenkeel/solve/rebalance_padded.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// Plans one phase after another by the method that each asks for; keeps its memory from one to the next.
class phase_planner {
  public:
    /// For what stays home in a phase, with up to so many items.
    void reserve(phase const& phase, std::size_t items, bool several_units, group_view const& view) {
        if (phase.method != phase_method::stay || phase.cost.pads() || phase.given) {
            return;
        }
        staying_.reserve(items, view.ranks(), view.nodes());
        if (several_units) {
            whole_samples_.reserve(items, view.nodes());
        }
    }

    void operator()(phase_task& task, phase const& phase, group_view const& view, double tolerance,
                    phase_answer& answer) {
        if (phase.method == phase_method::stay && !phase.cost.pads()) {
            stay(task, phase, view, tolerance, answer);
        } else if (phase.method == phase_method::stay && !phase.cost.packs()) {
            stay_padded(task, phase, view, tolerance, answer);
        } else {
            from_scratch(task, phase, view, tolerance, answer);
        }
    }

  private:
    balanced const& balance_anew(phase_task const& task, phase const& phase, rank_count ranks, double tolerance) {
        balance_options const options{.tolerance = tolerance, .effort = phase.effort};
        if (!phase.cost.pads()) {
            return balance(balancing_, task.weights, ranks, linear_cost{}, options);
        }
        if (!phase.cost.packs()) {
            return balance(balancing_, task.weights, ranks, padded_cost{}, options);
        }
        require_counts("balance", task.size(), ranks);
        auto& buffers = balancing_.buffers();
        buffers.weights.assign(task.weights.begin(), task.weights.end());
        buffers.mixed.padded.assign(task.padded.begin(), task.padded.end());
        solve_mixed(buffers, ranks, options);
        return buffers.result;
    }

    /// A search with more effort, or with a tolerance, takes other turns than a plain one, and now and then ends higher.
    /// Where it does not reach its goal, the plain one is made as well.
    balanced const& balance_to_goal(phase_task const& task, phase const& phase, rank_count ranks, double tolerance) {
        auto const& even = balance_anew(task, phase, ranks, tolerance);
        if (phase.cost.pads() || even.quality.max_load <= goal_of(even.quality.lower_bound, tolerance)) {
            return even;
        }
        auto const& plain = balance(plain_balancing_, task.weights, ranks, linear_cost{});
        return plain.quality.max_load < even.quality.max_load ? plain : even;
    }

    void from_scratch(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                      phase_answer& answer) {
        auto const& even = balance_to_goal(task, phase, {view.ranks()}, tolerance);
        answer.quality = even.quality;
        if (phase.method == phase_method::scratch) {
            write_ranks(even.plan, answer.rank_of);
        } else {
            locate(task, view);
            // What weighs nothing stays at home, so that its bytes are no reason to put a batch there.
            kept_bytes_.assign(task.bytes.begin(), task.bytes.end());
            for (std::size_t item = 0; item < task.size(); ++item) {
                kept_bytes_[item] = task.weights[item] > 0 ? kept_bytes_[item] : 0;
            }
            write_ranks(relabel(relabelling_, even.plan, where_, view.instances(), kept_bytes_).plan, answer.rank_of);
            for (std::size_t item = 0; item < task.size(); ++item) {
                answer.rank_of[item] = task.weights[item] > 0 ? answer.rank_of[item] : task.home_ranks[item];
            }
        }
        answer.from_scratch = true;
    }

    void locate(phase_task const& task, group_view const& view) {
        where_.ranks = view.instances().size();
        where_.places.resize(task.size());
        for (std::size_t item = 0; item < task.size(); ++item) {
            where_.places[item].rank = world_rank{task.home_ranks[item]};
        }
    }

    void stay_padded(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                     phase_answer& answer) {
        locate(task, view);
        auto const& kept =
            rebalance(padding_, task.weights, where_, view.instances(), padded_cost{},
                      {.tolerance = tolerance, .effort = phase.effort, .bytes = task.bytes, .bounds = false});
        answer.quality = kept.quality;
        write_ranks(kept.plan, answer.rank_of);
        answer.from_scratch = kept.from_scratch;
    }

    void stay(phase_task& task, phase const& phase, group_view const& view, double tolerance, phase_answer& answer) {
        if (task.several_units) {
            whole_samples_(task, view, tolerance, phase.effort);
        }
        // What comes back in exchange has to hold as much in later steps.
        staying_.rank_of_item.reserve(answer.rank_of.capacity());
        even_out(task, phase, view, tolerance);
        // Nodes have as much as each other by now. If some cannot even out their ranks, single units have left.
        bool const parted = staying_.result.from_scratch || staying_.result.between_nodes > 0;
        if (task.several_units && whole_samples_.between_nodes() > 0 && parted &&
            keep_together(task, phase, view, tolerance, answer)) {
            return;
        }
        auto const& kept = staying_.result;
        answer.quality = kept.quality;
        answer.rank_of.reserve(staying_.rank_of_item.capacity());
        answer.rank_of.swap(staying_.rank_of_item);
        answer.from_scratch = kept.from_scratch;
        if (tolerance > 0 && is_sparse(task.weights, view.ranks())) {
            std::uint64_t const least = kept.between_nodes_bound.value_or(0);
            bool const is_good = !kept.from_scratch && kept.between_nodes <= least + least / 20;
            if (!is_good && !by_nodes(task, phase, view, tolerance, answer) && kept.from_scratch) {
                polish_from_home(task, phase, view, tolerance, answer);
            }
        } else if (task.several_units && tolerance > 0 && kept.between_nodes > whole_samples_.between_nodes() / 32) {
            // Whole samples have moved, so that units need not leave their outputs behind.
            by_nodes(task, phase, view, tolerance, answer);
        }
    }

    /// Evens out the ranks of each node from scratch, which is more often possible, without parting a sample's units.
    bool keep_together(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                       phase_answer& answer) {
        std::uint64_t const bound = staying_.result.quality.lower_bound;
        if (!nodes_first_(task, view, goal_of(bound, tolerance), phase.effort, parcel_of::sample)) {
            return false;
        }
        std::uint64_t const total = std::accumulate(task.weights.begin(), task.weights.end(), std::uint64_t{0});
        answer.quality = {
            .max_load = nodes_first_.busiest(), .total_load = total, .lower_bound = bound, .ranks = {view.ranks()}};
        answer.rank_of.assign(nodes_first_.rank_of().begin(), nodes_first_.rank_of().end());
        answer.from_scratch = false;
        return true;
    }

    /// Evens out node by node, if that moves fewer bytes.
    bool by_nodes(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                  phase_answer& answer) {
        std::uint64_t const target = goal_of(answer.quality.lower_bound, tolerance);
        if (!nodes_first_(task, view, target, phase.effort) ||
            nodes_first_.between_nodes() >= staying_.result.between_nodes) {
            return false;
        }
        answer.quality.max_load = nodes_first_.busiest();
        answer.rank_of.assign(nodes_first_.rank_of().begin(), nodes_first_.rank_of().end());
        answer.from_scratch = false;
        return true;
    }

    void even_out(phase_task const& task, phase const& phase, group_view const& view, double tolerance) {
        bool const sparse = is_sparse(task.weights, view.ranks());
        rebalance(staying_, {.weights = task.weights,
                             .bytes = task.bytes,
                             .home_ranks = task.home_ranks,
                             .home_nodes = {},
                             .classes = task.classes,
                             .nodes_of_ranks = view.nodes_of_ranks(),
                             .nodes = view.nodes(),
                             .tolerance = tolerance,
                             .effort = phase.effort,
                             .slack_tenths = task.slack_tenths,
                             // Of the phase that moves most bytes, which comes first. Few items find no other room.
                             .limit_imports = task.limit_imports && !sparse,
                             .bounds = sparse,
                             .plan = false});
    }

    /// A plan from scratch moves nearly everything. What stays home at a larger tolerance is often a few exchanges away
    /// from the one asked for; that is tried first.
    void polish_from_home(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                          phase_answer& answer) {
        auto const target = std::max(
            answer.quality.max_load,
            answer.quality.lower_bound +
                static_cast<std::uint64_t>(static_cast<double>(answer.quality.lower_bound) * std::min(tolerance, 1.0)));
        home_nodes_.resize(task.size());
        for (std::size_t item = 0; item < task.size(); ++item) {
            home_nodes_[item] = view.nodes_of_ranks()[task.home_ranks[item]];
        }
        std::uint64_t splits = 0;
        if (__builtin_mul_overflow(std::max<std::uint64_t>(task.size(), 1024) * 16, phase.effort, &splits)) {
            splits = ~std::uint64_t{0};
        }
        for (double const slack : {3.0, 10.0, 30.0, 100.0}) {
            even_out(task, phase, view, slack * tolerance);
            if (staying_.result.from_scratch) {
                continue;
            }
            auto& polished = staying_.rank_of_item;
            if (polish_(task.weights, task.bytes, home_nodes_, view.nodes_of_ranks(), target, splits, polished)) {
                answer.quality.max_load = polish_.busiest();
                answer.rank_of.assign(polished.begin(), polished.end());
                answer.from_scratch = false;
                return;
            }
        }
    }

    layout where_;
    sparse_nodes nodes_first_;
    polisher polish_;
    std::vector<std::uint32_t> home_nodes_;
    whole_samples whole_samples_;
    workspace balancing_;
    workspace plain_balancing_;
    relabel_workspace relabelling_;
    std::vector<std::uint64_t> kept_bytes_;
    padded_rebalance_workspace padding_;
    stay_room staying_;
};

}  // namespace evenkeel::detail
