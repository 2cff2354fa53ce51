// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/rearrange/units.hpp>

namespace evenkeel::detail {

/// What the items of one phase weigh and carry: units of an encoder, samples of the LLM.
struct phase_amounts {
    std::span<std::uint64_t const> weights;   ///< each for itself, without padding to others
    std::vector<std::uint64_t> padded;        ///< of these, what `phase_cost` pads; empty if nothing
    std::vector<std::uint64_t> bytes;         ///< before the phase: raw inputs; of the LLM: text
    std::vector<std::uint64_t> output_bytes;  ///< of an encoder
    std::vector<item_id> owners;              ///< of an encoder: the sample of each unit
    bool several_units = false;               ///< whether a sample has more than one
    std::uint64_t total_bytes = 0;
    std::uint64_t total_output_bytes = 0;

    std::vector<std::uint64_t> own_weights;  ///< what `weights` refers to, where that is not the lengths themselves
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
///
/// @param lengths  Are the weights where the cost is one of tokens, and then have to stay as long as these.
inline void weigh_padded(phase const& phase, std::span<std::uint64_t const> lengths, phase_amounts& amounts) {
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
            weights[item] = rounded_up(lengths[item], phase.pad_to, "orchestrate: a padded length");
        }
        phase.cost.weigh(weights, weights, amounts.padded);
    }
    amounts.weights = weights;
}

/// The sample of each unit, without asking each sample how many it has, which no processor foresees.
inline void write_owners(unit_map const& units, phase_amounts& amounts) {
    auto const& offsets = units.offsets;
    std::size_t bits = 0;  // of all numbers of units, found several at a time
    for (std::size_t sample = 0; sample < units.samples(); ++sample) {
        bits |= offsets[sample + 1] - offsets[sample];
    }
    amounts.several_units = bits > 1;
    if (amounts.several_units) {
        amounts.owners.clear();
    }
    amounts.owners.resize(units.units() + 1);
    for (std::size_t sample = 0; sample < units.samples(); ++sample) {
        // Of samples without units, the next that has some takes the place.
        amounts.owners[offsets[sample]] = to_id<item_id>(sample);
    }
    // Units that are not the first of their sample belong to that of the unit before.
    for (std::size_t unit = 1; unit < amounts.owners.size() && amounts.several_units; ++unit) {
        amounts.owners[unit] = std::max(amounts.owners[unit], amounts.owners[unit - 1]);
    }
    amounts.owners.pop_back();
}

/// Sums and products of bytes: checked, or, where all of a step are known to fit, as they are.
template <bool checked>
struct byte_arithmetic {
    [[nodiscard]] static std::uint64_t times(std::uint64_t a, std::uint64_t b, char const* what) {
        return checked ? checked_multiply(a, b, what) : a * b;
    }
    [[nodiscard]] static std::uint64_t plus(std::uint64_t a, std::uint64_t b, char const* what) {
        return checked ? checked_add(a, b, what) : a + b;
    }
    [[nodiscard]] static std::uint64_t in_all(std::span<std::uint64_t const> bytes) {
        std::uint64_t total = 0;
        for (auto const one : bytes) {
            total = plus(total, one, "orchestrate: the bytes of a phase");
        }
        return total;
    }
};

template <class Arithmetic>
void write_text_bytes(step_samples const& samples, phase const& llm, step_amounts& result) {
    auto& amounts = result.phases.back();
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
        std::uint64_t const text = samples.text[sample];
        amounts.bytes[sample] = Arithmetic::times(text, llm.bytes_in, "orchestrate: the bytes of a text");
        result.moving[sample] = amounts.bytes[sample];
        result.sequences[sample] = text;
        result.outputs[sample] = 0;
    }
    amounts.total_bytes = Arithmetic::in_all(amounts.bytes);
}

template <class Arithmetic>
void write_unit_bytes(std::span<std::uint64_t const> lengths, phase const& encoder, phase_amounts& amounts,
                      step_amounts& result) {
    std::uint64_t const ways = ways_of(encoder);
    for (std::size_t unit = 0; unit < lengths.size(); ++unit) {
        constexpr auto of_sample = "orchestrate: the bytes of a sample";
        std::size_t const sample = to_index(amounts.owners[unit]);
        std::uint64_t const tokens = output_tokens(encoder, lengths[unit]);
        amounts.bytes[unit] = Arithmetic::times(lengths[unit], encoder.bytes_in, "orchestrate: the bytes of a unit");
        std::uint64_t const bytes = Arithmetic::times(tokens, encoder.bytes_out, "orchestrate: the bytes of an output");
        amounts.output_bytes[unit] = bytes;
        result.sequences[sample] =
            Arithmetic::plus(result.sequences[sample], tokens, "orchestrate: the length of a sample");
        result.outputs[sample] = Arithmetic::plus(result.outputs[sample], bytes, of_sample);
        result.moving[sample] =
            Arithmetic::plus(result.moving[sample], Arithmetic::times(ways, bytes, of_sample), of_sample);
    }
    amounts.total_bytes = Arithmetic::in_all(amounts.bytes);
    amounts.total_output_bytes = Arithmetic::in_all(amounts.output_bytes);
    constexpr auto of_phase = "orchestrate: the bytes of a phase";
    static_cast<void>(
        Arithmetic::plus(amounts.total_bytes, Arithmetic::times(2, amounts.total_output_bytes, of_phase), of_phase));
}

template <class Arithmetic>
void write_bytes(step_samples const& samples, std::span<phase const> phases, step_amounts& result) {
    in_phase(phases, phases.size() - 1, [&] { write_text_bytes<Arithmetic>(samples, phases.back(), result); });
    for (std::size_t encoder = 0; encoder + 1 < phases.size(); ++encoder) {
        in_phase(phases, encoder, [&] {
            write_unit_bytes<Arithmetic>(samples.inputs[encoder].lengths, phases[encoder], result.phases[encoder],
                                         result);
        });
    }
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
    llm.output_bytes.clear();
    llm.several_units = false;
    llm.bytes.resize(samples.size());
    for (std::size_t encoder = 0; encoder + 1 < phases.size(); ++encoder) {
        auto const& inputs = samples.inputs[encoder];
        auto& amounts = result.phases[encoder];
        in_phase(phases, encoder, [&] { weigh_padded(phases[encoder], inputs.lengths, amounts); });
        amounts.bytes.resize(inputs.lengths.size());
        amounts.output_bytes.resize(inputs.lengths.size());
        write_owners(inputs.units, amounts);
    }
    if (all_bytes_fit(samples, phases)) {
        write_bytes<byte_arithmetic<false>>(samples, phases, result);
    } else {
        write_bytes<byte_arithmetic<true>>(samples, phases, result);
        static_cast<void>(byte_arithmetic<true>::in_all(result.moving));
    }
    in_phase(phases, phases.size() - 1, [&] { weigh_padded(phases.back(), result.sequences, llm); });
}

[[nodiscard]] inline step_amounts amounts_of(step_samples const& samples, std::span<phase const> phases) {
    step_amounts result;
    write_amounts(samples, phases, result);
    return result;
}

}  // namespace evenkeel::detail
