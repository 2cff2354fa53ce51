// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/detail/arguments.hpp>
#include <evenkeel/orchestrate/detail/home.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/micro_batches.hpp>
#include <evenkeel/orchestrate/detail/step_problem.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>
#include <evenkeel/orchestrate/workspace.hpp>

namespace evenkeel {

/// Plans a whole training step: every encoder and the LLM, and every movement between them.
///
///     // Two nodes of one rank each. Rank 0 has drawn two samples with an image each, rank 1 two of text alone.
///     evenkeel::step_samples const samples{
///         .counts = {2, 2},
///         .text = {40, 10, 100, 106},
///         .inputs = {{.units = evenkeel::units_of(std::vector<std::size_t>{1, 1, 0, 0}), .lengths = {64, 64}}}};
///     auto const ranks = evenkeel::flat_group({2});
///     std::vector<evenkeel::phase> const phases{
///         {.name = "vision", .group = ranks, .bytes_in = 4704, .bytes_out = 7168},
///         {.name = "llm", .group = ranks, .bytes_in = 8}};
///     auto const step = evenkeel::orchestrate(samples, phases, evenkeel::uniform_topology({2}, {1}));
///     step.phases[0].plan;             // an image for each rank
///     step.llm().plan;                 // and for each the sample of its image, with one of text alone
///     step.outputs(0);                 // embeddings, encoder -> LLM; the gradients go back on its inverse
///     step.traffic.outputs[0].moved;   // 0: no embedding travels
///     step.traffic.between_nodes;      // 302'224 bytes: an image of 64 * 4704, and 146 tokens of text
///
/// A batch that is even for the LLM is uneven for the encoders, so each phase has a plan of its own (OrchMLLM, arXiv
/// 2503.23830), and outputs travel from encoder to LLM in one movement, composed. Unlike there, plans are made to fit
/// each other: encoders leave samples at home as far as balance allows, the LLM leaves them where their outputs are,
/// and samples of text alone level what that upsets. Embeddings, which are dearest to move, then hardly move at all.
///
/// The step depends on the arguments alone: every rank, and every pipeline stage that reads data, plans it for itself
/// and gets the same to the bit.
///
/// @param samples   What every rank has drawn, gathered.
/// @param phases    The encoders, in the order of `samples.inputs`, and the LLM last.
/// @param topology  Which world ranks share a node.
/// @throws std::invalid_argument  if arguments do not belong together or make no sense.
/// @throws std::overflow_error    if a length, a load or bytes do not fit into 64 bits, or bytes to be relabelled
///                                into 62. What belongs to a phase is said with its number and name:
///                                "orchestrate: phases[1] (llm): pad_to = 0, expected ...".
/// @complexity O(samples + units), and in each phase at most `phase::effort` steps per item.
[[nodiscard]] inline planned_step orchestrate(step_samples const& samples, std::span<phase const> phases,
                                              topology const& topology, orchestrate_options const& options = {});

/// The same in memory that is kept, also that of the result: for the steps of a training, one after the other.
///
/// @return  A reference into `workspace`, valid until its next use.
inline planned_step const& orchestrate(orchestrate_workspace& workspace, step_samples const& samples,
                                       std::span<phase const> phases, topology const& topology,
                                       orchestrate_options const& options = {}) {
    auto& room = workspace.room();
    detail::require_step(samples, phases, topology, options, room.views);
    room.views.resize(phases.size());
    for (std::size_t number = 0; number < phases.size(); ++number) {
        room.views[number].assign(phases[number].group, topology);
    }
    detail::write_amounts(samples, phases, room.amounts);
    auto& step = room.step;
    detail::write_home(samples.counts, room.counts, step.home);
    step.units.resize(samples.inputs.size());
    for (std::size_t encoder = 0; encoder < step.units.size(); ++encoder) {
        step.units[encoder] = samples.inputs[encoder].units;
    }
    detail::step_problem const problem{
        .samples = samples, .phases = phases, .cluster = topology, .amounts = room.amounts, .home = step.home};
    detail::write_slots(problem, options, room.dealer, room.slots);
    std::size_t const slots = options.micro_batches.value;
    room.choose.start(problem, room.views, slots, room.chosen);
    for (std::size_t slot = 0; slot < slots; ++slot) {
        room.choose(problem, options, room.slots.samples_of(slot), room.chosen);
    }
    room.count(problem, room.views, room.chosen, step.traffic);
    step.phases.resize(phases.size());
    for (std::size_t number = 0; number < phases.size(); ++number) {
        auto const& chosen = room.chosen[number];
        auto& planned = step.phases[number];
        detail::in_phase(phases, number, [&] {
            planned.one_batch_bound =
                slots == 1 ? chosen.qualities.front().lower_bound
                           : room.bound(room.amounts.phases[number].weights, phases[number].group.ranks());
            room.write(problem, number, room.views[number], slots, room.slots.slot_of, chosen, planned);
        });
    }
    return step;
}

inline planned_step orchestrate(step_samples const& samples, std::span<phase const> phases, topology const& topology,
                                orchestrate_options const& options) {
    auto const own = std::make_unique<orchestrate_workspace>();
    orchestrate(*own, samples, phases, topology, options);
    return std::move(own->room().step);
}

}  // namespace evenkeel
