// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/orchestrate/detail/bound_space.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/polish.hpp>
#include <evenkeel/orchestrate/detail/whole_samples.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/place/relabel.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/balance_mixed.hpp>
#include <evenkeel/solve/balance_padded.hpp>
#include <evenkeel/solve/rebalance.hpp>
#include <evenkeel/solve/rebalance_padded.hpp>
#include <evenkeel/solve/workspace.hpp>

namespace evenkeel::detail {

/// The rank of each item of a plan.
inline void write_ranks(plan const& plan, std::vector<std::uint32_t>& rank_of) {
    rank_of.resize(plan.items.size());
    for (std::size_t rank = 0; rank < plan.ranks().value; ++rank) {
        for (item_id const item : plan[to_id<rank_id>(rank)]) {
            rank_of[to_index(item)] = static_cast<std::uint32_t>(rank);
        }
    }
}

/// Plans one phase after another by the method that each asks for; keeps its memory from one to the next.
class phase_planner {
  public:
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

    /// How even ranks are that were chosen elsewhere.
    ///
    /// @param rank_of  Of all items of the phase.
    void assess(phase_task const& task, phase const& phase, std::span<std::uint32_t const> rank_of,
                phase_answer& answer) {
        rank_count const ranks = phase.group.ranks();
        loads_.assign(ranks.value, {});
        std::uint64_t total = 0;
        for (std::size_t at = 0; at < task.size(); ++at) {
            auto& load = loads_[rank_of[task.item(at)]];
            std::uint64_t const padded = task.padded.empty() ? 0 : task.padded[at];
            // Sums of what is not padded were checked when the batch was read.
            total = checked_add(total, task.weights[at], "orchestrate: the total load");
            load.packed += task.weights[at] - padded;
            load.longest = std::max(load.longest, padded);
            load.count += task.weights[at] > 0 ? 1U : 0U;
        }
        answer.quality = {.lower_bound = bound_(task.weights, ranks), .ranks = ranks};
        for (auto const& load : loads_) {
            constexpr auto what = "orchestrate: the padded load of a rank";
            std::uint64_t const sum = checked_add(load.packed, checked_multiply(load.count, load.longest, what), what);
            answer.quality.max_load = std::max(answer.quality.max_load, sum);
            answer.quality.total_load = checked_add(answer.quality.total_load, sum, "orchestrate: the total load");
        }
        answer.from_scratch = false;
    }

  private:
    /// What a rank has of a phase that pads.
    struct padded_rank {
        std::uint64_t packed = 0;
        std::uint64_t longest = 0;
        std::uint64_t count = 0;
    };

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

    void from_scratch(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                      phase_answer& answer) {
        auto const& even = balance_anew(task, phase, {view.ranks()}, tolerance);
        answer.quality = even.quality;
        if (phase.method == phase_method::scratch) {
            write_ranks(even.plan, answer.rank_of);
        } else {
            locate(task, view);
            write_ranks(relabel(relabelling_, even.plan, where_, view.instances(), task.bytes).plan, answer.rank_of);
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
        even_out(task, phase, view, tolerance);
        answer.quality = staying_.result.quality;
        answer.rank_of.assign(staying_.rank_of_item.begin(), staying_.rank_of_item.end());
        answer.from_scratch = staying_.result.from_scratch;
        if (answer.from_scratch && tolerance > 0 && task.size() <= sparse * view.ranks()) {
            polish_from_home(task, phase, view, tolerance, answer);
        }
    }

    void even_out(phase_task const& task, phase const& phase, group_view const& view, double tolerance) {
        rebalance(staying_, {.weights = task.weights,
                             .bytes = task.bytes,
                             .home_ranks = task.home_ranks,
                             .home_nodes = {},
                             .classes = task.classes,
                             .nodes_of_ranks = view.nodes_of_ranks(),
                             .nodes = view.nodes(),
                             .tolerance = tolerance,
                             .effort = phase.effort,
                             .bounds = false});
    }

    /// A plan from scratch moves nearly everything. What stays home at a larger tolerance is often a few exchanges away from
    /// the one asked for; that is tried first.
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

    /// Up to so many items per rank, two ranks' items can be split in all ways.
    static constexpr std::size_t sparse = 13;

    layout where_;
    polisher polish_;
    std::vector<std::uint32_t> home_nodes_;
    std::vector<padded_rank> loads_;
    bound_space bound_;
    whole_samples whole_samples_;
    workspace balancing_;
    relabel_workspace relabelling_;
    padded_rebalance_workspace padding_;
    stay_room staying_;
};

}  // namespace evenkeel::detail
