// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/core/members.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/detail/group_view.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/rearrange/units.hpp>

namespace evenkeel::detail {

/// "samples.inputs[3].units", without memory from the heap.
class numbered_name {
  public:
    numbered_name(std::string_view of, std::size_t number, std::string_view part = "") {
        add(of);
        add("[");
        used_ = static_cast<std::size_t>(std::to_chars(text_ + used_, text_ + sizeof text_, number).ptr - text_);
        add("]");
        add(part);
    }

    operator std::string_view() const noexcept { return {text_, used_}; }  // NOLINT: it is one

  private:
    void add(std::string_view part) noexcept { used_ += part.copy(text_ + used_, sizeof text_ - used_); }

    char text_[96];
    std::size_t used_ = 0;
};

inline void require_size(std::string_view argument, std::size_t found, std::size_t expected, std::string_view of) {
    if (found != expected) {
        throw_invalid("orchestrate", std::string{argument} + ".size()", found,
                      "one for each of " + std::to_string(expected) + " " + std::string{of});
    }
}

/// Refuses what samples bring for an encoder if it is not theirs.
///
/// @param with_starts  The first encoder that says where outputs start, as then all have to; none: past the last.
inline void require_inputs(step_samples const& samples, std::size_t encoder, std::size_t with_starts) {
    auto const name = [&](std::string_view part) { return numbered_name{"samples.inputs", encoder, part}; };
    auto const& inputs = samples.inputs[encoder];
    require_units("orchestrate", name(".units"), inputs.units, samples.size());
    require_size(name(".lengths"), inputs.lengths.size(), inputs.units.units(), "units");
    if (with_starts < samples.inputs.size() && inputs.starts.size() != inputs.units.units()) {
        std::string const why = ", as " + element("samples.inputs", with_starts) + " has some";
        require_size(name(".starts"), inputs.starts.size(), inputs.units.units(),
                     "units" + (inputs.starts.empty() ? why : std::string{}));
    }
}

/// Refuses samples that are not of `world` ranks or do not fit their encoders.
inline void require_samples(step_samples const& samples, std::span<phase const> phases, std::size_t world) {
    require_size("samples.counts", samples.counts.size(), world, "world ranks");
    // Where there is no text at all, it has been forgotten, and counts are right.
    std::size_t const most = samples.text.empty() ? max_items : samples.size();
    std::size_t drawn = 0;
    for (std::size_t rank = 0; rank < world; ++rank) {
        if (samples.counts[rank] > most - drawn) {
            throw_invalid("orchestrate", element("samples.counts", rank), samples.counts[rank],
                          "counts that add up to " + std::string{samples.text.empty() ? "at most " : "the "} +
                              std::to_string(most) + " samples");
        }
        drawn += samples.counts[rank];
    }
    require_size("samples.text", samples.size(), drawn, "samples that are drawn");
    if (samples.size() > max_items) {
        throw_invalid("orchestrate", "samples.size()", samples.size(),
                      "at most " + std::to_string(max_items) + " samples");
    }
    if (!samples.labels.empty()) {
        require_size("samples.labels", samples.labels.size(), samples.size(), "samples");
    }
    require_size("samples.inputs", samples.inputs.size(), phases.size() - 1, "encoders");
    // Outputs without a start would come first and could lie on others that have one.
    auto const with_starts = static_cast<std::size_t>(
        std::ranges::find_if(samples.inputs, [](encoder_inputs const& inputs) { return !inputs.starts.empty(); }) -
        samples.inputs.begin());
    for (std::size_t encoder = 0; encoder + 1 < phases.size(); ++encoder) {
        in_phase(phases, encoder, [&] { require_inputs(samples, encoder, with_starts); });
    }
}

/// Refuses a phase whose lengths would be divided by nothing.
inline void require_divisors(phase const& phase) {
    if (phase.tokens_per_output == 0 || phase.pad_to == 0) {
        throw_invalid("orchestrate", phase.pad_to == 0 ? "pad_to" : "tokens_per_output", 0, "at least 1");
    }
}

/// Refuses a phase that cannot be planned.
///
/// @param known  Whether the group has been checked before.
inline void require_phase(phase const& phase, std::size_t items, world_size world, micro_batch_count micro_batches,
                          bool known) {
    if (!known) {
        require_group("orchestrate", phase.group, world);
    }
    require_shape("orchestrate", phase.members, phase.group);
    if (phase.group.ranks().value == 0) {
        throw_invalid("orchestrate", "group.ranks()", 0, "at least 1");
    }
    require_divisors(phase);
    if (!(tolerance_of(phase, micro_batches) >= 0)) {
        throw_invalid("orchestrate", "tolerance", *phase.tolerance, "at least 0");
    }
    if (phase.method > phase_method::given) {
        throw_invalid("orchestrate", "method", static_cast<unsigned>(phase.method), "a value of phase_method");
    }
    if ((phase.method == phase_method::given) != phase.given.has_value()) {
        throw_invalid("orchestrate", "given", phase.given ? "a plan" : "none",
                      "a plan with the method `given`, and with no other");
    }
    if (phase.given) {
        require_partition("orchestrate", *phase.given, items, "given", "->");
        if (phase.given->ranks() != phase.group.ranks()) {
            throw_invalid("orchestrate", "given->ranks()", phase.given->ranks().value,
                          "the " + std::to_string(phase.group.ranks().value) + " ranks of the group");
        }
        if (phase.given->micro_batches != micro_batches.value) {
            throw_invalid("orchestrate", "given->micro_batches", phase.given->micro_batches,
                          "the " + std::to_string(micro_batches.value) + " micro-batches of the step");
        }
    }
}

/// @param views  Of the phases of earlier steps.
inline void require_step(step_samples const& samples, std::span<phase const> phases, topology const& topology,
                         orchestrate_options const& options, std::span<group_view const> views = {}) {
    if (phases.empty()) {
        throw_invalid("orchestrate", "phases.size()", 0, "at least the LLM");
    }
    if (topology.nodes() > topology.size().value) {
        throw_invalid("orchestrate", "topology.nodes()", topology.nodes(),
                      "at most one node for each of " + std::to_string(topology.size().value) + " ranks");
    }
    if (options.micro_batches.value == 0 || options.micro_batches.value > max_items) {
        throw_invalid("orchestrate", "options.micro_batches", options.micro_batches.value, "at least 1, below 2^32");
    }
    if (options.deal > dealing::as_drawn) {
        throw_invalid("orchestrate", "options.deal", static_cast<unsigned>(options.deal), "a value of dealing");
    }
    require_samples(samples, phases, topology.size().value);
    for (std::size_t number = 0; number < phases.size(); ++number) {
        std::size_t const items = number + 1 < phases.size() ? samples.inputs[number].units.units() : samples.size();
        bool const known = number < views.size() && views[number].shows(phases[number].group, topology);
        in_phase(phases, number,
                 [&] { require_phase(phases[number], items, topology.size(), options.micro_batches, known); });
    }
    auto const& chosen = options.micro_batch_of_sample;
    if (!chosen.empty()) {
        require_size("options.micro_batch_of_sample", chosen.size(), samples.size(), "samples");
        for (std::size_t sample = 0; sample < chosen.size(); ++sample) {
            if (to_index(chosen[sample]) >= options.micro_batches.value) {
                throw_invalid("orchestrate", element("options.micro_batch_of_sample", sample), to_index(chosen[sample]),
                              "below the " + std::to_string(options.micro_batches.value) + " micro-batches");
            }
        }
    }
}

}  // namespace evenkeel::detail
