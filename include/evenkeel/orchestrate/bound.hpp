// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/detail/arguments.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/node_imports.hpp>
#include <evenkeel/orchestrate/detail/node_prices.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
#include <evenkeel/orchestrate/detail/require_of_step.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel {

/// What no step goes below that is as even as the one given: bytes between nodes of all exchanges, forward and
/// backward.
struct step_bound {
    std::uint64_t between_nodes = 0;
    std::uint64_t busiest_node = 0;  ///< sent and received together

    friend bool operator==(step_bound const&, step_bound const&) = default;
};

namespace detail {

/// What the ranks of a phase may take on in a micro-batch: what the tolerance allows, or what they have, if more.
[[nodiscard]] inline std::uint64_t allowed_load(phase const& phase, quality const& quality,
                                                micro_batch_count micro_batches) {
    double const slack = std::floor(static_cast<double>(quality.lower_bound) * tolerance_of(phase, micro_batches));
    std::uint64_t const room = std::numeric_limits<std::uint64_t>::max() - quality.lower_bound;
    std::uint64_t const allowed =
        quality.lower_bound + (slack < static_cast<double>(room) ? static_cast<std::uint64_t>(slack) : room);
    return std::max(allowed, quality.max_load);
}

/// Refuses phases that run on other numbers of ranks than `step` does.
inline void require_groups_of(std::span<phase const> phases, planned_step const& step) {
    for (std::size_t number = 0; number < phases.size(); ++number) {
        std::size_t const planned = step.phases[number].plan.ranks().value;
        if (std::size_t const ranks = phases[number].group.ranks().value; ranks != planned) {
            throw_invalid("bound_of: " + name_in_errors(phases, number), "group.ranks()", ranks,
                          "the " + std::to_string(planned) + " ranks of the step");
        }
    }
}

}  // namespace detail

/// Proves how far the bytes between nodes of a step can be from the least possible.
///
///     // Of the example of `orchestrate`:
///     step.traffic.between_nodes;                                             // 302'224
///     evenkeel::bound_of(samples, phases, cluster, step).between_nodes;       // 301'151: no step moves less
///
/// Load that a node has drawn beyond what its instances may take on has to leave it. Which samples leave, whether their
/// LLM place goes along, and what then travels is relaxed to a choice per sample at a price per load; any prices give a
/// bound, and good ones are searched. The busiest node also receives what all others have no room for. That items are
/// whole, and what moves inside nodes, is left out: on phases of a few heavy items per rank the bound can be half of
/// what is possible.
///
/// @param samples, phases, topology  As for `orchestrate`,
/// @param step                       which has made this of them.
/// @throws std::invalid_argument, std::overflow_error  as `orchestrate`, and if there is no step, or it is of other
///                                                     numbers of samples, units, phases or ranks.
/// @complexity O(samples + units) for each of a hundred or so prices that are tried
[[nodiscard]] inline step_bound bound_of(step_samples const& samples, std::span<phase const> phases,
                                         topology const& topology, planned_step const& step) {
    detail::require_planned("bound_of", step);
    micro_batch_count const micro_batches{step.llm().plan.micro_batches};
    detail::on_behalf_of("bound_of",
                         [&] { detail::require_step(samples, phases, topology, {.micro_batches = micro_batches}); });
    detail::require_of_step("bound_of", samples, phases, step);
    detail::require_groups_of(phases, step);
    detail::step_amounts amounts;
    detail::on_behalf_of("bound_of", [&] { detail::write_amounts(samples, phases, amounts); });
    detail::step_problem const problem{
        .samples = samples, .phases = phases, .cluster = topology, .amounts = amounts, .home = step.home};
    std::size_t const nodes = topology.nodes();
    std::vector<std::uint64_t> instances(nodes * phases.size());
    for (std::size_t number = 0; number < phases.size(); ++number) {
        auto const& group = phases[number].group;
        for (std::size_t rank = 0; rank < group.ranks().value; ++rank) {
            ++instances[to_index(topology.node_of(group.leader(to_id<rank_id>(rank)))) * phases.size() + number];
        }
    }
    detail::node_prices prices{problem};
    detail::node_imports imports{problem};
    std::vector<std::uint64_t> of_node(nodes);
    step_bound result;
    for (std::size_t slot = 0; slot < micro_batches.value; ++slot) {
        std::vector<std::vector<item_id>> drawn(nodes);
        std::vector<std::uint64_t> loads(nodes * phases.size());
        for (std::size_t sample = 0; sample < samples.size(); ++sample) {
            if (to_index(step.llm().layout.places[sample].micro_batch) != slot) {
                continue;
            }
            std::size_t const node = to_index(topology.node_of(step.home.places[sample].rank));
            drawn[node].push_back(to_id<item_id>(sample));
            loads[node * phases.size() + problem.encoders()] += amounts.phases.back().weights[sample];
            for (std::size_t encoder = 0; encoder < problem.encoders(); ++encoder) {
                auto const& offsets = samples.inputs[encoder].units.offsets;
                for (std::size_t unit = offsets[sample]; unit < offsets[sample + 1]; ++unit) {
                    loads[node * phases.size() + encoder] += amounts.phases[encoder].weights[unit];
                }
            }
        }
        std::vector<std::uint64_t> rooms(loads.size());
        for (std::size_t at = 0; at < rooms.size(); ++at) {
            auto const& quality = step.phases[at % phases.size()].quality[slot];
            std::uint64_t const allowed = detail::allowed_load(phases[at % phases.size()], quality, micro_batches);
            if (__builtin_mul_overflow(instances[at], allowed, &rooms[at])) {
                rooms[at] = std::numeric_limits<std::uint64_t>::max();  // room for everything
            }
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            std::vector<std::uint64_t> surplus(phases.size());
            for (std::size_t number = 0; number < phases.size(); ++number) {
                std::size_t const at = node * phases.size() + number;
                surplus[number] = loads[at] - std::min(loads[at], rooms[at]);
            }
            std::uint64_t const least = prices(drawn[node], surplus);
            result.between_nodes = detail::sum_or_throw("bound_of", result.between_nodes, least, [&] {
                return "what leaves nodes up to " + std::to_string(node) + " of micro-batch " + std::to_string(slot);
            });
            of_node[node] += least;
        }
        imports.add(drawn, loads, rooms, of_node);
    }
    for (auto const bytes : of_node) {
        result.busiest_node = std::max(result.busiest_node, bytes);
    }
    return result;
}

}  // namespace evenkeel
