// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/communicator.hpp>
#include <evenkeel/comm/dispatcher.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/units.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/payloads.hpp"

namespace evenkeel::test {

/// Two encoders and an LLM, each over all ranks.
[[nodiscard]] inline std::vector<phase> omni_phases(world_size ranks) {
    return {{.name = "vision",
             .cost = attention_cost{.linear = 24576, .quadratic = 1},
             .group = flat_group(ranks),
             .bytes_in = 12,
             .bytes_out = 8,
             .tokens_per_output = 4},
            {.name = "audio", .group = flat_group(ranks), .bytes_in = 6, .bytes_out = 8},
            {.name = "llm",
             .cost = attention_cost{.linear = 24576, .quadratic = 1},
             .group = flat_group(ranks),
             .bytes_in = 4}};
}

/// Samples for them: of text alone, with images, with audio; `counts[r]` on rank r.
[[nodiscard]] inline step_samples omni_samples(std::uint64_t seed, std::vector<std::size_t> counts) {
    seeded random{seed};
    step_samples result{.counts = std::move(counts), .text = {}, .labels = {}, .inputs = {}};
    std::array<std::vector<std::size_t>, 2> units;
    std::array<std::vector<std::uint64_t>, 2> lengths;
    for (auto const count : result.counts) {
        for (std::size_t sample = 0; sample < count; ++sample) {
            std::uint64_t const kind = random.up_to(2);
            result.text.push_back(random.up_to(30));
            units[0].push_back(kind == 1 ? random.between(1, 3) : 0);
            units[1].push_back(kind == 2 ? 1 : 0);
            for (std::size_t encoder = 0; encoder < 2; ++encoder) {
                for (std::size_t unit = 0; unit < units[encoder].back(); ++unit) {
                    lengths[encoder].push_back(random.up_to(60));
                }
            }
        }
    }
    for (std::size_t encoder = 0; encoder < 2; ++encoder) {
        result.inputs.push_back({.units = units_of(units[encoder]), .lengths = lengths[encoder], .starts = {}});
    }
    return result;
}

/// What one rank knows of a step and holds of it: every byte says which item, field and plane it is of.
class dispatched {
  public:
    dispatched(step_samples all, std::vector<phase> phases, world_rank self)
        : all_{std::move(all)}, phases_{std::move(phases)}, self_{self}, home_{home_layout(all_.counts)} {
        std::size_t first = 0;
        for (std::size_t rank = 0; rank < to_index(self_); ++rank) {
            first += all_.counts[rank];
        }
        std::size_t const count = all_.counts[to_index(self_)];
        mine_.text = std::span{all_.text}.subspan(first, count);
        if (!all_.labels.empty()) {
            mine_.labels = std::span{all_.labels}.subspan(first, count);
        }
        for (auto const& inputs : all_.inputs) {
            auto const& offsets = inputs.units.offsets;
            auto& counts = counts_.emplace_back();
            for (std::size_t sample = first; sample < first + count; ++sample) {
                counts.push_back(offsets[sample + 1] - offsets[sample]);
            }
            std::size_t const units = offsets[first + count] - offsets[first];
            units_.push_back({.counts = counts, .lengths = std::span{inputs.lengths}.subspan(offsets[first], units)});
            if (!inputs.starts.empty()) {
                units_.back().starts = std::span{inputs.starts}.subspan(offsets[first], units);
            }
        }
        mine_.units = units_;
        for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
            add_field("raw", phase, comm::field_rows::per_token, phases_[phase].bytes_in, 1, 1);
            add_field("id", phase, comm::field_rows::per_item, 3, 8, 1);
        }
        add_field("position ids", phases_.size() - 1, comm::field_rows::per_output, 1, 2, 3);
    }
    dispatched(dispatched const&) = delete;
    dispatched& operator=(dispatched const&) = delete;

    [[nodiscard]] comm::drawn_samples const& samples() const noexcept { return mine_; }
    [[nodiscard]] std::span<comm::step_field> fields() noexcept { return fields_; }

    /// All of `step` is here, and nothing else.
    void expect_arrived(comm::dispatched_step const& step) const {
        EXPECT_EQ(step.samples().text, all_.text);
        for (std::size_t number = 0; number < fields_.size(); ++number) {
            auto const expected = buffer(step.plan().phases[fields_[number].phase].layout, number);
            auto const found = step.arrived(number);
            EXPECT_TRUE(std::ranges::equal(found, expected)) << "field " << number << " of step " << step.number();
        }
    }

    /// Outputs and gradients of all encoders, outputs twice, as when activations are computed again.
    void expect_to_move_outputs(comm::dispatched_step& step) const {
        for (std::size_t encoder = 0; encoder < all_.inputs.size(); ++encoder) {
            auto const outputs = step.plan().outputs(encoder);
            for (int times = 0; times < 2; ++times) {
                expect_to_move(step, encoder, outputs, true);
            }
        }
        for (std::size_t encoder = 0; encoder < all_.inputs.size(); ++encoder) {
            expect_to_move(step, encoder, invert(step.plan().outputs(encoder)), false);
        }
    }

