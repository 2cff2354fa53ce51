// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/detail/arguments.hpp>
#include <evenkeel/orchestrate/detail/count_traffic.hpp>
#include <evenkeel/orchestrate/detail/joint.hpp>
#include <evenkeel/orchestrate/detail/micro_batches.hpp>
#include <evenkeel/orchestrate/detail/write_phase.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>
#include <evenkeel/solve/lower_bound.hpp>

namespace evenkeel {

/// Plans a whole training step: every encoder and the LLM, and every movement between them.
///
///     std::vector<evenkeel::phase> const phases{{.name = "vision", .group = ranks, .bytes_in = 4704, .bytes_out = 7168},
///                                               {.name = "llm", .group = ranks, .bytes_in = 8}};
///     auto const step = evenkeel::orchestrate(samples, phases, cluster);
///     step.phases[0].plan;                  // which units each rank encodes
///     step.llm().plan;                      // which samples each rank runs the LLM on
///     step.outputs(0);                      // embeddings, encoder -> LLM; the gradients go back on its inverse
///     step.traffic.between_nodes;           // bytes of all exchanges, forward and backward
///
/// A batch that is even for the LLM is uneven for the encoders, so each phase has a plan of its own (OrchMLLM, arXiv
/// 2503.23830), and outputs travel from encoder to LLM in one movement, composed. Unlike there, plans are made to fit each
/// other: encoders leave samples at home as far as balance allows, the LLM leaves them where their outputs are, and
/// samples of text alone level what that upsets. Embeddings, which are dearest to move, then hardly move at all.
///
/// The step depends on the arguments alone: every rank, and every pipeline stage that reads data, plans it for itself and
/// gets the same to the bit.
///
/// @param samples   What every rank has drawn, gathered.
/// @param phases    The encoders, in the order of `samples.inputs`, and the LLM last.
/// @param topology  Which world ranks share a node.
/// @throws std::invalid_argument  if arguments do not belong together or make no sense.
/// @throws std::overflow_error    if a length, a load or bytes do not fit into 64 bits.
/// @complexity O(samples + units), and in each phase at most `phase::effort` steps per item.
[[nodiscard]] inline planned_step orchestrate(step_samples const& samples, std::span<phase const> phases,
                                              topology const& topology, orchestrate_options const& options = {}) {
    detail::require_step(samples, phases, topology, options);
    auto const amounts = detail::amounts_of(samples, phases);
    planned_step step{.home = home_layout(samples.counts), .units = {}, .phases = {}, .traffic = {}};
    for (auto const& inputs : samples.inputs) {
        step.units.push_back(inputs.units);
    }
    detail::step_problem const problem{
        .samples = samples, .phases = phases, .cluster = topology, .amounts = amounts, .home = step.home};
    auto const slots = detail::micro_batches_of(problem, options);
    std::vector<detail::phase_ranks> chosen(phases.size());
    detail::joint_choice choose{problem, options, chosen};
    for (std::size_t slot = 0; slot < options.micro_batches.value; ++slot) {
        choose(slots.samples_of(slot));
    }
    step.traffic = detail::traffic_counter{problem, chosen}.result();
    for (std::size_t number = 0; number < phases.size(); ++number) {
        chosen[number].one_batch_bound = options.micro_batches.value == 1 ? chosen[number].qualities.front().lower_bound
                                                                          : lower_bound(amounts.phases[number].weights,
                                                                                        phases[number].group.ranks());
        auto const owners = number < step.encoders() ? samples_of_units(step.units[number]) : std::vector<item_id>{};
        step.phases.push_back(detail::written_phase(phases[number], topology.size(), options.micro_batches.value,
                                                    slots.slot_of, owners, std::move(chosen[number])));
    }
    return step;
}

}  // namespace evenkeel
