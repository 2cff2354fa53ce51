// SPDX-License-Identifier: Apache-2.0
#include "llm_only.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <evenkeel/orchestrate.hpp>

namespace evenkeel::examples {

namespace {

/// What the LLM takes in of each sample.
std::vector<std::uint64_t> sequences_of(step_samples const& samples, std::span<phase const> phases) {
    auto result = samples.text;
    for (std::size_t encoder = 0; encoder < samples.inputs.size(); ++encoder) {
        auto const& [units, lengths, starts] = samples.inputs[encoder];
        for (std::size_t sample = 0; sample < result.size(); ++sample) {
            for (std::size_t unit = units.offsets[sample]; unit < units.offsets[sample + 1]; ++unit) {
                result[sample] += output_tokens(phases[encoder], lengths[unit]);
            }
        }
    }
    return result;
}

/// The units where the samples that own them are.
plan with_samples(plan const& of_samples, unit_map const& units) {
    plan result;
    for (std::size_t rank = 0; rank < of_samples.ranks().value; ++rank) {
        for (item_id const sample : of_samples[to_id<rank_id>(rank)]) {
            for (std::size_t unit = 0; unit < units.count(sample); ++unit) {
                result.items.push_back(to_id<item_id>(units.first(sample) + unit));
            }
        }
        result.offsets.push_back(result.items.size());
    }
    return result;
}

}  // namespace

plan plan_of_llm_alone(step_samples const& samples, std::span<phase const> phases, topology const& topology) {
    return orchestrate({.counts = samples.counts, .text = sequences_of(samples, phases)}, phases.last(1), topology)
        .phases.front()
        .plan;
}

std::vector<phase> llm_only(step_samples const& samples, std::span<phase const> phases, topology const& topology) {
    std::vector<phase> result(phases.begin(), phases.end());
    auto of_llm = plan_of_llm_alone(samples, phases, topology);
    for (std::size_t encoder = 0; encoder < samples.inputs.size(); ++encoder) {
        result[encoder].given = with_samples(of_llm, samples.inputs[encoder].units);
    }
    result.back().given = std::move(of_llm);
    for (auto& phase : result) {
        phase.method = phase_method::given;
    }
    return result;
}

}  // namespace evenkeel::examples
