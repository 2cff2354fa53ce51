// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/joint.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::detail {

/// Adds up what a step moves, exchange by exchange.
class traffic_counter {
  public:
    traffic_counter(step_problem const& problem, std::vector<phase_ranks> const& chosen)
        : problem_{problem}, of_node_(problem.cluster.nodes()) {
        for (std::size_t number = 0; number < chosen.size(); ++number) {
            leaders_.emplace_back();
            for (std::size_t rank = 0; rank < problem.phases[number].group.ranks().value; ++rank) {
                leaders_.back().push_back(problem.phases[number].group.leader(to_id<rank_id>(rank)));
            }
        }
        for (std::size_t encoder = 0; encoder < problem.encoders(); ++encoder) {
            count_encoder(encoder, chosen[encoder].rank_of, chosen.back().rank_of);
        }
        for (std::size_t sample = 0; sample < problem.samples.size(); ++sample) {
            add(result_.text, problem.home.places[sample].rank, leaders_.back()[chosen.back().rank_of[sample]],
                problem.amounts.phases.back().bytes[sample], 1);
        }
        for (auto const bytes : of_node_) {
            result_.busiest_node = std::max(result_.busiest_node, bytes);
        }
    }

    [[nodiscard]] step_traffic const& result() const noexcept { return result_; }

  private:
    void count_encoder(std::size_t encoder, std::vector<std::uint32_t> const& rank_of,
                       std::vector<std::uint32_t> const& llm_rank_of) {
        auto const& units = problem_.samples.inputs[encoder].units;
        auto const& amounts = problem_.amounts.phases[encoder];
        moved_bytes raw;
        moved_bytes outputs;
        for (std::size_t sample = 0; sample < units.samples(); ++sample) {
            world_rank const home = problem_.home.places[sample].rank;
            world_rank const llm = leaders_.back()[llm_rank_of[sample]];
            for (std::size_t unit = units.offsets[sample]; unit < units.offsets[sample + 1]; ++unit) {
                world_rank const at = leaders_[encoder][rank_of[unit]];
                add(raw, home, at, amounts.bytes[unit], 1);
                add(outputs, at, llm, amounts.output_bytes[unit], problem_.ways(encoder));
            }
        }
        result_.raw.push_back(raw);
        result_.outputs.push_back(outputs);
        result_.trained.push_back(problem_.phases[encoder].trained);
    }

    /// One item that travels `times` from rank to rank.
    void add(moved_bytes& one_way, world_rank from, world_rank to, std::uint64_t bytes, std::uint64_t times) {
        one_way.total += bytes;
        if (from == to || bytes == 0) {
            return;
        }
        one_way.moved += bytes;
        result_.moved = checked_add(result_.moved, times * bytes, "orchestrate: the bytes of a step");
        std::size_t const source = to_index(problem_.cluster.node_of(from));
        std::size_t const target = to_index(problem_.cluster.node_of(to));
        if (source != target) {
            one_way.between_nodes += bytes;
            result_.between_nodes += times * bytes;
            of_node_[source] += times * bytes;
            of_node_[target] += times * bytes;
        }
    }

    step_problem const& problem_;
    std::vector<std::vector<world_rank>> leaders_;  ///< of each phase
    std::vector<std::uint64_t> of_node_;            ///< bytes that each node sends and receives
    step_traffic result_;
};

}  // namespace evenkeel::detail
