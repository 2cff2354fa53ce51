// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/phase_task.hpp>
#include <evenkeel/orchestrate/detail/polish.hpp>
#include <evenkeel/orchestrate/detail/whole_samples.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/place/relabel.hpp>
#include <evenkeel/solve/balance.hpp>
#include <evenkeel/solve/rebalance.hpp>

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
    void operator()(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                    phase_answer& answer) {
        locate(task, view);
        if (phase.method != phase_method::stay) {
            from_scratch(task, phase, view, tolerance, answer);
        } else {
            stay(task, phase, view, tolerance, answer);
        }
    }

  private:
    /// Where the items are, in the world of the phase's instances.
    void locate(phase_task const& task, group_view const& view) {
        where_.ranks = view.instances().size();
        where_.places.resize(task.size());
        for (std::size_t item = 0; item < task.size(); ++item) {
            where_.places[item].rank = world_rank{view.nearest(task.anchors[item], item)};
        }
    }

    void from_scratch(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
                      phase_answer& answer) {
        auto const& even = balance(balancing_, task.weights, view_ranks(view), linear_cost{},
                                   {.tolerance = tolerance, .effort = phase.effort});
        answer.quality = even.quality;
        if (phase.method == phase_method::relabel) {
            write_ranks(relabel(relabelling_, even.plan, where_, view.instances(), task.bytes).plan, answer.rank_of);
        } else {
            write_ranks(even.plan, answer.rank_of);
        }
        answer.from_scratch = true;
    }

    void stay(phase_task const& task, phase const& phase, group_view const& view, double tolerance,
              phase_answer& answer) {
        if (task.several_units) {
            whole_samples_(task, view, tolerance, phase.effort, where_);
        }
        take(even_out(task, phase, view, tolerance), answer);
        if (answer.from_scratch && tolerance > 0 && task.size() <= sparse * view.instances().size().value) {
            polish_from_home(task, phase, view, tolerance, answer);
        }
    }

    rebalanced const& even_out(phase_task const& task, phase const& phase, group_view const& view, double tolerance) {
        return rebalance(
            staying_, task.weights, where_, view.instances(), linear_cost{},
            {.tolerance = tolerance, .effort = phase.effort, .bytes = task.bytes, .classes = task.classes});
    }

    static void take(rebalanced const& kept, phase_answer& answer) {
        answer.quality = kept.quality;
        write_ranks(kept.plan, answer.rank_of);
        answer.from_scratch = kept.from_scratch;
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
            home_nodes_[item] = static_cast<std::uint32_t>(view.instances().node_of(where_.places[item].rank));
        }
        nodes_of_ranks_.resize(view.instances().size().value);
        for (std::size_t rank = 0; rank < nodes_of_ranks_.size(); ++rank) {
            nodes_of_ranks_[rank] = static_cast<std::uint32_t>(view.instances().nodes_of_ranks[rank]);
        }
        std::uint64_t splits = 0;
        if (__builtin_mul_overflow(std::max<std::uint64_t>(task.size(), 1024) * 16, phase.effort, &splits)) {
            splits = ~std::uint64_t{0};
        }
        for (double const slack : {3.0, 10.0, 30.0, 100.0}) {
            auto const& loose = even_out(task, phase, view, slack * tolerance);
            if (loose.from_scratch) {
                continue;
            }
            write_ranks(loose.plan, polished_);
            if (polish_(task.weights, task.bytes, home_nodes_, nodes_of_ranks_, target, splits, polished_)) {
                answer.quality.max_load = polish_.busiest();
                answer.rank_of = polished_;
                answer.from_scratch = false;
                return;
            }
        }
    }

    [[nodiscard]] static rank_count view_ranks(group_view const& view) noexcept {
        return {view.instances().size().value};
    }

    /// Up to so many items per rank, two ranks' items can be split in all ways.
    static constexpr std::size_t sparse = 13;

    layout where_;
    polisher polish_;
    std::vector<std::uint32_t> polished_;
    std::vector<std::uint32_t> home_nodes_;
    std::vector<std::uint32_t> nodes_of_ranks_;
    whole_samples whole_samples_;
    workspace balancing_;
    relabel_workspace relabelling_;
    rebalance_workspace staying_;
};

}  // namespace evenkeel::detail
