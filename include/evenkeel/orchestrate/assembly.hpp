// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/amounts.hpp>
#include <evenkeel/orchestrate/detail/arguments.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
#include <evenkeel/orchestrate/detail/require_batch.hpp>
#include <evenkeel/orchestrate/detail/require_of_step.hpp>
#include <evenkeel/orchestrate/packing.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel {

/// Where the output of a unit belongs in the packed sequences of its LLM instance.
struct output_slice {
    item_id unit{};
    std::int32_t start = 0;  ///< first token in memory, padding included
    std::int32_t tokens = 0;

    friend bool operator==(output_slice const&, output_slice const&) = default;
};

/// Where a run of a sample's text belongs.
struct text_slice {
    item_id sample{};
    std::int32_t from = 0;   ///< first token in the text of the sample
    std::int32_t start = 0;  ///< first token in memory, padding included
    std::int32_t tokens = 0;

    friend bool operator==(text_slice const&, text_slice const&) = default;
};

/// What an LLM instance makes of what it has received for one micro-batch: sequences in which every token has its
/// place.
struct assembly {
    packed_batch sequences;
    /// Per encoder, in the order in which the outputs have arrived (`planned_step::outputs`).
    std::vector<std::vector<output_slice>> outputs;
    std::vector<text_slice> text;
    std::uint64_t labels = 0;  ///< tokens that the loss counts

    friend bool operator==(assembly const&, assembly const&) = default;
};

namespace detail {

/// How many tokens of a sample the loss counts.
[[nodiscard]] inline std::uint64_t labels_of(step_samples const& samples, std::size_t sample) noexcept {
    return samples.labels.empty() ? samples.text[sample] : samples.labels[sample];
}

/// The pieces of one sample's sequence, put in order.
class sequence_builder {
  public:
    sequence_builder(step_samples const& samples, std::span<phase const> phases, planned_step const& step,
                     assembly& result)
        : samples_{samples}, phases_{phases}, step_{step}, result_{result} {
        result.outputs.resize(phases.size() - 1);
    }

    /// @throws std::invalid_argument  if the sample owns other units than in the step.
    [[nodiscard]] std::uint64_t length(item_id sample) const {
        std::uint64_t sum = samples_.text[to_index(sample)];
        for (std::size_t encoder = 0; encoder + 1 < phases_.size(); ++encoder) {
            auto const& inputs = samples_.inputs[encoder];
            require_offset(encoder, to_index(sample));
            require_offset(encoder, to_index(sample) + 1);
            for (std::size_t unit = inputs.units.offsets[to_index(sample)];
                 unit < inputs.units.offsets[to_index(sample) + 1]; ++unit) {
                sum = sum_or_throw("assembly_of", sum, output_tokens(phases_[encoder], inputs.lengths[unit]),
                                   [&] { return "the length of sample " + std::to_string(to_index(sample)); });
            }
        }
        return sum;
    }

    /// @param start  Of the sample's sequence in memory.
    void add(item_id sample, std::int32_t start, std::int32_t sequence) {
        runs_.clear();
        std::uint64_t next = 0;
        for (std::size_t encoder = 0; encoder + 1 < phases_.size(); ++encoder) {
            auto const& inputs = samples_.inputs[encoder];
            for (std::size_t unit = inputs.units.first(sample);
                 unit < inputs.units.first(sample) + inputs.units.count(sample); ++unit) {
                auto const tokens = static_cast<std::int32_t>(output_tokens(phases_[encoder], inputs.lengths[unit]));
                std::uint64_t const at = inputs.starts.empty() ? next : inputs.starts[unit];
                if (at > static_cast<std::uint64_t>(sequence - tokens)) {
                    refuse(encoder, unit, at,
                           "an output that ends in its sample's sequence of " + std::to_string(sequence) + " tokens");
                }
                auto const local = static_cast<std::int32_t>(at);
                result_.outputs[encoder].push_back({to_id<item_id>(unit), start + local, tokens});
                runs_.push_back({local, tokens, encoder, unit});
                next += static_cast<std::uint64_t>(tokens);
            }
        }
        add_text(sample, start, sequence);
        result_.labels = sum_or_throw("assembly_of", result_.labels, labels_of(samples_, to_index(sample)), [&] {
            return "the labels up to those of sample " + std::to_string(to_index(sample));
        });
    }

