// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/core/members.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/linear.hpp>
#include <evenkeel/orchestrate/options.hpp>
#include <evenkeel/orchestrate/phase.hpp>
#include <evenkeel/orchestrate/samples.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/layouts.hpp"

namespace evenkeel::test {

/// All that `orchestrate` takes.
struct drawn_step {
    step_samples samples;
    std::vector<phase> phases;
    topology cluster;
    orchestrate_options options;
};

/// Instances of equally many members, arranged in stages and parts, over some of the world's ranks.
[[nodiscard]] inline std::pair<group, member_shape> random_instances(seeded& random, world_size ranks) {
    grid shape{.tensor = random.between(1, 2), .context = random.between(1, 2), .pipeline = random.between(1, 2)};
    if (shape.tensor * shape.context * shape.pipeline > ranks.value) {
        shape = {};
    }
    shape.data = random.between(1, ranks.value / (shape.tensor * shape.context * shape.pipeline));
    shape.offset = random.up_to(ranks.value - ranks_of(shape).value);
    shape.order = random.up_to(1) == 0 ? "tp-cp-ep-dp-pp" : "pp-dp-cp-tp";
    return {group_of(shape), shape_of(shape)};
}

/// Starts of a sample's outputs in its sequence: shuffled, with its text spread between them.
inline void spread_outputs(seeded& random, step_samples& samples, std::vector<phase> const& phases,
                           std::size_t sample) {
    std::vector<std::pair<std::size_t, std::size_t>> outputs;
    for (std::size_t encoder = 0; encoder < samples.inputs.size(); ++encoder) {
        auto const& units = samples.inputs[encoder].units;
        for (std::size_t unit = units.offsets[sample]; unit < units.offsets[sample + 1]; ++unit) {
            outputs.emplace_back(encoder, unit);
        }
    }
    std::uint64_t text = samples.text[sample];
    std::uint64_t at = 0;
    for (auto const number : shuffled(random, outputs.size())) {
        auto const [encoder, unit] = outputs[number];
        std::uint64_t const before = random.up_to(text);
        text -= before;
        at += before;
        auto& inputs = samples.inputs[encoder];
        inputs.starts[unit] = at;
        std::uint64_t const down = phases[encoder].tokens_per_output;
        at += (inputs.lengths[unit] + down - 1) / down;
    }
}

/// A step on `ranks` world ranks with 0 to 2 encoders, 0 to 5 units per sample and encoder, groups of any kind, and up
/// to three micro-batches; some phases from scratch, some with a plan of the caller's.
[[nodiscard]] inline drawn_step random_step(std::uint64_t seed, world_size ranks) {
    seeded random{seed};
    drawn_step result;
    auto& [samples, phases, cluster, options] = result;
    cluster = random_topology(random, ranks);
    std::size_t const count = random.up_to(3) == 0 ? random.up_to(3) : random.up_to(30);
    std::size_t const encoders = random.up_to(2);
    options.micro_batches = {random.between(1, 3)};
    options.deal = static_cast<dealing>(random.up_to(3));
    samples.counts = random_counts(random, count, ranks.value);
    bool const explicit_slots = random.up_to(3) == 0;
    for (std::size_t sample = 0; sample < count; ++sample) {
        samples.text.push_back(random.up_to(3) == 0 ? 0 : random.up_to(40));
        samples.labels.push_back(random.up_to(samples.text.back()));
        if (explicit_slots) {
            options.micro_batch_of_sample.push_back(
                to_id<micro_batch_id>(random.up_to(options.micro_batches.value - 1)));
        }
    }
    if (random.up_to(1) == 0) {
        samples.labels.clear();
    }
    bool const empty_phase = random.up_to(5) == 0;
    for (std::size_t number = 0; number <= encoders; ++number) {
        auto [instances, members] = random_instances(random, ranks);
        phase one{.name = number == encoders ? "llm" : "encoder " + std::to_string(number),
                  .group = std::move(instances),
                  .members = members,
                  .bytes_in = random.up_to(5),
                  .bytes_out = random.up_to(3),
                  .tokens_per_output = random.between(1, 4),
                  .trained = random.up_to(3) != 0,
                  .pad_to = random.between(1, 4)};
        if (random.up_to(1) == 0) {
            one.cost = attention_cost{.linear = 3, .quadratic = 1};
        }
        one.method = random.up_to(1) == 0 ? phase_method::stay : static_cast<phase_method>(random.between(1, 2));
        one.tolerance = random.up_to(1) == 0 ? 0.0 : 1e-2;
        phases.push_back(std::move(one));
        if (number == encoders) {
            break;
        }
        std::vector<std::size_t> units(count);
        for (auto& of_sample : units) {
            of_sample = empty_phase && number == 0 ? 0 : random.up_to(1) * random.up_to(5);
        }
        encoder_inputs inputs{.units = units_of(units), .lengths = {}, .starts = {}};
        for (std::size_t unit = 0; unit < inputs.units.units(); ++unit) {
            inputs.lengths.push_back(random.up_to(9) == 0 ? 0 : random.up_to(50));
        }
        samples.inputs.push_back(std::move(inputs));
    }
    if (random.up_to(1) == 0) {
        for (auto& inputs : samples.inputs) {
            inputs.starts.resize(inputs.lengths.size());
        }
        for (std::size_t sample = 0; sample < count; ++sample) {
            spread_outputs(random, samples, phases, sample);
        }
    }
    if (options.micro_batches.value == 1 && encoders > 0 && random.up_to(2) == 0) {
        auto& one = phases[random.up_to(encoders)];
        std::size_t const items = &one == &phases.back()
                                      ? count
                                      : samples.inputs[static_cast<std::size_t>(&one - phases.data())].units.units();
        one.method = phase_method::given;
        one.given = random_plan(random, items, one.group.ranks(), 1);
    }
    return result;
}

/// The same on 1 to 16 ranks.
[[nodiscard]] inline drawn_step random_step(std::uint64_t seed) {
    return random_step(seed, {seeded{seed + 77}.between(1, 16)});
}

}  // namespace evenkeel::test
