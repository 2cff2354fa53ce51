// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/rearrange/units.hpp>

namespace evenkeel {

/// What the samples of a step bring for one encoder.
struct encoder_inputs {
    unit_map units = {};                      ///< which units each sample owns
    std::vector<std::uint64_t> lengths = {};  ///< tokens of each unit, before the encoder

    /// Where in the LLM sequence of its sample the output of each unit begins, in tokens; the rest is text. Empty: the
    /// outputs of all encoders come first, phase by phase and unit by unit.
    std::vector<std::uint64_t> starts = {};

    friend bool operator==(encoder_inputs const&, encoder_inputs const&) = default;
};

/// The samples of one training step: world rank 0 drew the first `counts[0]`, rank 1 the next. The same on every rank.
///
///     // Two ranks; sample 0 has two images, sample 1 is text alone.
///     evenkeel::step_samples const samples{
///         .counts = {1, 1},
///         .text = {20, 300},
///         .inputs = {{.units = evenkeel::units_of(std::vector<std::size_t>{2, 0}), .lengths = {256, 88}}}};
struct step_samples {
    std::vector<std::size_t> counts = {};     ///< how many each world rank drew; ragged and zero are fine
    std::vector<std::uint64_t> text = {};     ///< text tokens of each sample
    std::vector<std::uint64_t> labels = {};   ///< tokens of each sample that the loss counts; empty: all text
    std::vector<encoder_inputs> inputs = {};  ///< of each encoder, in the order of the phases

    [[nodiscard]] std::size_t size() const noexcept { return text.size(); }

    friend bool operator==(step_samples const&, step_samples const&) = default;
};

}  // namespace evenkeel