  private:
    struct run {
        std::int32_t start;
        std::int32_t tokens;
        std::size_t encoder;
        std::size_t unit;
    };

    void require_offset(std::size_t encoder, std::size_t sample) const {
        std::size_t const found = samples_.inputs[encoder].units.offsets[sample];
        if (std::size_t const planned = step_.units[encoder].offsets[sample]; found != planned) {
            throw_invalid("assembly_of: " + name_in_errors(phases_, encoder),
                          element(element("samples.inputs", encoder) + ".units.offsets", sample), found,
                          std::to_string(planned) + " as in the step");
        }
    }

    [[noreturn]] void refuse(std::size_t encoder, std::size_t unit, std::uint64_t at,
                             std::string const& expected) const {
        throw_invalid("assembly_of: " + name_in_errors(phases_, encoder),
                      element(element("samples.inputs", encoder) + ".starts", unit), at, expected);
    }

    /// Text is what lies between the outputs.
    void add_text(item_id sample, std::int32_t start, std::int32_t sequence) {
        std::ranges::sort(runs_, [](run const& a, run const& b) {
            return a.start != b.start ? a.start < b.start : std::pair{a.encoder, a.unit} < std::pair{b.encoder, b.unit};
        });
        std::int32_t text = 0;
        std::int32_t end = 0;
        auto const fill = [&](std::int32_t until) {
            if (until > end) {
                result_.text.push_back({sample, text, start + end, until - end});
                text += until - end;
            }
        };
        for (run const& one : runs_) {
            if (one.start < end && one.tokens > 0) {
                refuse(one.encoder, one.unit, static_cast<std::uint64_t>(one.start),
                       "a start outside the sample's other outputs");
            }
            fill(one.start);
            end = std::max(end, one.start + one.tokens);
        }
        fill(sequence);
    }

    step_samples const& samples_;
    std::span<phase const> phases_;
    planned_step const& step_;
    assembly& result_;
    std::vector<run> runs_;
};

}  // namespace detail

/// How an LLM instance puts the sequences of one micro-batch together.
///
///     // A rank of the example of `orchestrate`, with the sample of 64 image and 40 text tokens, and that of 100.
///     auto const mine = evenkeel::assembly_of(samples, phases, step, rank);
///     mine.sequences.offsets;     // 0, 104, 204: int32 cu_seqlens
///     mine.outputs[0][0].start;   // 0: the first image that has arrived goes to the front,
///     mine.text[0].start;         // 64: and the text of its sample behind it
///
/// @param samples, phases  As for `orchestrate`,
/// @param step             which has made this of them.
/// @param rank             An instance of the LLM's group, not a world rank.
/// @throws std::invalid_argument  if there is no step, it is of other numbers of samples, units, phases or world ranks,
///                                or it has no such rank or micro-batch; names the first output whose start lies in
///                                another one or past its sequence. One without tokens may lie in another: it puts
///                                nothing there.
/// @throws std::overflow_error    if the micro-batch has 2^31 tokens or more.
/// @complexity O(samples of the step + tokens of the batch)
[[nodiscard]] inline assembly assembly_of(step_samples const& samples, std::span<phase const> phases,
                                          planned_step const& step, rank_id rank, micro_batch_id micro_batch = {}) {
    detail::require_of_step("assembly_of", samples, phases, step);
    detail::on_behalf_of("assembly_of", [&] {
        for (std::size_t number = 0; number < phases.size(); ++number) {
            detail::in_phase(phases, number, [&] { detail::require_divisors(phases[number]); });
        }
    });
    auto const& plan = step.llm().plan;
    detail::require_batch("assembly_of", plan, rank, micro_batch, "the LLM's group");
    assembly result;
    detail::sequence_builder builder{samples, phases, step, result};
    std::vector<std::uint64_t> lengths(samples.size());
    for (item_id const sample : plan.batch(rank, micro_batch)) {
        lengths[to_index(sample)] = builder.length(sample);
    }
    result.sequences = packed(plan, rank, micro_batch, lengths, phases.back().pad_to);
    for (std::size_t number = 0; number < result.sequences.items.size(); ++number) {
        builder.add(result.sequences.items[number], result.sequences.padded_offsets[number],
                    result.sequences.offsets[number + 1] - result.sequences.offsets[number]);
    }
    return result;
}

}  // namespace evenkeel
