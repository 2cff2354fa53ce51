// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/rearrange/units.hpp>

namespace evenkeel::detail {

/// What the items of one phase weigh and carry: units of an encoder, samples of the LLM.
struct phase_amounts {
    std::vector<std::uint64_t> weights;       ///< each for itself, without padding to others
    std::vector<std::uint64_t> padded;        ///< of these, what `phase_cost` pads; empty if nothing
    std::vector<std::uint64_t> bytes;         ///< before the phase: raw inputs; of the LLM: text
    std::vector<std::uint64_t> output_bytes;  ///< of an encoder
    std::vector<item_id> owners;              ///< of an encoder: the sample of each unit
    bool several_units = false;               ///< whether a sample has more than one
    std::uint64_t total_bytes = 0;
};

/// The same for all phases of a step, and what the samples have of them together.
struct step_amounts {
    std::vector<phase_amounts> phases;
    std::vector<std::uint64_t> sequences;  ///< tokens of each sample in the LLM, unpadded
    std::vector<std::uint64_t> outputs;    ///< bytes of each sample's outputs, one way
    std::vector<std::uint64_t> moving;  ///< bytes that moving each sample's LLM place costs: text, outputs, gradients
};

[[nodiscard]] inline std::uint64_t rounded_up(std::uint64_t tokens, std::uint64_t multiple, char const* what) {
    std::uint64_t const rest = tokens % multiple;
    return rest == 0 ? tokens : checked_add(tokens, multiple - rest, what);
}

/// How many tokens an encoder makes of `tokens`.
[[nodiscard]] inline std::uint64_t output_tokens(phase const& encoder, std::uint64_t tokens) noexcept {
    // Asked, because dividing takes longer than all else.
    return encoder.tokens_per_output == 1
               ? tokens
               : tokens / encoder.tokens_per_output + (tokens % encoder.tokens_per_output != 0 ? 1 : 0);
}

/// How often the outputs of an encoder travel: forward, and their gradients back.
[[nodiscard]] inline std::uint64_t ways_of(phase const& encoder) noexcept { return encoder.trained ? 2 : 1; }

/// The weights of lengths that are padded up first.
inline void weigh_padded(phase const& phase, std::span<std::uint64_t const> lengths, phase_amounts& amounts) {
    amounts.weights.resize(lengths.size());
    amounts.padded.resize(phase.cost.pads() ? lengths.size() : 0);
    if (phase.pad_to == 1) {
        phase.cost.weigh(lengths, amounts.weights, amounts.padded);
        return;
    }
    for (std::size_t item = 0; item < lengths.size(); ++item) {
        amounts.weights[item] = rounded_up(lengths[item], phase.pad_to, "orchestrate: a padded length");
    }
    phase.cost.weigh(amounts.weights, amounts.weights, amounts.padded);
}

/// The sample of each unit, without asking each sample whether it has any, which no processor foresees.
inline void write_owners(unit_map const& units, phase_amounts& amounts) {
    auto const& offsets = units.offsets;
    amounts.owners.resize(units.units() + 1);
    std::size_t most = 0;
    for (std::size_t sample = 0; sample < units.samples(); ++sample) {
        // Of samples without units, the next that has some takes the place.
        amounts.owners[offsets[sample]] = to_id<item_id>(sample);
        most = std::max(most, offsets[sample + 1] - offsets[sample]);
    }
    amounts.several_units = most > 1;
    for (std::size_t sample = 0; sample < units.samples() && most > 1; ++sample) {
        for (std::size_t unit = offsets[sample]; unit < offsets[sample + 1]; ++unit) {
            amounts.owners[unit] = to_id<item_id>(sample);
        }
    }
    amounts.owners.pop_back();
}

[[nodiscard]] inline std::uint64_t bytes_in_all(std::span<std::uint64_t const> bytes) {
    std::uint64_t total = 0;
    for (auto const one : bytes) {
        total = checked_add(total, one, "orchestrate: the bytes of a phase");
    }
    return total;
}

/// Checks all sums once, so that plans and traffic need not.
///
/// @throws std::overflow_error  if a length, a weight or the bytes of a phase do not fit into 64 bits.
inline void write_amounts(step_samples const& samples, std::span<phase const> phases, step_amounts& result) {
    result.phases.resize(phases.size());
    result.sequences.assign(samples.text.begin(), samples.text.end());
    result.outputs.assign(samples.size(), 0);
    result.moving.resize(samples.size());
    auto& llm = result.phases.back();
    // The last of other phases may have been an encoder.
    llm.owners.clear();
    llm.output_bytes.clear();
    llm.several_units = false;
    llm.bytes.resize(samples.size());
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
        llm.bytes[sample] =
            checked_multiply(samples.text[sample], phases.back().bytes_in, "orchestrate: the bytes of a text");
        result.moving[sample] = llm.bytes[sample];
    }
    llm.total_bytes = bytes_in_all(llm.bytes);
    for (std::size_t encoder = 0; encoder + 1 < phases.size(); ++encoder) {
        auto const& inputs = samples.inputs[encoder];
        auto const& phase = phases[encoder];
        auto& amounts = result.phases[encoder];
        weigh_padded(phase, inputs.lengths, amounts);
        amounts.bytes.resize(inputs.lengths.size());
        amounts.output_bytes.resize(inputs.lengths.size());
        write_owners(inputs.units, amounts);
        std::uint64_t const ways = ways_of(phase);
        for (std::size_t unit = 0; unit < inputs.lengths.size(); ++unit) {
            std::size_t const sample = to_index(amounts.owners[unit]);
            std::uint64_t const tokens = output_tokens(phase, inputs.lengths[unit]);
            amounts.bytes[unit] =
                checked_multiply(inputs.lengths[unit], phase.bytes_in, "orchestrate: the bytes of a unit");
            std::uint64_t const bytes =
                checked_multiply(tokens, phase.bytes_out, "orchestrate: the bytes of an output");
            amounts.output_bytes[unit] = bytes;
            result.sequences[sample] =
                checked_add(result.sequences[sample], tokens, "orchestrate: the length of a sample");
            result.outputs[sample] = checked_add(result.outputs[sample], bytes, "orchestrate: the bytes of a sample");
            result.moving[sample] =
                checked_add(result.moving[sample], checked_multiply(ways, bytes, "orchestrate: the bytes of a sample"),
                            "orchestrate: the bytes of a sample");
        }
        amounts.total_bytes = bytes_in_all(amounts.bytes);
        auto const both_ways =
            checked_multiply(2, bytes_in_all(amounts.output_bytes), "orchestrate: the bytes of a phase");
        static_cast<void>(checked_add(amounts.total_bytes, both_ways, "orchestrate: the bytes of a phase"));
    }
    static_cast<void>(bytes_in_all(result.moving));
    weigh_padded(phases.back(), result.sequences, llm);
}

[[nodiscard]] inline step_amounts amounts_of(step_samples const& samples, std::span<phase const> phases) {
    step_amounts result;
    write_amounts(samples, phases, result);
    return result;
}

}  // namespace evenkeel::detail
