// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/partition.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/orchestrate/bound.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::detail::cargo_step_test {
namespace {

TEST(cargo_step, moves_whole_samples_where_there_is_no_text_alone) {
    // Both ranks, each a node, have as much to encode, and rank 0 has 30 tokens too many for the LLM.
    step_samples const samples{.counts = {2, 2},
                               .text = {56, 36, 6, 26},
                               .labels = {},
                               .inputs = {{.units = one_unit_each(4), .lengths = {4, 4, 4, 4}, .starts = {}}}};
    std::vector<phase> const phases{{.name = "vision", .group = flat_group({2}), .bytes_in = 4704, .bytes_out = 7168},
                                    {.name = "llm", .group = flat_group({2}), .bytes_in = 8}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {1}));
    EXPECT_EQ(step.llm().quality.front().max_load, 70u);
    EXPECT_EQ(step.phases.front().quality.front().max_load, 8u);
    EXPECT_EQ(step.traffic.outputs.front().between_nodes, 0u);
    EXPECT_EQ(step.traffic.raw.front().between_nodes, 2u * 4 * 4704);
    EXPECT_EQ(step.traffic.between_nodes, 2u * 4 * 4704 + (36 + 6) * 8);
}

// Where text alone goes first, long texts upset more than they level, and sounds are parted from their outputs.
TEST(cargo_step, parts_few_samples_from_their_outputs_where_text_alone_is_long_and_rare) {
    auto const ranks = flat_group({64});
    auto const cluster = uniform_topology({64}, {8});
    std::vector<phase> const phases{{.name = "audio", .group = ranks, .bytes_in = 1024, .bytes_out = 7168},
                                    {.name = "llm", .group = ranks, .bytes_in = 8}};
    std::uint64_t bytes = 0;
    std::uint64_t least = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        test::seeded random{seed};
        step_samples samples{.counts = std::vector<std::size_t>(64, 40), .text = {}, .labels = {}, .inputs = {{}}};
        std::vector<std::size_t> units;
        for (std::size_t sample = 0; sample < 64 * 40; ++sample) {
            bool const alone = random.up_to(9) == 0;
            samples.text.push_back(alone ? random.between(500, 5000) : random.between(10, 60));
            units.push_back(alone ? 0 : 1);
            if (!alone) {
                samples.inputs[0].lengths.push_back(random.between(50, 400));
            }
        }
        samples.inputs[0].units = units_of(units);
        auto const step = orchestrate(samples, phases, cluster);
        bytes += step.traffic.between_nodes;
        least += bound_of(samples, phases, cluster, step).between_nodes;
    }
    EXPECT_LE(bytes, 2 * least);
}

/// A step with hardly any text alone, of images and sounds, several to a sample, on nodes of two ranks with so many
/// samples, and up to six more.
struct scarce_step {
    explicit scarce_step(std::uint64_t seed, std::size_t samples_of_rank = 8) {
        test::seeded random{seed};
        std::size_t const ranks = 2 * random.between(2, 4);
        cluster = uniform_topology({ranks}, {2});
        phases.assign({{.name = "vision", .group = flat_group({ranks}), .bytes_in = 4704, .bytes_out = 7168},
                       {.name = "audio", .group = flat_group({ranks}), .bytes_in = 1024, .bytes_out = 7168},
                       {.name = "llm", .group = flat_group({ranks}), .bytes_in = 8}});
        for (auto& phase : phases) {
            phase.tolerance = 0.05;
        }
        options.micro_batches = {random.between(1, 2)};
        samples.inputs.resize(2);
        std::size_t const most = random.between(1, 3);
        std::vector<std::vector<std::size_t>> counts(2);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            samples.counts.push_back(random.between(samples_of_rank, samples_of_rank + 6));
            for (std::size_t sample = 0; sample < samples.counts.back(); ++sample) {
                samples.text.push_back(random.up_to(3) == 0 ? random.up_to(400) : random.up_to(40));
                for (std::size_t encoder = 0; encoder < 2; ++encoder) {
                    std::size_t const units = random.up_to(1) == 0 ? random.between(1, most) : 0;
                    counts[encoder].push_back(units);
                    for (std::size_t unit = 0; unit < units; ++unit) {
                        samples.inputs[encoder].lengths.push_back(random.between(1, 60));
                    }
                }
            }
        }
        for (std::size_t encoder = 0; encoder < 2; ++encoder) {
            samples.inputs[encoder].units = units_of(counts[encoder]);
        }
    }

    /// The same with the plans that the encoders have if the LLM need not be even: samples cannot move whole.
    [[nodiscard]] planned_step parted() const {
        auto loose = phases;
        loose.back().tolerance = 1e9;
        auto const first = orchestrate(samples, loose, cluster, options);
        auto given = phases;
        for (std::size_t encoder = 0; encoder < 2; ++encoder) {
            given[encoder].method = phase_method::given;
            given[encoder].given = first.phases[encoder].plan;
        }
        return orchestrate(samples, given, cluster, options);
    }

    step_samples samples;
    std::vector<phase> phases;
    topology cluster;
    orchestrate_options options;
};

