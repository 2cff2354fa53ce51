// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/orchestrate/detail/in_phase.hpp>
#include <evenkeel/orchestrate/detail/overflow.hpp>
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

/// "samples.inputs[1].lengths[7]"
[[nodiscard]] inline std::string name_of_length(std::size_t encoder, std::size_t unit) {
    return element(element("samples.inputs", encoder) + ".lengths", unit);
}

/// Sums and products of bytes: checked, or, where all of a step are known to fit, as they are.
template <bool checked>
struct byte_arithmetic {
    /// @param name  Makes the name of the result, only where an error needs it.
    template <class Name>
    [[nodiscard]] static std::uint64_t times(std::uint64_t a, std::uint64_t b, Name const& name) {
        if constexpr (checked) {
            return product_or_throw("orchestrate", a, b, name);
        }
        return a * b;
    }
    template <class Name>
    [[nodiscard]] static std::uint64_t plus(std::uint64_t a, std::uint64_t b, Name const& name) {
        if constexpr (checked) {
            return sum_or_throw("orchestrate", a, b, name);
        }
        return a + b;
    }
    /// @param items  What they are called in an error.
    [[nodiscard]] static std::uint64_t in_all(bytes_by_token const& bytes, char const* items) {
        std::uint64_t const times_each = checked ? bytes.per_token : 1;
        std::uint64_t total = 0;
        for (auto const& tokens : bytes.tokens) {
            total = plus(total, tokens * times_each, [&] {
                return "the size of the first " + std::to_string(&tokens - bytes.tokens.data() + 1) + " " + items;
            });
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
        result.moving[sample] =
            Arithmetic::times(text, per_token, [&] { return element("samples.text", sample) + " * bytes_in"; });
        result.sequences[sample] = text;
        result.outputs[sample] = 0;
    }
}

/// Of the units of samples `first` to before `last`.
///
/// @param number  Of the encoder.
template <class Arithmetic>
void write_unit_bytes(encoder_inputs const& inputs, phase const& encoder, std::size_t number, std::size_t first,
                      std::size_t last, phase_amounts& amounts, step_amounts& result) {
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
        auto const of_unit = [&](char const* what) { return what + std::to_string(unit); };
        auto const of_sample = [&](char const* what) { return what + std::to_string(sample); };
        static_cast<void>(Arithmetic::times(lengths[unit], encoder.bytes_in,
                                            [&] { return name_of_length(number, unit) + " * bytes_in"; }));
        std::uint64_t const bytes = Arithmetic::times(
            tokens, encoder.bytes_out, [&] { return of_unit("the output tokens of unit ") + " * bytes_out"; });
        std::uint64_t const both_ways =
            Arithmetic::times(ways, bytes, [&] { return of_unit("the size of the output and the gradient of unit "); });
        sequences[sample] =
            Arithmetic::plus(sequences[sample], tokens, [&] { return of_sample("the length of sample "); });
        outputs[sample] =
            Arithmetic::plus(outputs[sample], bytes, [&] { return of_sample("the size of the outputs of sample "); });
        moving[sample] = Arithmetic::plus(moving[sample], both_ways, [&] {
            return of_sample("the size of sample ") + " with outputs and gradients";
        });
    }
}

/// What all items of a phase carry, once each is known to fit.
template <class Arithmetic>
void add_up_bytes(phase_amounts& amounts, char const* items) {
    amounts.total_bytes = Arithmetic::in_all(amounts.bytes, items);
    amounts.total_output_bytes = Arithmetic::in_all(amounts.output_bytes, "outputs");
    std::uint64_t const both_ways =
        Arithmetic::times(2, amounts.total_output_bytes, [] { return "the size of all outputs and gradients"; });
    static_cast<void>(Arithmetic::plus(amounts.total_bytes, both_ways,
                                       [] { return "the size of all units, outputs and gradients"; }));
}

template <class Arithmetic>
void write_bytes(step_samples const& samples, std::span<phase const> phases, step_amounts& result) {
    std::size_t const encoders = phases.size() - 1;
    for (std::size_t first = 0, last = 0; first < samples.size(); first = last) {
        last = std::min(samples.size(), first + Arithmetic::at_once(samples.size()));
        in_phase(phases, encoders, [&] {
            write_text_bytes<Arithmetic>(result.phases.back(), first, last, result);
            if (last == samples.size()) {
                add_up_bytes<Arithmetic>(result.phases.back(), "texts");
            }
        });
        for (std::size_t encoder = 0; encoder < encoders; ++encoder) {
            auto& amounts = result.phases[encoder];
            in_phase(phases, encoder, [&] {
                write_unit_bytes<Arithmetic>(samples.inputs[encoder], phases[encoder], encoder, first, last, amounts,
                                             result);
                if (last == samples.size()) {
                    add_up_bytes<Arithmetic>(amounts, "units");
                }
            });
        }
    }
}

}  // namespace evenkeel::detail
