// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace.hpp"

namespace evenkeel::examples {

/// One phase of the training step, with the length that each row of a trace has in it.
struct phase_lengths {
    std::string name = {};
    std::vector<std::uint64_t> lengths = {};

    friend bool operator==(phase_lengths const&, phase_lengths const&) = default;
};

/// The phases that a trace calls for: an encoder for each column other than `text`, in the order of the columns, and
/// then `llm`, whose length is the sum of all columns.
[[nodiscard]] std::vector<phase_lengths> phases_of(trace const& trace);

/// How rows become samples: every step draws the next `ranks * samples_per_rank` rows, every rank a consecutive run of
/// them, and after the last row comes the first again.
///
///     drawing{.ranks = 2, .samples_per_rank = 3}.rows(0, rank_1, 10);    // 3, 4, 5
///     drawing{.ranks = 2, .samples_per_rank = 3}.rows(1, rank_1, 10);    // 9, 0, 1
struct drawing {
    std::size_t ranks = 1;
    std::size_t samples_per_rank = 1;

    [[nodiscard]] std::size_t samples() const noexcept { return ranks * samples_per_rank; }

    /// The rows that `rank` draws in `step`, out of `of` rows, of which there must be one.
    [[nodiscard]] std::vector<std::size_t> rows(std::size_t step, std::size_t rank, std::size_t of) const;

    /// The lengths that `rank` draws in `step`, out of one length per row.
    [[nodiscard]] std::vector<std::uint64_t> lengths(std::size_t step, std::size_t rank,
                                                     std::span<std::uint64_t const> per_row) const;
};

/// How many tokens all phases of the heaviest of the first `steps` steps have together, to about 15 digits; what a step
/// needs of memory follows from it.
[[nodiscard]] double heaviest_step(std::span<phase_lengths const> phases, drawing const& drawing, std::size_t steps);

}  // namespace evenkeel::examples