TEST(cargo_step, never_moves_more_than_parting_samples_and_often_less) {
    std::uint64_t whole = 0;
    std::uint64_t parted = 0;
    std::size_t cheaper = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        scarce_step const drawn{seed};
        auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
        auto const without = drawn.parted();
        EXPECT_LE(step.traffic.between_nodes, without.traffic.between_nodes) << seed;
        cheaper += step.traffic.between_nodes < without.traffic.between_nodes ? 1U : 0U;
        whole += step.traffic.between_nodes;
        parted += without.traffic.between_nodes;
        for (std::size_t number = 0; number < step.phases.size(); ++number) {
            auto const& phase = step.phases[number];
            auto const& of_before = without.phases[number].quality;
            std::size_t const items = number < 2 ? drawn.samples.inputs[number].lengths.size() : drawn.samples.size();
            ASSERT_NO_THROW(require_partition("test", phase.plan, items));
            for (std::size_t slot = 0; slot < phase.quality.size(); ++slot) {
                EXPECT_LE(phase.quality[slot].gap(), std::max(0.05, of_before[slot].gap())) << seed;
            }
        }
    }
    EXPECT_GE(cheaper, 20u);
    EXPECT_LE(10 * whole, 19 * parted / 2);
}

TEST(cargo_step, no_longer_calls_the_llm_planned_from_scratch_once_it_stays_where_outputs_are) {
    std::size_t replaced = 0;
    for (std::uint64_t const seed : {244U, 299U, 331U, 556U, 878U}) {
        scarce_step drawn{seed, 1};
        drawn.options.micro_batches = {1};
        for (auto& phase : drawn.phases) {
            phase.tolerance = 0.3;
            phase.effort = 512;
        }
        drawn.phases.back().tolerance = 1e-3;
        auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
        auto const without = drawn.parted();
        // Only what has moved whole samples is cheaper, and of that the LLM was planned anew.
        bool const is_cheaper = step.traffic.between_nodes < without.traffic.between_nodes;
        replaced += without.llm().from_scratch && is_cheaper && !step.llm().from_scratch ? 1U : 0U;
    }
    EXPECT_GE(replaced, 1u);
}

TEST(cargo_step, says_what_ranks_have_after_it) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        scarce_step const drawn{seed};
        auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
        for (std::size_t encoder = 0; encoder < 2; ++encoder) {
            auto const& phase = step.phases[encoder];
            for (std::size_t slot = 0; slot < phase.quality.size(); ++slot) {
                std::uint64_t busiest = 0;
                for (std::size_t rank = 0; rank < phase.plan.ranks().value; ++rank) {
                    std::uint64_t load = 0;
                    for (auto const unit : phase.plan.batch(to_id<rank_id>(rank), to_id<micro_batch_id>(slot))) {
                        load += drawn.samples.inputs[encoder].lengths[to_index(unit)];
                    }
                    busiest = std::max(busiest, load);
                }
                EXPECT_EQ(phase.quality[slot].max_load, busiest) << seed;
            }
        }
    }
}

}  // namespace
}  // namespace evenkeel::detail::cargo_step_test
