// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
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
        count_from_home(problem, problem.encoders(), views.back(), chosen.back().rank_of, llm.bytes, result.text);
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
        count_from_home(problem, encoder, views[encoder], rank_of, amounts.bytes, raw);
        auto const& llm_ranks = chosen.back().rank_of;
        for (std::size_t unit = 0; unit < rank_of.size(); ++unit) {
            world_rank const from = views[encoder].leader(rank_of[unit]);
            world_rank const to = views.back().leader(llm_ranks[to_index(amounts.owners[unit])]);
            // Mostly the LLM has come to the outputs.
            if (from != to) {
                outputs.moved += amounts.output_bytes[unit];
                cross(outputs, cluster_->node_of(from), cluster_->node_of(to), amounts.output_bytes[unit], ways);
            }
        }
        count_moved(raw, 1);
        count_moved(outputs, ways);
    }

    /// What goes from where it was drawn to where a phase has it.
    void count_from_home(step_problem const& problem, std::size_t number, group_view const& view,
                         std::span<std::uint32_t const> rank_of, bytes_by_token bytes, moved_bytes& one_way) {
        problem.for_each_drawn(number, [&](world_rank home, std::size_t first, std::size_t last) {
            node_id const node = cluster_->node_of(home);
            std::uint64_t moved = 0;
            for (std::size_t item = first; item < last; ++item) {
                // No branch: which items move, no processor foresees. Few leave their node.
                world_rank const at = view.leader(rank_of[item]);
                moved += at != home ? bytes[item] : 0;
                cross(one_way, node, cluster_->node_of(at), bytes[item], 1);
            }
            one_way.moved += moved;
        });
    }

    /// One item that travels `times` from node to node.
    void cross(moved_bytes& one_way, node_id from, node_id to, std::uint64_t bytes, std::uint64_t times) noexcept {
        if (from != to) {
            one_way.between_nodes += bytes;
            between_nodes_ += times * bytes;
            of_node_[to_index(from)] += times * bytes;
            of_node_[to_index(to)] += times * bytes;
        }
    }

    /// Counts an exchange as often as it travels.
    void count_moved(moved_bytes const& one_way, std::uint64_t times) {
        auto const there_and_back = product_or_throw("orchestrate", times, one_way.moved,
                                                     [] { return "what outputs and their gradients move"; });
        moved_ = sum_or_throw("orchestrate", moved_, there_and_back, [] { return "what all exchanges move"; });
    }

    topology const* cluster_ = nullptr;
    std::vector<std::uint64_t> of_node_;  ///< bytes that each node sends and receives
    std::uint64_t moved_ = 0;
    std::uint64_t between_nodes_ = 0;
};

}  // namespace evenkeel::detail
