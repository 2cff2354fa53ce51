// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::detail {

/// Adds up what a step moves, exchange by exchange.
class traffic_counter {
  public:
    void operator()(step_problem const& problem, std::span<group_view const> views, std::span<phase_ranks const> chosen,
                    step_traffic& result) {
        cluster_ = &problem.cluster;
        of_node_.assign(problem.cluster.nodes(), 0);
        moved_ = 0;
        between_nodes_ = 0;
        result.raw.resize(problem.encoders());
        result.outputs.resize(problem.encoders());
        result.trained.resize(problem.encoders());
        for (std::size_t encoder = 0; encoder < problem.encoders(); ++encoder) {
            result.trained[encoder] = problem.phases[encoder].trained;
            count_encoder(problem, views, encoder, chosen, result.raw[encoder], result.outputs[encoder]);
        }
        auto const& llm = problem.amounts.phases.back();
        result.text = {.total = llm.total_bytes};
        auto const& ranks = chosen.back().rank_of;
        problem.for_each_drawn(problem.encoders(), [&](world_rank home, std::size_t first, std::size_t last) {
            for (std::size_t sample = first; sample < last; ++sample) {
                add(result.text, home, views.back().leader(ranks[sample]), llm.bytes[sample], 1);
            }
        });
        count_moved(result.text, 1);
        result.moved = moved_;
        result.between_nodes = between_nodes_;
        result.busiest_node = of_node_.empty() ? 0 : *std::ranges::max_element(of_node_);
    }

  private:
    void count_encoder(step_problem const& problem, std::span<group_view const> views, std::size_t encoder,
                       std::span<phase_ranks const> chosen, moved_bytes& raw, moved_bytes& outputs) {
        auto const& amounts = problem.amounts.phases[encoder];
        auto const& rank_of = chosen[encoder].rank_of;
        std::uint64_t const ways = problem.ways(encoder);
        raw = {.total = amounts.total_bytes};
        outputs = {.total = amounts.total_output_bytes};
        auto const& llm_ranks = chosen.back().rank_of;
        problem.for_each_drawn(encoder, [&](world_rank home, std::size_t first, std::size_t last) {
            for (std::size_t unit = first; unit < last; ++unit) {
                world_rank const at = views[encoder].leader(rank_of[unit]);
                add(raw, home, at, amounts.bytes[unit], 1);
                world_rank const to = views.back().leader(llm_ranks[to_index(amounts.owners[unit])]);
                // Mostly the LLM has come to the outputs.
                if (at != to) {
                    add(outputs, at, to, amounts.output_bytes[unit], ways);
                }
            }
        });
        count_moved(raw, 1);
        count_moved(outputs, ways);
    }

    /// One item that travels `times` from rank to rank.
    void add(moved_bytes& one_way, world_rank from, world_rank to, std::uint64_t bytes, std::uint64_t times) noexcept {
        // No branch: which items move, no processor foresees. Few leave their node.
        one_way.moved += from != to ? bytes : 0;
        std::size_t const source = to_index(cluster_->nodes_of_ranks[to_index(from)]);
        std::size_t const target = to_index(cluster_->nodes_of_ranks[to_index(to)]);
        if (source != target) {
            one_way.between_nodes += bytes;
            between_nodes_ += times * bytes;
            of_node_[source] += times * bytes;
            of_node_[target] += times * bytes;
        }
    }

    /// Counts an exchange as often as it travels.
    void count_moved(moved_bytes const& one_way, std::uint64_t times) {
        constexpr auto what = "orchestrate: the bytes of a step";
        moved_ = checked_add(moved_, checked_multiply(times, one_way.moved, what), what);
    }

    topology const* cluster_ = nullptr;
    std::vector<std::uint64_t> of_node_;  ///< bytes that each node sends and receives
    std::uint64_t moved_ = 0;
    std::uint64_t between_nodes_ = 0;
};

}  // namespace evenkeel::detail
