// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace evenkeel {

/// How many micro-batches `micro_batches` makes, and when it may stop.
///
///     evenkeel::micro_batches(lengths, ranks, model, {.cap = 16384, .multiple_of = 4});   // 4, or 8, or 12 ...
struct micro_batch_options {
    /// The most tokens of a rank in one micro-batch, as the model runs them; none, unless asked.
    std::optional<std::uint64_t> cap = {};

    /// How many micro-batches; 0 for as few as the cap allows.
    std::size_t count = 0;

    /// Their number is a multiple of this, as interleaved pipelines want it,
    std::size_t multiple_of = 1;
    /// and no less than this.
    std::size_t at_least = 1;

    /// Good enough: a sum of the slowest ranks of at most lower bound * (1 + tolerance), or micro-batches that are each
    /// as close to what was set for them. Finer than most cost models are.
    double tolerance = 1e-3;

    /// As in `balance_options`.
    std::uint64_t effort = 128;
    std::uint64_t resolution = 1;

    /// The number of the training step, as in `wishes`: what rank r would do at step 0, another rank does, in turns.
    /// What neither weighs anything nor has tokens stays at home.
    std::uint64_t step = 0;

    friend bool operator==(micro_batch_options const&, micro_batch_options const&) = default;
};

}  // namespace evenkeel
