// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <evenkeel/core/checked.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/phase_amounts.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>
#include <evenkeel/rearrange/units.hpp>

namespace evenkeel::detail {

/// The sample of each unit of samples `first` to before `last`, without asking each how many it has, which no processor
/// foresees.
///
/// @param amounts  Its owners have room for one more.
inline void write_owners(unit_map const& units, std::size_t first, std::size_t last, phase_amounts& amounts) {
    auto const offsets = std::span{units.offsets};
    auto const owners = std::span{amounts.owners};
    std::size_t bits = 0;  // of all numbers of units, found several at a time
    for (std::size_t sample = first; sample < last; ++sample) {
        bits |= offsets[sample + 1] - offsets[sample];
    }
    bool const several = bits > 1;
    if (several) {
        amounts.several_units = true;
        std::ranges::fill(owners.subspan(offsets[first], offsets[last] - offsets[first]), item_id{0});
    }
    for (std::size_t sample = first; sample < last; ++sample) {
        // Of samples without units, the next that has some takes the place.
        owners[offsets[sample]] = to_id<item_id>(sample);
    }
    // Units that are not the first of their sample belong to that of the unit before.
    for (std::size_t unit = offsets[first] + 1; unit < offsets[last] && several; ++unit) {
        owners[unit] = std::max(owners[unit], owners[unit - 1]);
    }
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
    [[nodiscard]] static std::uint64_t in_all(bytes_by_token const& bytes) {
        std::uint64_t const times_each = checked ? bytes.per_token : 1;
        std::uint64_t total = 0;
        for (auto const tokens : bytes.tokens) {
            total = plus(total, tokens * times_each, "orchestrate: the bytes of a phase");
        }
        return checked ? total : total * bytes.per_token;
    }

    /// So many samples at a time, that what is written of them stays at hand. What has to be checked is checked phase
    /// by phase, so that the first error is that of the first phase.
    [[nodiscard]] static constexpr std::size_t at_once(std::size_t all) noexcept {
        return checked ? std::max<std::size_t>(all, 1) : 1024;
    }
};

/// Of samples `first` to before `last`.
template <class Arithmetic>
void write_text_bytes(phase_amounts const& llm, std::size_t first, std::size_t last, step_amounts& result) {
    auto const [tokens, per_token] = llm.bytes;
    for (std::size_t sample = first; sample < last; ++sample) {
        std::uint64_t const text = tokens[sample];
        result.moving[sample] = Arithmetic::times(text, per_token, "orchestrate: the bytes of a text");
        result.sequences[sample] = text;
        result.outputs[sample] = 0;
    }
}

/// Of the units of samples `first` to before `last`.
template <class Arithmetic>
void write_unit_bytes(encoder_inputs const& inputs, phase const& encoder, std::size_t first, std::size_t last,
                      phase_amounts& amounts, step_amounts& result) {
    constexpr auto of_sample = "orchestrate: the bytes of a sample";
    write_owners(inputs.units, first, last, amounts);
    std::uint64_t const ways = ways_of(encoder);
    // Copies, for a sum might be stored anywhere, as far as a compiler knows.
    auto const owners = std::span<item_id const>{amounts.owners};
    auto const lengths = std::span{inputs.lengths};
    auto const own_tokens = std::span{amounts.own_tokens};
    auto const sequences = std::span{result.sequences};
    auto const outputs = std::span{result.outputs};
    auto const moving = std::span{result.moving};
    std::size_t const last_unit = inputs.units.offsets[last];
    for (std::size_t unit = inputs.units.offsets[first]; unit < last_unit; ++unit) {
        std::size_t const sample = to_index(owners[unit]);
        std::uint64_t const tokens = output_tokens(encoder, lengths[unit]);
        if (!own_tokens.empty()) {
            own_tokens[unit] = tokens;
        }
        static_cast<void>(Arithmetic::times(lengths[unit], encoder.bytes_in, "orchestrate: the bytes of a unit"));
        std::uint64_t const bytes = Arithmetic::times(tokens, encoder.bytes_out, "orchestrate: the bytes of an output");
        sequences[sample] = Arithmetic::plus(sequences[sample], tokens, "orchestrate: the length of a sample");
        outputs[sample] = Arithmetic::plus(outputs[sample], bytes, of_sample);
        moving[sample] = Arithmetic::plus(moving[sample], Arithmetic::times(ways, bytes, of_sample), of_sample);
    }
}

/// What all items of a phase carry, once each is known to fit.
template <class Arithmetic>
void add_up_bytes(phase_amounts& amounts) {
    constexpr auto of_phase = "orchestrate: the bytes of a phase";
    amounts.total_bytes = Arithmetic::in_all(amounts.bytes);
    amounts.total_output_bytes = Arithmetic::in_all(amounts.output_bytes);
    static_cast<void>(
        Arithmetic::plus(amounts.total_bytes, Arithmetic::times(2, amounts.total_output_bytes, of_phase), of_phase));
}

template <class Arithmetic>
void write_bytes(step_samples const& samples, std::span<phase const> phases, step_amounts& result) {
    std::size_t const encoders = phases.size() - 1;
    for (std::size_t first = 0, last = 0; first < samples.size(); first = last) {
        last = std::min(samples.size(), first + Arithmetic::at_once(samples.size()));
        in_phase(phases, encoders, [&] {
            write_text_bytes<Arithmetic>(result.phases.back(), first, last, result);
            if (last == samples.size()) {
                add_up_bytes<Arithmetic>(result.phases.back());
            }
        });
        for (std::size_t encoder = 0; encoder < encoders; ++encoder) {
            auto& amounts = result.phases[encoder];
            in_phase(phases, encoder, [&] {
                write_unit_bytes<Arithmetic>(samples.inputs[encoder], phases[encoder], first, last, amounts, result);
                if (last == samples.size()) {
                    add_up_bytes<Arithmetic>(amounts);
                }
            });
        }
    }
}

}  // namespace evenkeel::detail
