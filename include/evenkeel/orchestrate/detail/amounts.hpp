// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>

namespace evenkeel::detail {

/// What the items of one phase weigh and carry: units of an encoder, samples of the LLM.
struct phase_amounts {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> bytes;         ///< before the phase: raw inputs; of the LLM: text
    std::vector<std::uint64_t> output_bytes;  ///< of an encoder
    std::uint64_t total_bytes = 0;
};

/// The same for all phases of a step, and what the samples have of them together.
struct step_amounts {
    std::vector<phase_amounts> phases;
    std::vector<std::uint64_t> sequences;  ///< tokens of each sample in the LLM, unpadded
};

[[nodiscard]] inline std::uint64_t rounded_up(std::uint64_t tokens, std::uint64_t multiple, char const* what) {
    std::uint64_t const rest = tokens % multiple;
    return rest == 0 ? tokens : checked_add(tokens, multiple - rest, what);
}

/// How many tokens an encoder makes of `tokens`.
[[nodiscard]] inline std::uint64_t output_tokens(phase const& encoder, std::uint64_t tokens) noexcept {
    return tokens / encoder.tokens_per_output + (tokens % encoder.tokens_per_output != 0 ? 1 : 0);
}

/// The weights of lengths that are padded up first.
inline void weigh_padded(phase const& phase, std::span<std::uint64_t const> lengths,
                         std::vector<std::uint64_t>& weights) {
    weights.resize(lengths.size());
    if (phase.pad_to == 1) {
        phase.cost.weigh(lengths, weights);
        return;
    }
    for (std::size_t item = 0; item < lengths.size(); ++item) {
        weights[item] = rounded_up(lengths[item], phase.pad_to, "orchestrate: a padded length");
    }
    phase.cost.weigh(weights, weights);
}

[[nodiscard]] inline std::uint64_t bytes_in_all(std::span<std::uint64_t const> bytes) {
    std::uint64_t total = 0;
    for (auto const one : bytes) {
        total = checked_add(total, one, "orchestrate: the bytes of a phase");
    }
    return total;
}

/// @throws std::overflow_error  if a length, a weight or the bytes of a phase do not fit into 64 bits.
[[nodiscard]] inline step_amounts amounts_of(step_samples const& samples, std::span<phase const> phases) {
    step_amounts result;
    result.phases.resize(phases.size());
    result.sequences = samples.text;
    for (std::size_t encoder = 0; encoder + 1 < phases.size(); ++encoder) {
        auto const& inputs = samples.inputs[encoder];
        auto const& phase = phases[encoder];
        auto& amounts = result.phases[encoder];
        weigh_padded(phase, inputs.lengths, amounts.weights);
        amounts.bytes.resize(inputs.lengths.size());
        amounts.output_bytes.resize(inputs.lengths.size());
        for (std::size_t sample = 0; sample < samples.size(); ++sample) {
            auto& sequence = result.sequences[sample];
            for (std::size_t unit = inputs.units.offsets[sample]; unit < inputs.units.offsets[sample + 1]; ++unit) {
                std::uint64_t const tokens = output_tokens(phase, inputs.lengths[unit]);
                sequence = checked_add(sequence, tokens, "orchestrate: the length of a sample");
                amounts.bytes[unit] =
                    checked_multiply(inputs.lengths[unit], phase.bytes_in, "orchestrate: the bytes of a unit");
                amounts.output_bytes[unit] =
                    checked_multiply(tokens, phase.bytes_out, "orchestrate: the bytes of an output");
            }
        }
        amounts.total_bytes = bytes_in_all(amounts.bytes);
        // Checked here once, so that traffic, forward and backward, need not.
        static_cast<void>(checked_multiply(2, bytes_in_all(amounts.output_bytes), "orchestrate: the bytes of a phase"));
    }
    auto& llm = result.phases.back();
    weigh_padded(phases.back(), result.sequences, llm.weights);
    llm.bytes.resize(samples.size());
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
        llm.bytes[sample] =
            checked_multiply(samples.text[sample], phases.back().bytes_in, "orchestrate: the bytes of a text");
    }
    llm.total_bytes = bytes_in_all(llm.bytes);
    return result;
}

}  // namespace evenkeel::detail
