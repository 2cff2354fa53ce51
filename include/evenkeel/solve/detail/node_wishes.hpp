// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/solve/detail/stay_task.hpp>
#include <evenkeel/solve/detail/step_budget.hpp>
#include <evenkeel/solve/detail/wish_problem.hpp>
#include <evenkeel/solve/detail/wish_search.hpp>

namespace evenkeel::detail {

/// Lets each node whose ranks break a limit or exceed a target exchange bundles between its own ranks.
class node_wishes {
  public:
    void reserve(std::size_t bundles, std::size_t ranks, std::size_t nodes) {
        part_.reserve(bundles, ranks);
        offsets_.reserve(nodes + 1);
        by_node_.reserve(bundles);
        local_.reserve(bundles);
    }

    /// @param held    What each rank has; not kept up.
    /// @param effort  Steps per bundle.
    void operator()(wish_problem const& problem, node_ranks const& ranks, std::span<std::uint32_t const> node_of_rank,
                    std::uint64_t target, std::span<holding const> held, wish_search& searching, std::uint64_t effort,
                    std::span<std::uint32_t> rank_of) {
        list_by_node(ranks.nodes(), node_of_rank, rank_of);
        for (std::size_t node = 0; node < ranks.nodes(); ++node) {
            bool const fine = std::all_of(ranks[node].begin(), ranks[node].end(), [&](std::uint32_t rank) {
                return problem.limits.violation(held[rank]) == 0 && held[rank].load <= problem.capacity(rank, target);
            });
            if (fine) {
                continue;
            }
            auto const own = std::span{by_node_}.subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
            cut_out(problem, ranks[node], own);
            local_.resize(own.size());
            for (std::size_t place = 0; place < own.size(); ++place) {
                local_[place] = ranks.local[rank_of[own[place]]];
            }
            std::uint64_t steps = 0;
            if (__builtin_mul_overflow(own.size() + 64, effort, &steps)) {
                steps = rank_limits::none;
            }
            searching(part_, target, local_, step_budget{steps});
            for (std::size_t place = 0; place < own.size(); ++place) {
                rank_of[own[place]] = ranks[node][local_[place]];
            }
        }
    }

  private:
    void list_by_node(std::size_t nodes, std::span<std::uint32_t const> node_of_rank,
                      std::span<std::uint32_t const> rank_of) {
        offsets_.assign(nodes + 1, 0);
        for (auto const rank : rank_of) {
            ++offsets_[node_of_rank[rank] + 1];
        }
        std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
        by_node_.resize(rank_of.size());
        for (std::uint32_t bundle = 0; bundle < rank_of.size(); ++bundle) {
            by_node_[offsets_[node_of_rank[rank_of[bundle]]]++] = bundle;
        }
        for (std::size_t node = nodes; node > 0; --node) {
            offsets_[node] = offsets_[node - 1];
        }
        offsets_[0] = 0;
    }

    /// The node as a problem of its own, in the times of the whole.
    void cut_out(wish_problem const& problem, std::span<std::uint32_t const> ranks,
                 std::span<std::uint32_t const> bundles) {
        part_.clear(ranks.size());
        part_.limits = problem.limits;
        part_.fastest = problem.fastest;
        part_.grain = problem.grain;
        part_.single = problem.single;
        std::uint64_t idle = 0;
        for (std::size_t local = 0; local < ranks.size(); ++local) {
            part_.base[local] = problem.base[ranks[local]];
            idle += part_.base[local].working == 0 ? 1U : 0U;
            if (!problem.speeds.empty()) {
                part_.speeds.push_back(problem.speeds[ranks[local]]);
            }
        }
        std::uint64_t working = 0;
        for (auto const bundle : bundles) {
            part_.weights.push_back(problem.weights[bundle]);
            part_.quantities.push_back(problem.quantities[bundle]);
            part_.counts.push_back(problem.counts[bundle]);
            part_.total += problem.weights[bundle];
            part_.total_quantity += problem.quantities[bundle];
            part_.items += problem.counts[bundle];
            working += problem.weights[bundle] > 0 ? 1U : 0U;
        }
        part_.limits.idle_allowed = idle - std::min(idle, working);
    }

    wish_problem part_;
    std::vector<std::size_t> offsets_;
    std::vector<std::uint32_t> by_node_;
    std::vector<std::uint32_t> local_;
};

}  // namespace evenkeel::detail