    /// The same, one micro-batch after the other.
    void expect_to_move_micro_batches(comm::dispatched_step& step) const {
        for (std::size_t number = 0; number < step.plan().llm().plan.micro_batches; ++number) {
            auto const one = to_id<micro_batch_id>(number);
            for (std::size_t encoder = 0; encoder < all_.inputs.size(); ++encoder) {
                expect_to_move(step, encoder, step.plan().outputs(encoder), true, one);
                expect_to_move(step, encoder, invert(step.plan().outputs(encoder)), false, one);
            }
        }
    }

  private:
    using bytes = std::vector<std::byte>;

    void add_field(std::string_view name, std::size_t phase, comm::field_rows rows, std::uint64_t columns,
                   std::uint64_t element_bytes, std::uint64_t planes) {
        fields_.push_back({.name = name,
                           .phase = phase,
                           .bytes = {},
                           .rows = rows,
                           .columns = columns,
                           .element_bytes = element_bytes,
                           .planes = planes});
        bool const encoder = phase < all_.inputs.size();
        buffers_.push_back(buffer(encoder ? expand(home_, all_.inputs[phase].units) : home_, fields_.size() - 1));
        fields_.back().bytes = buffers_.back();
    }

    [[nodiscard]] std::uint64_t output_tokens(std::size_t encoder, std::size_t unit) const {
        std::uint64_t const down = phases_[encoder].tokens_per_output;
        return (all_.inputs[encoder].lengths[unit] + down - 1) / down;
    }

    [[nodiscard]] std::uint64_t rows_of(std::size_t number, std::size_t item) const {
        auto const& field = fields_[number];
        bool const encoder = field.phase < all_.inputs.size();
        if (field.rows == comm::field_rows::per_item) {
            return 1;
        }
        if (field.rows == comm::field_rows::per_token) {
            return encoder ? all_.inputs[field.phase].lengths[item] : all_.text[item];
        }
        if (encoder) {
            return output_tokens(field.phase, item);
        }
        std::uint64_t tokens = all_.text[item];
        for (std::size_t e = 0; e < all_.inputs.size(); ++e) {
            auto const& offsets = all_.inputs[e].units.offsets;
            for (std::size_t unit = offsets[item]; unit < offsets[item + 1]; ++unit) {
                tokens += output_tokens(e, unit);
            }
        }
        return tokens;
    }

    template <class Rows>
    [[nodiscard]] bytes filled(layout const& layout, std::uint64_t origin, std::uint64_t planes,
                               std::uint64_t row_bytes, Rows const& rows,
                               std::optional<micro_batch_id> only = {}) const {
        bytes result;
        for (std::uint64_t plane = 0; plane < planes; ++plane) {
            for (item_id const item : items_on(layout, self_)) {
                if (only && layout[item].micro_batch != *only) {
                    continue;
                }
                auto const one =
                    payload((origin * 8 + plane) * 100'000 + to_index(item), rows(to_index(item)) * row_bytes);
                result.insert(result.end(), one.begin(), one.end());
            }
        }
        return result;
    }

    [[nodiscard]] bytes buffer(layout const& layout, std::size_t number) const {
        auto const& field = fields_[number];
        return filled(layout, number, field.planes, field.columns * field.element_bytes,
                      [&](std::size_t item) { return rows_of(number, item); });
    }

    void expect_to_move(comm::dispatched_step& step, std::size_t encoder, rearrangement const& move, bool forward,
                        std::optional<micro_batch_id> only = {}) const {
        auto const rows = [&](std::size_t unit) { return output_tokens(encoder, unit); };
        auto const hidden = filled(move.from(), 100 + forward, 1, phases_[encoder].bytes_out, rows, only);
        auto const stacked = filled(move.from(), 102 + forward, 2, 3, rows, only);
        auto const here = step.rows_of(encoder, only);
        std::uint64_t const arriving = forward ? here.at_llm : here.at_encoder;
        auto target = untouched_bytes(arriving * phases_[encoder].bytes_out);
        auto stacked_target = untouched_bytes(arriving * 6);
        std::array const fields{
            comm::output_field{
                .name = "hidden", .source = hidden, .target = target, .columns = phases_[encoder].bytes_out},
            comm::output_field{
                .name = "stacked", .source = stacked, .target = stacked_target, .columns = 3, .planes = 2}};
        comm::output_options const options{.micro_batch = only};
        (forward ? step.forward(encoder, fields, options) : step.backward(encoder, fields, options)).wait(patience);
        EXPECT_EQ(target, filled(move.to(), 100 + forward, 1, phases_[encoder].bytes_out, rows, only));
        EXPECT_EQ(stacked_target, filled(move.to(), 102 + forward, 2, 3, rows, only));
    }

    step_samples all_;
    std::vector<phase> phases_;
    world_rank self_;
    layout home_;
    comm::drawn_samples mine_;
    std::deque<std::vector<std::size_t>> counts_;
    std::vector<comm::drawn_units> units_;
    std::vector<comm::step_field> fields_;
    std::deque<bytes> buffers_;
};

}  // namespace evenkeel::test
