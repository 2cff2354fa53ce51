// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/core/plan.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
#include <evenkeel/orchestrate/detail/require_batch.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>
#include <evenkeel/rearrange/units.hpp>

namespace evenkeel {

/// The plan of one phase of a step.
struct planned_phase {
    evenkeel::plan plan;                     ///< over the group: units of an encoder, samples of the LLM
    evenkeel::layout layout;                 ///< the same in the world, at the leaders
    std::vector<evenkeel::quality> quality;  ///< of each micro-batch
    std::uint64_t one_batch_bound = 0;       ///< the lower bound if the step were one micro-batch
    bool from_scratch = false;               ///< whether nothing that stays home was good enough

    friend bool operator==(planned_phase const&, planned_phase const&) = default;
};

/// How long a phase takes in all micro-batches, one after the other: each as long as its busiest rank.
///
///     auto const sums = evenkeel::sums_of(step.llm());
///     sums.max_loads;         // what the step takes
///     sums.lower_bounds;      // what it takes at least, with these samples in these micro-batches
///     sums.one_batch_bound;   // what it takes at least, whatever the micro-batches
struct micro_batch_sums {
    std::uint64_t max_loads = 0;
    std::uint64_t lower_bounds = 0;
    std::uint64_t one_batch_bound = 0;

    friend bool operator==(micro_batch_sums const&, micro_batch_sums const&) = default;
};

/// @throws std::overflow_error  if a sum does not fit into 64 bits.
[[nodiscard]] inline micro_batch_sums sums_of(planned_phase const& phase) {
    micro_batch_sums result{.one_batch_bound = phase.one_batch_bound};
    for (auto const& quality : phase.quality) {
        result.max_loads = detail::sum_or_throw("sums_of", result.max_loads, quality.max_load,
                                                [] { return "the sum of quality.max_load"; });
        result.lower_bounds += quality.lower_bound;
    }
    return result;
}

/// Bytes that an exchange moves in one direction.
struct moved_bytes {
    std::uint64_t total = 0;          ///< of all items, moved or not
    std::uint64_t moved = 0;          ///< that leave their world rank
    std::uint64_t between_nodes = 0;  ///< that leave their node

    friend bool operator==(moved_bytes const&, moved_bytes const&) = default;
};

/// What a step moves. A gradient travels the way of its output back, so it is as many bytes again.
struct step_traffic {
    std::vector<moved_bytes> raw;      ///< of each encoder: its inputs, home to encoder
    std::vector<moved_bytes> outputs;  ///< of each encoder: encoder to LLM, composed
    std::vector<bool> trained;         ///< of each encoder: whether the gradients travel back
    moved_bytes text;                  ///< home to LLM

    std::uint64_t moved = 0;          ///< by all ranks, forward and backward
    std::uint64_t between_nodes = 0;  ///< the same between nodes
    std::uint64_t busiest_node = 0;   ///< the most that a node sends and receives together

    friend bool operator==(step_traffic const&, step_traffic const&) = default;
};

/// A whole training step, planned: who runs what in every phase, and every movement between.
///
///     auto const step = evenkeel::orchestrate(samples, phases, cluster);
///     step.raw(vision);                        // raw images: home -> encoder
///     step.outputs(vision);                    // embeddings: encoder -> LLM, past the home
///     evenkeel::invert(step.outputs(vision));  // their gradients
///     step.text();                             // text and labels: home -> LLM
///
/// Movements are made on demand. Encoders are numbered as in `phases`; the LLM is the last.
struct planned_step {
    layout home;                  ///< of samples
    std::vector<unit_map> units;  ///< of each encoder
    std::vector<planned_phase> phases;
    step_traffic traffic;

    [[nodiscard]] std::size_t encoders() const noexcept { return units.size(); }

    /// @throws std::invalid_argument  if nothing has been planned, as all below.
    [[nodiscard]] planned_phase const& llm() const { return llm_for("planned_step::llm"); }

    /// Inputs of an encoder, per unit: from the rank that drew them to the one that encodes them.
    ///
    /// @throws std::invalid_argument  if there is no such encoder.
    [[nodiscard]] rearrangement raw(std::size_t encoder) const {
        require_encoder("planned_step::raw", encoder);
        return {expand(home, units[encoder]), phases[encoder].layout};
    }

    /// Outputs of an encoder, per unit: straight to the LLM instance of their sample, in the order of their samples
    /// there.
    ///
    /// @throws std::invalid_argument  if there is no such encoder.
    [[nodiscard]] rearrangement outputs(std::size_t encoder) const {
        require_encoder("planned_step::outputs", encoder);
        return {phases[encoder].layout, expand(llm().layout, units[encoder])};
    }

    /// What travels with a sample itself, such as text and labels.
    [[nodiscard]] rearrangement text() const { return {home, llm_for("planned_step::text").layout}; }

    /// From the LLM back to where and in which order samples were drawn, for what is reported per sample.
    [[nodiscard]] rearrangement original_order() const {
        return {llm_for("planned_step::original_order").layout, home};
    }

    friend bool operator==(planned_step const&, planned_step const&) = default;

  private:
    [[nodiscard]] planned_phase const& llm_for(std::string_view function) const {
        if (phases.empty()) {
            throw_invalid(function, "phases.size()", 0, "at least the LLM");
        }
        return phases.back();
    }

    void require_encoder(std::string_view function, std::size_t encoder) const {
        static_cast<void>(llm_for(function));
        // Units may have been filled in without their phases.
        std::size_t const planned = std::min(encoders(), phases.size() - 1);
        detail::require_below(function, "encoder", encoder, planned, "encoders of the step");
    }
};

/// The ranks of a phase that have no item in a micro-batch. They still take part in every collective: run them on a
/// dummy whose loss counts nothing.
///
///     // Two images on four ranks:
///     evenkeel::empty_ranks(step.phases[vision]);   // two ranks that encode nothing
///
/// @throws std::invalid_argument  if the phase has no such micro-batch.
[[nodiscard]] inline std::vector<rank_id> empty_ranks(planned_phase const& phase, micro_batch_id micro_batch = {}) {
    detail::require_below("empty_ranks", "micro_batch", to_index(micro_batch), phase.plan.micro_batches,
                          "micro-batches of the phase");
    std::vector<rank_id> result;
    for (std::size_t rank = 0; rank < phase.plan.ranks().value; ++rank) {
        if (phase.plan.batch(to_id<rank_id>(rank), micro_batch).empty()) {
            result.push_back(to_id<rank_id>(rank));
        }
    }
    return result;
}

}  // namespace evenkeel
