// SPDX-License-Identifier: Apache-2.0
#include "balanced_step.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <numeric>
#include <utility>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/core/group.hpp>
#include <evenkeel/orchestrate.hpp>
#include <evenkeel/rearrange.hpp>

#include "llm_only.hpp"
#include "payload.hpp"

namespace evenkeel::examples {

namespace {

/// A rank that has not come by then will not come: the ranks of this job may be threads that share two processors.
constexpr std::chrono::minutes patience{10};

/// Wall time would count the other ranks, which may be threads of the same processors.
double processor_ms() {
    std::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// The sample after sample, phase after phase form that is gathered.
std::vector<std::uint64_t> by_sample(drawn_step const& drawn) {
    std::vector<std::uint64_t> values;
    std::size_t const samples = drawn.lengths.front().size();
    values.reserve(samples * drawn.lengths.size());
    for (std::size_t sample = 0; sample < samples; ++sample) {
        for (auto const& phase : drawn.lengths) {
            values.push_back(phase[sample]);
        }
    }
    return values;
}

/// A step for the orchestrator: every sample is one unit of each encoder that it has tokens for.
struct step_input {
    step_samples samples;
    std::vector<evenkeel::phase> phases;
};

step_input input_of(comm::gathered_lengths const& lengths, std::span<std::string const> names, method how) {
    constexpr std::array methods{phase_method::scratch, phase_method::relabel, phase_method::stay, phase_method::stay};
    bool const with_llm = names.back() == "llm";
    std::size_t const encoders = names.size() - (with_llm ? 1 : 0);
    auto const ranks = flat_group({lengths.counts.size()});
    std::size_t const samples = lengths[0].size();
    step_input result;
    result.samples.counts = lengths.counts;
    result.samples.text.assign(samples, 0);
    if (with_llm) {
        result.samples.text.assign(lengths[encoders].begin(), lengths[encoders].end());
    }
    for (std::size_t encoder = 0; encoder < encoders; ++encoder) {
        auto const bytes = bytes_per_token(names[encoder]);
        std::vector<std::size_t> units(samples);
        auto& inputs = result.samples.inputs.emplace_back();
        for (std::size_t sample = 0; sample < samples; ++sample) {
            std::uint64_t const tokens = lengths[encoder][sample];
            // A unit of nothing would still be given a place.
            if (tokens > 0) {
                units[sample] = 1;
                inputs.lengths.push_back(tokens);
            }
            result.samples.text[sample] -= with_llm ? tokens : 0;
        }
        inputs.units = units_of(units);
        result.phases.push_back({.name = names[encoder],
                                 .group = ranks,
                                 .bytes_in = bytes.in,
                                 .bytes_out = with_llm ? bytes.out : 0,
                                 .method = methods.at(static_cast<std::size_t>(how))});
    }
    result.phases.push_back({.name = "llm",
                             .group = ranks,
                             .bytes_in = bytes_per_token("llm").in,
                             .method = methods.at(static_cast<std::size_t>(how))});
    for (auto& phase : result.phases) {
        // Where nothing stays at home, slack saves no bytes.
        if (how == method::scratch || how == method::relabel) {
            phase.tolerance = 0;
        }
    }
    return result;
}

std::vector<std::uint64_t> loads_of(layout const& layout, std::span<std::uint64_t const> lengths) {
    std::vector<std::uint64_t> loads(layout.ranks.value);
    for (std::size_t item = 0; item < lengths.size(); ++item) {
        loads[to_index(layout.places[item].rank)] += lengths[item];
    }
    return loads;
}

phase_outcome outcome_of(rearrangement const& move, topology const& topology, std::span<std::uint64_t const> lengths,
                         quality const& after) {
    phase_outcome result;
    result.loads_before = loads_of(move.from(), lengths);
    result.loads_after = loads_of(move.to(), lengths);
    result.after = after;
    result.before = after;
    result.before.max_load = std::ranges::max(result.loads_before);
    result.moves = traffic_of(move, topology, lengths);
    return result;
}

/// Calls `visit(bytes, item)` for the part of each local item in a buffer of one field.
template <class Byte, class Visit>
void for_each_item(std::span<Byte> buffer, layout const& layout, world_rank rank, field const& sizes, Visit visit) {
    std::size_t offset = 0;
    for (item_id const item : items_on(layout, rank)) {
        std::size_t const bytes = sizes.bytes[to_index(item)];
        visit(buffer.subspan(offset, bytes), to_index(item));
        offset += bytes;
    }
}

/// Moves the payload of one phase and checks what has arrived.
void move_payload(comm::communicator& communicator, rearrangement const& move, field const& payload,
                  std::uint64_t first_sample, std::uint64_t phase, exchange_report& checked) {
    auto const self = communicator.rank();
    std::vector<std::byte> drawn(bytes_on(move.from(), self, payload));
    std::vector<std::byte> arrived(bytes_on(move.to(), self, payload));
    for_each_item(std::span{drawn}, move.from(), self, payload,
                  [&](auto bytes, auto item) { fill_payload(bytes, first_sample + item, phase); });

    auto const field = comm::moving_field{payload, drawn, arrived};
    comm::all_to_all(communicator, move, std::array{field}).wait(patience);

    for_each_item(std::span<std::byte const>{arrived}, move.to(), self, payload,
                  [&](auto bytes, auto item) { checked.wrong += wrong_bytes(bytes, first_sample + item, phase); });
    auto const sends = exchange_of(move, self, payload.bytes).sends;
    auto const& topology = communicator.topology();
    for (std::size_t m = 0; m < sends.size(); ++m) {
        std::uint64_t const bytes = sends.byte_offsets[m + 1] - sends.byte_offsets[m];
        bool const leaves_node = topology.node_of(sends.peers[m]) != topology.node_of(self);
        checked.bytes += bytes;
        checked.inter_node_bytes += leaves_node ? bytes : 0;
    }
}

/// What going home between encoder and LLM would move, beyond what the composed movement does; there and back.
std::uint64_t saved_by_composing(planned_step const& step, std::size_t encoder, topology const& topology,
                                 std::span<std::uint64_t const> bytes) {
    auto const to_home = traffic_of(invert(step.raw(encoder)), topology, bytes).moved;
    auto const to_llm =
        traffic_of({expand(step.home, step.units[encoder]), step.outputs(encoder).to()}, topology, bytes);
    return 2 * (to_home + to_llm.moved - traffic_of(step.outputs(encoder), topology, bytes).moved);
}

}  // namespace

token_bytes bytes_per_token(std::string_view phase) noexcept {
    if (phase == "llm") {
        return {.in = 8, .out = 0};
    }
    return {.in = phase == "audio" ? std::uint64_t{1024} : std::uint64_t{4704}, .out = 7168};
}

std::uint64_t payload_scale::of(std::uint64_t bytes) const noexcept {
    return fixed != 0 ? fixed : (bytes * numerator + denominator - 1) / denominator;
}

step_outcome balance_step(comm::communicator& communicator, std::span<std::string const> names, drawn_step const& drawn,
                          method how, payload_scale const& scale, exchange_report& checked) {
    std::size_t const phases = names.size();
    bool const with_llm = names.back() == "llm";
    auto const& topology = communicator.topology();
    auto const lengths = comm::all_gather_lengths(communicator, by_sample(drawn), phases, patience);
    auto input = input_of(lengths, names, how);

    std::vector<double> plan_ms(input.phases.size());
    double begun = processor_ms();
    if (how == method::llm_only) {
        input.phases = llm_only(input.samples, input.phases, topology);
        plan_ms.back() = processor_ms() - begun;
        begun = processor_ms();
    }
    auto const step = orchestrate(input.samples, input.phases, topology, {.planned = [&](std::size_t phase) {
                                      plan_ms[phase] += processor_ms() - begun;
                                      begun = processor_ms();
                                  }});

    step_outcome result;
    std::size_t const llm = input.phases.size() - 1;
    for (std::size_t phase = 0; phase < phases; ++phase) {
        std::size_t const number = phase < step.encoders() ? phase : llm;
        auto const move = number < llm ? step.raw(number) : step.text();
        std::span<std::uint64_t const> const tokens =
            number < llm ? std::span{input.samples.inputs[number].lengths} : lengths[phase];
        result.phases.push_back(outcome_of(move, topology, tokens, step.phases[number].quality.front()));
        result.phases.back().plan_ms = plan_ms[number];
    }
    std::uint64_t kind = 0;
    auto const carry = [&](rearrangement const& move, std::span<std::uint64_t const> tokens, std::uint64_t per_token) {
        move_payload(communicator, move, field_per_token("payload", tokens, scale.of(per_token)), drawn.first_sample,
                     kind++, checked);
    };
    for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
        auto const bytes = bytes_per_token(names[encoder]);
        auto const& tokens = input.samples.inputs[encoder].lengths;
        auto const& raw = step.traffic.raw[encoder];
        auto const& outputs = step.traffic.outputs[encoder];
        result.bytes.push_back({.name = names[encoder],
                                .raw = {raw.moved, raw.between_nodes},
                                .output = {2 * outputs.moved, 2 * outputs.between_nodes}});
        carry(step.raw(encoder), tokens, bytes.in);
        if (with_llm) {
            carry(step.outputs(encoder), tokens, bytes.out);
            carry(invert(step.outputs(encoder)), tokens, bytes.out);
            result.composed_saving +=
                saved_by_composing(step, encoder, topology, field_per_token("outputs", tokens, bytes.out).bytes);
        }
    }
    if (with_llm) {
        auto const& text = step.traffic.text;
        result.bytes.push_back({.name = "llm", .text = {text.moved, text.between_nodes}});
        carry(step.text(), input.samples.text, bytes_per_token("llm").in);
    }
    return result;
}

}  // namespace evenkeel::examples
