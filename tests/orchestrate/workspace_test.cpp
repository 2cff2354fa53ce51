// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>
#include <evenkeel/orchestrate/workspace.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/counted_allocations.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::orchestrate_workspace_test {
namespace {

/// 16 ranks on two nodes with 20 samples each, of which each second has images, so many to a sample, and text. The
/// numbers of samples and units are the same whatever the seed.
step_samples samples_with_images(std::uint64_t seed, std::size_t images) {
    test::seeded random{seed};
    step_samples samples{.counts = std::vector<std::size_t>(16, 20), .inputs = {{}}};
    std::vector<std::size_t> units;
    for (std::size_t sample = 0; sample < 320; ++sample) {
        samples.text.push_back(random.between(1, 400));
        units.push_back(sample % 2 == 0 ? images : 0);
        for (std::size_t unit = 0; unit < units.back(); ++unit) {
            samples.inputs[0].lengths.push_back(random.between(1, 1000));
        }
    }
    samples.inputs[0].units = units_of(units);
    return samples;
}

std::vector<phase> phases_with(std::vector<phase_cost> const& costs) {
    std::vector<phase> phases{{.name = "vision", .bytes_in = 4704, .bytes_out = 7168}, {.name = "llm", .bytes_in = 8}};
    for (std::size_t number = 0; number < phases.size(); ++number) {
        phases[number].cost = costs[number];
        phases[number].group = group_of({.tensor = 2, .data = 8});
    }
    return phases;
}

std::size_t allocations_of_later_steps(std::size_t images, std::vector<phase_cost> const& costs,
                                       orchestrate_options const& options = {}, std::uint64_t steps = 8) {
    auto const cluster = uniform_topology({16}, {8});
    auto const phases = phases_with(costs);
    auto const space = std::make_unique<orchestrate_workspace>();
    (void)orchestrate(*space, samples_with_images(0, images), phases, cluster, options);
    std::size_t result = 0;
    for (std::uint64_t seed = 1; seed < steps; ++seed) {
        auto const samples = samples_with_images(seed, images);
        auto const before = test::allocations;
        (void)orchestrate(*space, samples, phases, cluster, options);
        result += test::allocations - before;
    }
    return result;
}

TEST(orchestrate_workspace, allocates_nothing_from_the_second_step_on) {
    EXPECT_EQ(allocations_of_later_steps(1, {linear_cost{}, linear_cost{}}), 0u);
    EXPECT_EQ(allocations_of_later_steps(3, {linear_cost{}, attention_cost{24576, 1}}), 0u);
}

TEST(orchestrate_workspace, allocates_nothing_for_micro_batches) {
    // What each has varies from step to step.
    orchestrate_options const options{.micro_batches = {2}, .deal = dealing::even};
    EXPECT_EQ(allocations_of_later_steps(2, {linear_cost{}, linear_cost{}}, options, 100), 0u);
    EXPECT_EQ(allocations_of_later_steps(3, {linear_cost{}, linear_cost{}}, options, 100), 0u);
}

/// Few units to a rank: then nodes trade some.
TEST(orchestrate_workspace, allocates_nothing_for_the_same_few_units_again) {
    auto const cluster = uniform_topology({12}, {3});
    std::vector<phase> phases(2);
    for (auto& one : phases) {
        one.cost = attention_cost{24576, 1};
        one.group = flat_group({12});
        one.bytes_in = 12;
    }
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        test::seeded random{seed};
        step_samples samples{.inputs = {{}}};
        std::vector<std::size_t> units;
        for (std::size_t rank = 0; rank < 12; ++rank) {
            samples.counts.push_back(random.up_to(12));
            for (std::size_t sample = 0; sample < samples.counts.back(); ++sample) {
                samples.text.push_back(random.up_to(30));
                units.push_back(random.up_to(2));
                for (std::size_t unit = 0; unit < units.back(); ++unit) {
                    samples.inputs[0].lengths.push_back(random.up_to(60));
                }
            }
        }
        samples.inputs[0].units = units_of(units);
        auto const space = std::make_unique<orchestrate_workspace>();
        (void)orchestrate(*space, samples, phases, cluster);
        auto const before = test::allocations;
        (void)orchestrate(*space, samples, phases, cluster);
        found += test::allocations - before;
    }
    EXPECT_EQ(found, 0u);
}

TEST(orchestrate_workspace, does_not_show_in_the_steps_that_it_was_used_for) {
    auto const space = std::make_unique<orchestrate_workspace>();
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        auto const drawn = test::random_step(seed, {1 + seed % 16});
        EXPECT_EQ(orchestrate(*space, drawn.samples, drawn.phases, drawn.cluster, drawn.options),
                  orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options))
            << "seed " << seed;
    }
}

// As the phase that comes first, an encoder is planned otherwise than the LLM, and the LLM of no step as one.
TEST(orchestrate_workspace, does_not_take_an_llm_for_the_encoder_that_it_planned_before) {
    auto const cluster = uniform_topology({8}, {2});
    auto const ranks = flat_group({8});
    std::vector<phase> const phases{{.name = "vision", .group = ranks, .bytes_in = 4704, .bytes_out = 7168},
                                    {.name = "llm", .group = ranks, .bytes_in = 8}};
    step_samples const one_image{
        .counts = {1, 0, 0, 0, 0, 0, 0, 0}, .text = {1}, .inputs = {{.units = one_unit_each(1), .lengths = {1}}}};
    auto const space = std::make_unique<orchestrate_workspace>();
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        test::seeded random{seed};
        step_samples samples{.counts = std::vector<std::size_t>(8, 20), .text = {}, .inputs = {}};
        for (std::size_t sample = 0; sample < 160; ++sample) {
            samples.text.push_back(random.between(1, 100));
        }
        auto const llm_alone = std::span{phases}.last(1);
        (void)orchestrate(*space, one_image, phases, cluster);
        EXPECT_EQ(orchestrate(*space, samples, llm_alone, cluster), orchestrate(samples, llm_alone, cluster))
            << "seed " << seed;
    }
}

}  // namespace
}  // namespace evenkeel::orchestrate_workspace_test
