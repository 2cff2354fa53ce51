// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <evenkeel/comm/stream.hpp>
#include <evenkeel/core/ids.hpp>

namespace evenkeel::comm {

/// What the samples of this rank bring for one encoder.
struct drawn_units {
    std::span<std::size_t const> counts;         ///< how many units each sample owns
    std::span<std::uint64_t const> lengths;      ///< tokens of each unit, before the encoder
    std::span<std::uint64_t const> starts = {};  ///< as `encoder_inputs::starts`; on all ranks or on none
};

/// The samples that this rank has drawn for one step: its part of `step_samples`. None is fine.
///
///     // Two samples: one with two images, one of text alone.
///     std::vector<std::uint64_t> const text{20, 300}, images{256, 88};
///     std::vector<std::size_t> const counts{2, 0};
///     evenkeel::comm::drawn_units const vision{.counts = counts, .lengths = images};
///     evenkeel::comm::drawn_samples const mine{.text = text, .units = {&vision, 1}};
struct drawn_samples {
    std::span<std::uint64_t const> text;         ///< text tokens of each sample
    std::span<std::uint64_t const> labels = {};  ///< tokens of each that the loss counts; empty: all text
    std::span<drawn_units const> units = {};     ///< of each encoder, in the order of the phases
};

/// How many rows of a field an item has.
enum class field_rows : std::uint8_t {
    per_item,   ///< one
    per_token,  ///< one for each token: of a unit before its encoder, of the text of a sample
    per_output  ///< one for each token in the LLM: of a unit's output, of a sample's whole sequence
};

/// A payload of this rank's items, one buffer: the items in the order in which they were drawn, without gaps.
///
///     // Position ids, three planes of one 64-bit number for each token of the sequence: [3][tokens of all samples]
///     step_field{.name = "position ids", .phase = llm, .bytes = ids, .rows = field_rows::per_output,
///                .element_bytes = 8, .planes = 3}
///
/// All but `bytes` is the same on every rank. How many rows an item has follows from the lengths, so every rank knows
/// the size of what it will receive.
struct step_field {
    std::string_view name;
    std::size_t phase = 0;  ///< whose items carry it: units of an encoder, or samples for the LLM, which is the last
    std::span<std::byte const> bytes;
    field_rows rows = field_rows::per_token;
    std::uint64_t columns = 1;  ///< elements of a row
    std::uint64_t element_bytes = 1;

    /// So many arrays of all rows, one after the other: the axis of the rows, which is ragged, is the second.
    std::uint64_t planes = 1;
};

/// A tensor that an encoder has put out, or its gradient: one row for each token that the LLM takes in. On the host, or
/// all fields of a transfer on a device, with `dispatcher_options::outputs`.
struct output_field {
    std::string_view name;
    std::span<std::byte const> source;  ///< this rank's units, in the order of the layout that they leave
    std::span<std::byte> target;        ///< room for those that arrive; overlaps no source
    std::uint64_t columns = 1;
    std::uint64_t element_bytes = 1;
    std::uint64_t planes = 1;
};

/// Which outputs move, and on which queue.
struct output_options {
    /// One micro-batch alone, as the LLM is about to run it; its units lie together in the buffers. Default: all.
    std::optional<micro_batch_id> micro_batch = {};
    /// Sources are read when what is on it before is complete; what is put there after `wait` finds the targets filled.
    stream on = {};
};

/// How many rows of an `output_field` this rank has.
struct output_rows {
    std::uint64_t at_encoder = 0;
    std::uint64_t at_llm = 0;

    friend bool operator==(output_rows const&, output_rows const&) = default;
};

}  // namespace evenkeel::comm
