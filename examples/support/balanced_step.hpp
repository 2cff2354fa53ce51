// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/core/quality.hpp>
#include <evenkeel/rearrange/traffic.hpp>

#include "plot.hpp"
#include "report.hpp"

namespace evenkeel::examples {

/// What a token of a phase has in bytes, before the phase and after it: those of patches of 28 x 28 pixels, of frames
/// of 128 frequencies, of token ids, and of 3584 hidden values of 16 bits.
struct token_bytes {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
};

[[nodiscard]] token_bytes bytes_per_token(std::string_view phase) noexcept;

/// How much of it really travels: `numerator / denominator` of the bytes, rounded up; or `fixed` bytes, if not 0.
struct payload_scale {
    std::uint64_t numerator = 1;
    std::uint64_t denominator = 256;
    std::uint64_t fixed = 0;

    [[nodiscard]] std::uint64_t of(std::uint64_t bytes) const noexcept;

    friend bool operator==(payload_scale const&, payload_scale const&) = default;
};

/// How a phase is balanced.
enum class method : std::uint8_t {
    scratch,  ///< without regard to where samples are
    relabel,  ///< the same, then each batch goes to the rank that keeps most bytes in its node
    stay,     ///< from where samples are, moving as little as possible
    llm_only  ///< the LLM as by `stay`, each encoder where its samples are then; needs an LLM
};

/// What one rank has drawn for one step.
struct drawn_step {
    /// The number of the step's first sample, counted over all steps: samples of two steps are told apart.
    std::uint64_t first_sample = 0;
    /// Per phase, the length of each of the rank's samples. Where there is an LLM, it is last, and what is not in the
    /// other phases is its text.
    std::vector<std::vector<std::uint64_t>> lengths;
};

/// What balancing did to one phase of one step; the same on every rank, but for the time.
struct phase_outcome {
    evenkeel::quality before;
    evenkeel::quality after;
    /// Moves, weighted by length.
    evenkeel::traffic moves;
    /// The processor time that this rank spent on its plan.
    double plan_ms = 0;
    /// Per rank, in the order before and after.
    std::vector<std::uint64_t> loads_before;
    std::vector<std::uint64_t> loads_after;
};

/// The same of a whole step.
struct step_outcome {
    std::vector<phase_outcome> phases = {};
    /// At full size, over all ranks.
    std::vector<phase_bytes> bytes = {};
    std::uint64_t composed_saving = 0;
};

/// One training step's balancing as each rank runs it, next to the other ranks: all-gather the lengths, plan all
/// phases, move inputs, outputs, their gradients and text to where the plans say and check every byte that has arrived.
///
/// @param names    Of the phases: encoders, and `llm` as the last, if at all.
/// @param how      Plans each phase.
/// @param checked  What this rank sent, and what arrived wrong, is added here.
[[nodiscard]] step_outcome balance_step(comm::communicator& communicator, std::span<std::string const> names,
                                        drawn_step const& drawn, method how, payload_scale const& scale,
                                        exchange_report& checked);

}  // namespace evenkeel::examples
