// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
#include <evenkeel/orchestrate/detail/phase_amounts.hpp>
#include <evenkeel/orchestrate/detail/write_bytes.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>

namespace evenkeel::detail {

/// @param name  Makes the name of the tokens, only where an error needs it.
template <class Name>
[[nodiscard]] std::uint64_t rounded_up(std::uint64_t tokens, std::uint64_t multiple, Name const& name) {
    std::uint64_t const rest = tokens % multiple;
    return rest == 0 ? tokens : sum_or_throw("orchestrate", tokens, multiple - rest, [&] {
        return name().append(" rounded up to pad_to");
    });
}

/// The weights of lengths that are padded up first.
///
/// @param lengths  Are the weights where the cost is one of tokens, and then have to stay as long as these.
/// @param name     Makes the name of a length by its number.
template <class Name>
void weigh_padded(phase const& phase, std::span<std::uint64_t const> lengths, phase_amounts& amounts,
                  Name const& name) {
    amounts.padded.resize(phase.cost.pads() ? lengths.size() : 0);
    if (phase.pad_to == 1 && phase.cost.counts_tokens()) {
        amounts.weights = lengths;
        return;
    }
    auto& weights = amounts.own_weights;
    weights.resize(lengths.size());
    if (phase.pad_to == 1) {
        phase.cost.weigh(lengths, weights, amounts.padded);
    } else {
        for (std::size_t item = 0; item < lengths.size(); ++item) {
            weights[item] = rounded_up(lengths[item], phase.pad_to, [&] { return name(item); });
        }
        try {
            phase.cost.weigh(weights, weights, amounts.padded);
        } catch (std::overflow_error const& error) {
            // It names a length that the caller has not given.
            throw std::overflow_error{std::string{error.what()}
                                          .append(", with lengths rounded up to pad_to = ")
                                          .append(std::to_string(phase.pad_to))};
        }
    }
    amounts.weights = weights;
}

/// Whether no sum of a step's tokens or bytes can exceed 64 bits, were all lengths as long as the longest.
[[nodiscard]] inline bool all_bytes_fit(step_samples const& samples, std::span<phase const> phases) noexcept {
    // As wide as the longest; found by bits, several at a time.
    std::uint64_t longest = 1;
    auto const look_at = [&](std::span<std::uint64_t const> lengths) {
        for (auto const length : lengths) {
            longest |= length;
        }
    };
    std::size_t count = samples.size();
    std::uint64_t bytes = 1;
    look_at(samples.text);
    for (auto const& inputs : samples.inputs) {
        count += inputs.lengths.size();
        look_at(inputs.lengths);
    }
    for (auto const& phase : phases) {
        bytes = std::max({bytes, phase.bytes_in, phase.bytes_out});
    }
    // Each unit counts at most three times: before the encoder, after it, and as a gradient.
    return std::bit_width(longest) + std::bit_width(count) + std::bit_width(bytes) <= 62;
}

/// Checks all sums once, so that plans and traffic need not.
///
/// @param result  Refers to lengths of `samples`.
/// @throws std::overflow_error  if a length, a weight or the bytes of a phase do not fit into 64 bits.
inline void write_amounts(step_samples const& samples, std::span<phase const> phases, step_amounts& result) {
    result.phases.resize(phases.size());
    result.sequences.resize(samples.size());
    result.outputs.resize(samples.size());
    result.moving.resize(samples.size());
    auto& llm = result.phases.back();
    // The last of other phases may have been an encoder.
    llm.owners.clear();
    llm.own_tokens.clear();
    llm.output_bytes = {};
    llm.several_units = false;
    llm.bytes = {samples.text, phases.back().bytes_in};
    llm.total_bytes = llm.total_output_bytes = 0;
    for (std::size_t encoder = 0; encoder + 1 < phases.size(); ++encoder) {
        auto const& inputs = samples.inputs[encoder];
        auto const& phase = phases[encoder];
        auto& amounts = result.phases[encoder];
        in_phase(phases, encoder, [&] {
            weigh_padded(phase, inputs.lengths, amounts,
                         [&](std::size_t unit) { return name_of_length(encoder, unit); });
        });
        bool const shortens = phase.tokens_per_output != 1;
        amounts.own_tokens.resize(shortens ? inputs.lengths.size() : 0);
        amounts.bytes = {inputs.lengths, phase.bytes_in};
        amounts.output_bytes = {shortens ? std::span<std::uint64_t const>{amounts.own_tokens} : inputs.lengths,
                                phase.bytes_out};
        amounts.owners.resize(inputs.units.units() + 1);
        amounts.several_units = false;
        amounts.total_bytes = amounts.total_output_bytes = 0;
    }
    if (all_bytes_fit(samples, phases)) {
        write_bytes<byte_arithmetic<false>>(samples, phases, result);
    } else {
        write_bytes<byte_arithmetic<true>>(samples, phases, result);
        static_cast<void>(byte_arithmetic<true>::in_all({result.moving, 1}, "samples with their outputs"));
    }
    for (std::size_t encoder = 0; encoder + 1 < phases.size(); ++encoder) {
        result.phases[encoder].owners.pop_back();
    }
    in_phase(phases, phases.size() - 1, [&] {
        weigh_padded(phases.back(), result.sequences, llm,
                     [](std::size_t sample) { return "the length of sample " + std::to_string(sample); });
    });
}

[[nodiscard]] inline step_amounts amounts_of(step_samples const& samples, std::span<phase const> phases) {
    step_amounts result;
    write_amounts(samples, phases, result);
    return result;
}

}  // namespace evenkeel::detail
