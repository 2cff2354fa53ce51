// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/phase.hpp>

namespace evenkeel::detail {

/// Bytes of items that have so many per token. They are known to fit into 64 bits: multiplying is quicker than reading.
struct bytes_by_token {
    std::span<std::uint64_t const> tokens;
    std::uint64_t per_token = 0;

    [[nodiscard]] std::uint64_t operator[](std::size_t item) const noexcept { return tokens[item] * per_token; }
    [[nodiscard]] std::size_t size() const noexcept { return tokens.size(); }
};

/// What the items of one phase weigh and carry: units of an encoder, samples of the LLM.
struct phase_amounts {
    std::span<std::uint64_t const> weights;  ///< each for itself, without padding to others
    std::vector<std::uint64_t> padded;       ///< of these, what `phase_cost` pads; empty if nothing
    bytes_by_token bytes;                    ///< before the phase: raw inputs; of the LLM: text
    bytes_by_token output_bytes;             ///< of an encoder
    std::vector<item_id> owners;             ///< of an encoder: the sample of each unit
    bool several_units = false;              ///< whether a sample has more than one
    std::uint64_t total_bytes = 0;
    std::uint64_t total_output_bytes = 0;

    std::vector<std::uint64_t> own_weights;  ///< what `weights` refers to, where that is not the lengths themselves
    std::vector<std::uint64_t> own_tokens;   ///< the same of the tokens of `output_bytes`

    /// Whether bytes are the same multiple of all weights: these then stand for bytes, and none need be written.
    [[nodiscard]] bool weights_are_bytes() const noexcept {
        return bytes.per_token > 0 && weights.data() == bytes.tokens.data();
    }
};

/// The same for all phases of a step, and what the samples have of them together.
struct step_amounts {
    std::vector<phase_amounts> phases;
    std::vector<std::uint64_t> sequences;  ///< tokens of each sample in the LLM, unpadded
    std::vector<std::uint64_t> outputs;    ///< bytes of each sample's outputs, one way
    std::vector<std::uint64_t> moving;  ///< bytes that moving each sample's LLM place costs: text, outputs, gradients
};

/// How often the outputs of an encoder travel: forward, and their gradients back.
[[nodiscard]] inline std::uint64_t ways_of(phase const& encoder) noexcept { return encoder.trained ? 2 : 1; }

}  // namespace evenkeel::detail
