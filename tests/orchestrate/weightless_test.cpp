// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>

#include "tests/support/batches.hpp"

namespace evenkeel::weightless_test {
namespace {

/// Only what has ten tokens or more weighs something.
struct only_long {
    [[nodiscard]] std::uint64_t weight(std::uint64_t length) const noexcept { return length < 10 ? 0 : length; }
};

TEST(weightless, samples_of_a_relabelled_phase_stay_and_have_no_say_in_where_batches_go) {
    // One long text on either rank. `balance` deals the short ones in turn, so that five of rank 1 come to the batch of
    // the long one of rank 0, and are more bytes than both.
    step_samples const samples{.counts = {1, 11}, .text = {20, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 20}};
    std::vector<phase> const phases{
        {.name = "llm", .cost = only_long{}, .group = flat_group({2}), .bytes_in = 8, .method = phase_method::relabel}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {1}));
    EXPECT_EQ(step.llm().layout, step.home);
    EXPECT_EQ(step.llm().quality[0].max_load, 20u);
    EXPECT_EQ(step.traffic.moved, 0u);
}

TEST(weightless, absent_units_of_a_phase_that_pads_and_packs_stay) {
    step_samples const samples{.counts = {1, 5},
                               .text = std::vector<std::uint64_t>(6, 10),
                               .inputs = {{.units = one_unit_each(6), .lengths = {20, 0, 0, 0, 0, 20}}}};
    std::vector<phase> const phases{{.name = "audio",
                                     .cost = conv_attention_cost{.padded = 1, .linear = 4},
                                     .group = flat_group({2}),
                                     .bytes_in = 8},
                                    {.name = "llm", .group = flat_group({2}), .bytes_in = 8, .tolerance = 10}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {1}));
    EXPECT_EQ(step.phases[0].layout, expand(step.home, step.units[0]));
    EXPECT_EQ(step.phases[0].quality[0].max_load, 100u);
}

// How a phase is searched depends on how many of its units weigh something, not on how many there are.
TEST(weightless, units_cost_no_bytes_and_save_none) {
    auto const ranks = flat_group({16});
    std::vector<phase> const phases{{.name = "video", .group = ranks, .bytes_in = 4704, .bytes_out = 7168},
                                    {.name = "llm", .group = ranks, .bytes_in = 8}};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        test::seeded random{seed};
        step_samples without{.counts = std::vector<std::size_t>(16, 20), .text = {}, .inputs = {{}}};
        std::vector<std::size_t> units;
        std::vector<std::uint64_t> lengths;
        for (std::size_t sample = 0; sample < 320; ++sample) {
            without.text.push_back(random.between(10, 200));
            lengths.push_back(random.up_to(4) == 0 ? random.between(100, 2000) : 0);
            units.push_back(lengths.back() > 0 ? 1 : 0);
            if (lengths.back() > 0) {
                without.inputs[0].lengths.push_back(lengths.back());
            }
        }
        without.inputs[0].units = units_of(units);
        auto with = without;
        with.inputs[0] = {.units = one_unit_each(320), .lengths = lengths};
        auto const cluster = uniform_topology({16}, {4});
        EXPECT_EQ(orchestrate(with, phases, cluster).traffic, orchestrate(without, phases, cluster).traffic)
            << "seed " << seed;
    }
}

/// Nodes of two ranks and of one. Node 0 has drawn 44 images, every other with a sound, and node 1 four images and 22
/// sounds. An absent image comes before each of those with a sound.
TEST(weightless, units_before_the_others_of_a_sample_do_not_hide_that_it_leaves) {
    step_samples samples{.counts = {22, 22, 26}, .text = std::vector<std::uint64_t>(70, 100), .inputs = {{}, {}}};
    std::vector<std::size_t> images;
    std::vector<std::size_t> sounds;
    for (std::size_t sample = 0; sample < 70; ++sample) {
        bool const of_node_0 = sample < 44;
        bool const image = of_node_0 || sample >= 66;
        sounds.push_back(of_node_0 ? sample % 2 : image ? 0 : 1);
        images.push_back(image ? 1 + sounds.back() : 0);
        if (images.back() == 2) {
            samples.inputs[0].lengths.push_back(0);
        }
        if (image) {
            samples.inputs[0].lengths.push_back(10);
        }
    }
    samples.inputs[0].units = units_of(images);
    samples.inputs[1] = {.units = units_of(sounds), .lengths = std::vector<std::uint64_t>(44, 30)};
    std::vector<phase> const phases{
        {.name = "image", .group = flat_group({3}), .bytes_in = 4704, .bytes_out = 7168},
        {.name = "audio", .group = flat_group({3}), .bytes_in = 1024, .bytes_out = 7168, .tolerance = 2},
        {.name = "llm", .group = flat_group({3}), .bytes_in = 8, .tolerance = 2}};
    auto const step = orchestrate(samples, phases, topology{{node_id{0}, node_id{0}, node_id{1}}});
    EXPECT_EQ(step.phases[0].quality[0].max_load, 160u);
    EXPECT_EQ(step.traffic.raw[0].between_nodes, 12u * 10 * 4704) << "twelve images, the least that node 0 can give";
    EXPECT_EQ(step.traffic.raw[1].between_nodes, 0u);
}

}  // namespace
}  // namespace evenkeel::weightless_test
