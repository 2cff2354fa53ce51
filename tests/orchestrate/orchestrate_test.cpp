// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/core/partition.hpp>
#include <evenkeel/cost/attention.hpp>
#include <evenkeel/orchestrate/assembly.hpp>
#include <evenkeel/orchestrate/bound.hpp>
#include <evenkeel/orchestrate/loss.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>
#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/order.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>
#include <evenkeel/rearrange/traffic.hpp>

#include "tests/support/layouts.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::orchestrate_test {
namespace {

using ids = std::vector<std::uint32_t>;
using sizes = std::vector<std::uint64_t>;
using counts = std::vector<std::size_t>;

auto refuses(std::string const& message) { return testing::ThrowsMessage<std::invalid_argument>(message); }

/// Two nodes of two ranks, an encoder and an LLM on all of them. Rank 0 has drawn all images.
///
///     rank 0: samples 0 and 1, images of 40 and 20     rank 1: sample 2, text     rank 2: 3, text     rank 3: 4, text
struct images_on_one_rank {
    topology cluster = uniform_topology({4}, {2});
    step_samples samples{.counts = {2, 1, 1, 1},
                         .text = {10, 10, 40, 60, 60},
                         .labels = {},
                         .inputs = {{.units = units_of(counts{1, 1, 0, 0, 0}), .lengths = {40, 20}, .starts = {}}}};
    std::vector<phase> phases{
        {.name = "vision", .group = flat_group({4}), .bytes_in = 4704, .bytes_out = 7168, .tolerance = 0},
        {.name = "llm", .group = flat_group({4}), .bytes_in = 8, .tolerance = 0.2}};
};

TEST(orchestrate, lets_no_embedding_travel_where_text_alone_can_level_the_llm) {
    // The example of the comments: two nodes of one rank each, an image in either sample of rank 0.
    step_samples const samples{.counts = {2, 2},
                               .text = {40, 10, 100, 106},
                               .inputs = {{.units = units_of(counts{1, 1, 0, 0}), .lengths = {64, 64}}}};
    auto const ranks = flat_group({2});
    std::vector<phase> const phases{{.name = "vision", .group = ranks, .bytes_in = 4704, .bytes_out = 7168},
                                    {.name = "llm", .group = ranks, .bytes_in = 8}};
    auto const cluster = uniform_topology({2}, {1});
    auto const step = orchestrate(samples, phases, cluster);

    EXPECT_EQ(step.traffic.outputs[0].moved, 0u);
    EXPECT_EQ(step.traffic.between_nodes, 302'224u);
    EXPECT_EQ(bound_of(samples, phases, cluster, step).between_nodes, 301'151u);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(step.phases[0].plan[rank_id{rank}].size(), 1u);
        EXPECT_EQ(step.llm().plan[rank_id{rank}].size(), 2u);
    }
    auto const loss = loss_counts_of(samples, step);
    EXPECT_EQ(loss.total, 256u);
    EXPECT_EQ(loss.labels, (sizes{116, 140}));
    auto const mine = assembly_of(samples, phases, step, rank_id{1});
    EXPECT_EQ(mine.sequences.offsets, (std::vector<std::int32_t>{0, 104, 204}));
    EXPECT_EQ(mine.outputs[0][0].start, 0);
    EXPECT_EQ(mine.text[0].start, 64);
}

TEST(orchestrate, moves_an_image_to_a_rank_of_its_node_and_lets_the_sample_follow) {
    images_on_one_rank const drawn;
    auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster);

    // One image has to leave rank 0. It stays in the node, and so does what the LLM makes of it.
    EXPECT_EQ(step.phases[0].quality[0].max_load, 40u);
    EXPECT_EQ(step.traffic.raw[0].between_nodes, 0u);
    EXPECT_EQ(step.traffic.outputs[0].between_nodes, 0u);
    EXPECT_GT(step.traffic.raw[0].moved, 0u);
    EXPECT_LE(step.llm().quality[0].max_load, 72u);
    EXPECT_EQ(step.llm().quality[0].total_load, 240u);
}

TEST(orchestrate, says_which_ranks_have_nothing_to_encode) {
    images_on_one_rank const drawn;
    auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster);
    EXPECT_EQ(test::numbers(empty_ranks(step.phases[0])), (ids{2, 3})) << "the two images are on the two other ranks";
    EXPECT_EQ(empty_ranks(step.llm()), std::vector<rank_id>{});
}

TEST(orchestrate, takes_a_step_without_encoders_without_samples_or_without_load) {
    auto const cluster = uniform_topology({2}, {1});
    std::vector<phase> const llm{{.name = "llm", .group = flat_group({2})}};
    auto const text = orchestrate({.counts = {2, 0}, .text = {5, 5}}, llm, cluster);
    EXPECT_EQ(text.llm().quality[0].max_load, 5u);
    auto const nothing = orchestrate({.counts = {0, 0}}, llm, cluster);
    EXPECT_EQ(test::numbers(empty_ranks(nothing.llm())), (ids{0, 1}));
    EXPECT_EQ(nothing.traffic.moved, 0u);
    auto const weightless = orchestrate({.counts = {2, 0}, .text = {0, 0}}, llm, cluster);
    EXPECT_EQ(weightless.llm().layout, weightless.home);
}

TEST(orchestrate, moves_nothing_where_every_phase_is_even_already) {
    auto const cluster = uniform_topology({4}, {2});
    step_samples const samples{
        .counts = {2, 2, 2, 2},
        .text = {10, 5, 10, 5, 10, 5, 10, 5},
        .labels = {},
        .inputs = {{.units = units_of(counts{2, 0, 2, 0, 2, 0, 2, 0}), .lengths = sizes(8, 7), .starts = {}}}};
    std::vector<phase> const phases{{.name = "vision", .group = flat_group({4}), .bytes_in = 3, .bytes_out = 2},
                                    {.name = "llm", .group = flat_group({4}), .bytes_in = 8}};
    auto const step = orchestrate(samples, phases, cluster);
    EXPECT_EQ(step.traffic.moved, 0u);
    EXPECT_EQ(step.phases[0].layout, expand(step.home, step.units[0]));
    EXPECT_EQ(step.llm().layout, step.home);
}

/// World of 8 = tensor-parallel 2 x data-parallel 4: plans are over the 4, siblings have the same one.
TEST(orchestrate, plans_over_data_parallel_instances) {
    auto const cluster = uniform_topology({8}, {4});
    step_samples const samples{.counts = {1, 0, 1, 0, 1, 0, 1, 0}, .text = {1, 2, 3, 4}};
    std::vector<phase> const phases{{.name = "llm", .group = group_of({.tensor = 2, .data = 4})}};
    auto const step = orchestrate(samples, phases, cluster);
    EXPECT_EQ(step.llm().plan.ranks(), rank_count{4});
    EXPECT_EQ(step.llm().layout, step.home) << "at the leaders";
}

/// An encoder on three ranks, the LLM on one of another node.
TEST(orchestrate, brings_outputs_from_three_encoder_ranks_to_one_llm_rank_in_the_order_of_its_samples) {
    auto const cluster = uniform_topology({4}, {1});
    step_samples const samples{
        .counts = {0, 2, 1, 0},
        .text = {1, 1, 1},
        .labels = {},
        .inputs = {{.units = units_of(counts{2, 1, 3}), .lengths = {5, 9, 4, 2, 8, 7}, .starts = {}}}};
    std::vector<phase> const phases{{.name = "vision", .group = group_of({.data = 3}), .bytes_out = 1},
                                    {.name = "llm", .group = group_of({.data = 1, .offset = 3})}};
    auto const step = orchestrate(samples, phases, cluster);
    auto const outputs = step.outputs(0);
    EXPECT_EQ(test::numbers(items_on(outputs.to(), world_rank{3})), (ids{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(compose(invert(outputs), outputs), (rearrangement{step.phases[0].layout, step.phases[0].layout}));
    EXPECT_EQ(compose(invert(step.raw(0)), compose(invert(outputs), outputs)).to(), expand(step.home, step.units[0]))
        << "every unit is back with its owner";
}

/// Rank 0 of two nodes of two ranks has drawn all images, four to a sample.
TEST(orchestrate, sends_samples_whole_between_nodes_and_images_one_by_one_inside) {
    step_samples const samples{
        .counts = {6, 1, 1, 1},
        .text = {5, 5, 5, 5, 5, 5, 100, 100, 100},
        .inputs = {{.units = units_of(counts{4, 4, 4, 4, 4, 4, 0, 0, 0}), .lengths = sizes(24, 10)}}};
    std::vector<phase> const phases{
        {.name = "vision", .group = flat_group({4}), .bytes_in = 4704, .bytes_out = 7168, .tolerance = 0},
        {.name = "llm", .group = flat_group({4}), .bytes_in = 8, .tolerance = 0.4}};
    auto const cluster = uniform_topology({4}, {2});
    auto const step = orchestrate(samples, phases, cluster);
    EXPECT_EQ(step.phases[0].quality[0].max_load, 60u) << "six images per rank";
    EXPECT_EQ(step.traffic.raw[0].between_nodes, 3u * 40 * 4704) << "three samples, the least that node 0 can give";
    EXPECT_EQ(step.traffic.outputs[0].between_nodes, 0u);
    std::vector<std::vector<bool>> on_node(6, std::vector<bool>(2));
    for (std::size_t unit = 0; unit < 24; ++unit) {
        on_node[unit / 4][to_index(cluster.node_of(step.phases[0].layout.places[unit].rank))] = true;
    }
    for (auto const& nodes : on_node) {
        EXPECT_NE(nodes[0], nodes[1]) << "all images of a sample on one node";
    }
}

/// Four nodes of four ranks with 40 samples of up to five images each; one node has drawn longer ones.
TEST(orchestrate, leaves_most_images_of_samples_with_several_on_the_rank_that_drew_them) {
    test::seeded random{7};
    step_samples samples{.counts = counts(16, 40), .text = sizes(640, 10), .inputs = {{}}};
    counts units;
    for (std::size_t sample = 0; sample < 640; ++sample) {
        units.push_back(random.up_to(5));
        for (std::size_t unit = 0; unit < units.back(); ++unit) {
            samples.inputs[0].lengths.push_back(random.between(1, sample < 160 ? 500 : 400));
        }
    }
    samples.inputs[0].units = units_of(units);
    std::vector<phase> const phases{{.name = "vision", .group = flat_group({16}), .bytes_in = 1, .bytes_out = 1},
                                    {.name = "llm", .group = flat_group({16}), .bytes_in = 1}};
    auto const step = orchestrate(samples, phases, uniform_topology({16}, {4}));
    EXPECT_LE(step.phases[0].quality[0].gap(), 1e-3);
    EXPECT_GT(step.traffic.raw[0].between_nodes, 0u);
    EXPECT_LE(step.traffic.raw[0].moved, step.traffic.raw[0].total / 4) << "seven tenths from scratch";
}

/// Two nodes of two ranks. Node 0 has drawn 44 images, every other with a sound, and node 1 four images and 22 sounds.
TEST(orchestrate, lets_images_without_sound_leave_where_sound_would_make_a_node_the_busiest) {
    step_samples samples{.counts = {22, 22, 13, 13}, .text = sizes(70, 100), .inputs = {{}, {}}};
    counts images;
    counts sounds;
    for (std::size_t sample = 0; sample < 70; ++sample) {
        bool const of_node_0 = sample < 44;
        images.push_back(of_node_0 || sample >= 66 ? 1 : 0);
        sounds.push_back(of_node_0 ? sample % 2 : 1 - images.back());
    }
    samples.inputs[0] = {.units = units_of(images), .lengths = sizes(48, 10)};
    samples.inputs[1] = {.units = units_of(sounds), .lengths = sizes(44, 30)};
    std::vector<phase> const phases{
        {.name = "image", .group = flat_group({4}), .bytes_in = 4704, .bytes_out = 7168},
        {.name = "audio", .group = flat_group({4}), .bytes_in = 1024, .bytes_out = 7168, .tolerance = 0.5},
        {.name = "llm", .group = flat_group({4}), .bytes_in = 8, .tolerance = 0.5}};
    auto const step = orchestrate(samples, phases, uniform_topology({4}, {2}));
    EXPECT_EQ(step.phases[0].quality[0].max_load, 120u);
    EXPECT_EQ(step.traffic.raw[0].between_nodes, 20u * 10 * 4704) << "twenty images, the least that node 0 can give";
    EXPECT_EQ(step.traffic.raw[1].between_nodes, 0u);
}

/// The same with two images in every sample that has any: samples leave as a whole.
TEST(orchestrate, lets_samples_of_several_images_without_sound_leave_where_sound_would_make_a_node_the_busiest) {
    step_samples samples{.counts = {22, 22, 13, 13}, .text = sizes(70, 100), .inputs = {{}, {}}};
    counts images;
    counts sounds;
    for (std::size_t sample = 0; sample < 70; ++sample) {
        bool const of_node_0 = sample < 44;
        images.push_back(of_node_0 || sample >= 66 ? 2 : 0);
        sounds.push_back(of_node_0 ? sample % 2 : images.back() == 0 ? 1 : 0);
    }
    samples.inputs[0] = {.units = units_of(images), .lengths = sizes(96, 5)};
    samples.inputs[1] = {.units = units_of(sounds), .lengths = sizes(44, 30)};
    std::vector<phase> const phases{
        {.name = "image", .group = flat_group({4}), .bytes_in = 4704, .bytes_out = 7168},
        {.name = "audio", .group = flat_group({4}), .bytes_in = 1024, .bytes_out = 7168, .tolerance = 0.5},
        {.name = "llm", .group = flat_group({4}), .bytes_in = 8, .tolerance = 0.5}};
    auto const step = orchestrate(samples, phases, uniform_topology({4}, {2}));
    EXPECT_EQ(step.phases[0].quality[0].max_load, 120u);
    EXPECT_EQ(step.traffic.raw[0].between_nodes, 20u * 10 * 4704);
    EXPECT_EQ(step.traffic.raw[1].between_nodes, 0u);
}

/// Nodes 0 and 1 have ten images too many each. Node 2 has drawn few, and node 3 has room for ten.
TEST(orchestrate, lets_no_node_receive_what_another_has_room_for) {
    step_samples const samples{.counts = {120, 120, 60, 100},
                               .text = sizes(400),
                               .inputs = {{.units = units_of(counts(400, 1)), .lengths = sizes(400, 1)}}};
    std::vector<phase> const phases{{.name = "vision", .group = flat_group({4}), .bytes_in = 1, .tolerance = 0.1},
                                    {.name = "llm", .group = flat_group({4}), .tolerance = 1}};
    auto const step = orchestrate(samples, phases, uniform_topology({4}, {1}));
    EXPECT_EQ(step.phases[0].quality[0].max_load, 110u);
    EXPECT_EQ(step.traffic.between_nodes, 20u);
    EXPECT_LE(step.traffic.busiest_node, 14u) << "not all 20 to node 2";
}

TEST(orchestrate, lets_gradients_of_a_frozen_encoder_stay) {
    images_on_one_rank drawn;
    drawn.phases[0].method = phase_method::given;
    drawn.phases[0].given = test::plan_of({{}, {}, {0}, {1}});
    drawn.phases[1].method = phase_method::given;
    drawn.phases[1].given = test::plan_of({{0, 1}, {2}, {3}, {4}});
    auto const trained = orchestrate(drawn.samples, drawn.phases, drawn.cluster).traffic;
    EXPECT_EQ(trained.outputs[0].between_nodes, 60u * 7168);
    EXPECT_EQ(trained.between_nodes, 60u * (4704 + 2 * 7168));
    EXPECT_EQ(trained.busiest_node, trained.between_nodes) << "each of the two nodes is one end of all of it";
    drawn.phases[0].trained = false;
    EXPECT_EQ(orchestrate(drawn.samples, drawn.phases, drawn.cluster).traffic.between_nodes, 60u * (4704 + 7168));
}

TEST(orchestrate, follows_a_given_plan_to_the_order_in_its_lists) {
    images_on_one_rank drawn;
    drawn.phases[1].method = phase_method::given;
    drawn.phases[1].given = test::plan_of({{1, 0}, {2}, {4, 3}, {}});
    auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster);
    EXPECT_EQ(step.llm().plan, *drawn.phases[1].given);
    EXPECT_EQ(step.llm().quality[0].max_load, 120u);
    EXPECT_EQ(step.llm().quality[0].lower_bound, 70u) << "two of five samples, 30 and 40, on one rank";
}

TEST(orchestrate, says_which_phases_are_planned_from_scratch) {
    images_on_one_rank drawn;
    orchestrate_workspace space;
    auto const from_scratch = [&](phase_method of_vision, phase_method of_llm) {
        drawn.phases[0].method = of_vision;
        drawn.phases[1].method = of_llm;
        drawn.phases[1].given.reset();
        if (of_llm == phase_method::given) {
            drawn.phases[1].given = test::plan_of({{1, 0}, {2}, {4, 3}, {}});
        }
        auto const& step = orchestrate(space, drawn.samples, drawn.phases, drawn.cluster);
        return std::vector{step.phases[0].from_scratch, step.phases[1].from_scratch};
    };
    using flags = std::vector<bool>;
    EXPECT_EQ(from_scratch(phase_method::scratch, phase_method::relabel), (flags{true, true}));
    EXPECT_EQ(from_scratch(phase_method::stay, phase_method::scratch), (flags{false, true}));
    EXPECT_EQ(from_scratch(phase_method::relabel, phase_method::given), (flags{true, false}));
    EXPECT_EQ(from_scratch(phase_method::stay, phase_method::stay), (flags{false, false}))
        << "as if there were no before";
}

/// Two ranks, two micro-batches, costs 9, 1, 9, 1: all ranks run a micro-batch at the same time.
TEST(orchestrate, balances_every_micro_batch_and_puts_heavy_samples_together) {
    step_samples const samples{.counts = {2, 2}, .text = {9, 1, 9, 1}};
    std::vector<phase> const phases{{.name = "llm", .group = flat_group({2})}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {2}), {.micro_batches = {2}});
    EXPECT_EQ(step.llm().plan, test::plan_of({{0}, {1}, {2}, {3}}, 2)) << "(9 | 9), then (1 | 1)";
    EXPECT_EQ(step.llm().quality[0].max_load, 9u);
    EXPECT_EQ(step.llm().quality[1].max_load, 1u);
    EXPECT_EQ(sums_of(step.llm()), (micro_batch_sums{.max_loads = 10, .lower_bounds = 10, .one_batch_bound = 10}));
    EXPECT_EQ(step.traffic.moved, 0u);
}

TEST(sums_of, adds_loads_and_bounds_of_all_micro_batches) {
    planned_phase phase;
    phase.one_batch_bound = 9;
    phase.quality.resize(2);
    phase.quality[0].max_load = 7;
    phase.quality[0].lower_bound = 5;
    phase.quality[1].max_load = phase.quality[1].lower_bound = 6;
    EXPECT_EQ(sums_of(phase), (micro_batch_sums{.max_loads = 13, .lower_bounds = 11, .one_batch_bound = 9}));
}

/// Rank 0 of two nodes has drawn four samples with a large image and a small sound each.
TEST(orchestrate, plans_the_encoder_with_most_bytes_first_and_lets_the_others_follow_wherever_they_are_listed) {
    step_samples const samples{
        .counts = {4, 4},
        .text = {10, 10, 10, 10, 60, 60, 60, 60},
        .inputs = {{.units = units_of(counts{1, 1, 1, 1, 0, 0, 0, 0}), .lengths = sizes(4, 20)},
                   {.units = units_of(counts{1, 1, 1, 1, 0, 0, 0, 0}), .lengths = sizes(4, 10)}}};
    auto const ranks = flat_group({2});
    std::vector<phase> const phases{
        {.name = "audio", .group = ranks, .bytes_in = 1024, .bytes_out = 7168, .tolerance = 2},
        {.name = "vision", .group = ranks, .bytes_in = 4704, .bytes_out = 7168},
        {.name = "llm", .group = ranks, .bytes_in = 8, .tolerance = 2}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {1}));
    EXPECT_EQ(step.traffic.raw[1].between_nodes, 2u * 10 * 4704);
    EXPECT_EQ(step.traffic.raw[0].between_nodes, 2u * 20 * 1024) << "the sounds of the images that leave";
    EXPECT_EQ(step.traffic.outputs[0].between_nodes, 0u);
    EXPECT_EQ(step.traffic.outputs[1].between_nodes, 0u);
}

/// The four images of either sample of node 0 are on ranks of both nodes: of the first all on rank 0 or half of them,
/// of the second not more than that.
TEST(orchestrate, sends_samples_away_first_whose_outputs_are_scattered_anyway) {
    auto const leaves = [](std::vector<ids> const& images) {
        step_samples const samples{.counts = {2, 0, 0, 0},
                                   .text = {10, 10},
                                   .inputs = {{.units = units_of(counts{4, 4}), .lengths = sizes(8, 10)}}};
        std::vector<phase> const phases{{.name = "vision",
                                         .group = flat_group({4}),
                                         .bytes_in = 1,
                                         .bytes_out = 1,
                                         .method = phase_method::given,
                                         .given = test::plan_of(images)},
                                        {.name = "llm", .group = group_of({.tensor = 2, .data = 2}), .bytes_in = 1}};
        auto const step = orchestrate(samples, phases, uniform_topology({4}, {2}));
        EXPECT_EQ(step.llm().quality[0].max_load, 50u);
        return step.llm().plan[rank_id{1}].front();
    };
    EXPECT_EQ(leaves({{0, 1, 2, 3, 4}, {5}, {6}, {7}}), item_id{1});
    EXPECT_EQ(leaves({{4, 5, 6, 7, 0}, {1}, {2}, {3}}), item_id{0});
    EXPECT_EQ(leaves({{0, 1, 4}, {2, 5}, {3, 6}, {7}}), item_id{1}) << "half is together";
    EXPECT_EQ(leaves({{4, 5, 0}, {6, 1}, {7, 2}, {3}}), item_id{0});
}

/// Rank 0 has drawn a sound alone in samples 0 and 1, and an image with a sound in sample 3.
TEST(orchestrate, sends_sounds_away_that_are_alone_before_those_whose_image_stays) {
    attention_cost const cost{.linear = 1000, .quadratic = 1};
    step_samples const samples{.counts = {4, 2},
                               .text = {159, 96, 41, 75, 144, 22},
                               .inputs = {{.units = units_of(counts{0, 0, 0, 1, 0, 0}), .lengths = {54}},
                                          {.units = units_of(counts{1, 1, 0, 1, 0, 0}), .lengths = {13, 16, 27}}}};
    auto const ranks = flat_group({2});
    std::vector<phase> const phases{
        {.name = "vision", .cost = cost, .group = ranks, .bytes_in = 4704, .bytes_out = 7168, .tolerance = 0.05},
        {.name = "audio", .cost = cost, .group = ranks, .bytes_in = 1024, .bytes_out = 7168, .tolerance = 0.05},
        {.name = "llm", .group = ranks, .bytes_in = 8, .tolerance = 0.05}};
    auto const step = orchestrate(samples, phases, uniform_topology({2}, {1}));
    EXPECT_EQ(step.traffic.raw[1].between_nodes, (13u + 16) * 1024) << "27 of the image's sample would be less";
    EXPECT_EQ(step.traffic.outputs[0].between_nodes, 0u);
    EXPECT_EQ(step.traffic.outputs[1].between_nodes, 0u);
}

TEST(orchestrate, deals_as_told) {
    step_samples const samples{.counts = {4, 0}, .text = {9, 1, 9, 1}};
    std::vector<phase> const phases{{.name = "llm", .group = flat_group({2})}};
    auto const slots = [&](orchestrate_options const& options) {
        auto const step = orchestrate(samples, phases, uniform_topology({2}, {2}), options);
        ids result;
        for (auto const& place : step.llm().layout.places) {
            result.push_back(static_cast<std::uint32_t>(place.micro_batch));
        }
        return result;
    };
    EXPECT_EQ(slots({.micro_batches = {2}, .deal = dealing::even}), (ids{0, 0, 1, 1}));
    EXPECT_EQ(slots({.micro_batches = {2}, .deal = dealing::heavy_together}), (ids{0, 1, 0, 1}));
    EXPECT_EQ(slots({.micro_batches = {2}, .deal = dealing::as_drawn}), (ids{0, 0, 1, 1}));
    auto const chosen = std::vector{micro_batch_id{1}, micro_batch_id{1}, micro_batch_id{0}, micro_batch_id{2}};
    EXPECT_EQ(slots({.micro_batches = {3}, .micro_batch_of_sample = chosen}), (ids{1, 1, 0, 2}));
}

TEST(orchestrate, moves_the_one_whole_sample_that_lets_units_go_into_the_ranks_of_both_nodes) {
    // One unit more than four ranks can share on one node, one less on the other.
    for (std::size_t const units : {2u, 4u, 8u}) {
        std::vector<std::size_t> const of_samples{units, units, units, units, 1, units, units, units, units - 1};
        step_samples const drawn{.counts = {5, 0, 0, 0, 4, 0, 0, 0},
                                 .text = sizes(9, 1),
                                 .inputs = {{.units = units_of(of_samples), .lengths = sizes(8 * units, 100)}}};
        std::vector<phase> const phases{
            {.name = "video", .group = flat_group({8}), .bytes_in = 4704, .bytes_out = 7168, .tolerance = 1e-3},
            {.name = "llm", .group = flat_group({8}), .bytes_in = 8, .tolerance = 1.0}};
        auto const step = orchestrate(drawn, phases, uniform_topology({8}, {4}));
        EXPECT_EQ(step.phases[0].quality[0].max_load, 100 * units);
        EXPECT_EQ(step.traffic.outputs[0].between_nodes, 0u) << units;
        EXPECT_EQ(step.traffic.raw[0].between_nodes, 100 * 4704u) << units;
    }
}

TEST(orchestrate, refuses_what_does_not_belong_together) {
    images_on_one_rank const sound;
    auto const with = [&](auto change, orchestrate_options const& options = {}) {
        return [=] {
            auto drawn = sound;
            change(drawn);
            (void)orchestrate(drawn.samples, drawn.phases, drawn.cluster, options);
        };
    };
    EXPECT_THAT(with([](auto& drawn) { drawn.phases.clear(); }),
                refuses("orchestrate: phases.size() = 0, expected at least the LLM"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.counts.pop_back(); }),
                refuses("orchestrate: samples.counts.size() = 3, expected one for each of 4 world ranks"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.counts[3] = 2; }),
                refuses("orchestrate: samples.counts[3] = 2, expected counts that add up to the 5 samples"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.text.clear(); }),
                refuses("orchestrate: samples.text.size() = 0, expected one for each of 5 samples that are drawn"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.counts[3] = 0; }),
                refuses("orchestrate: samples.text.size() = 5, expected one for each of 4 samples that are drawn"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.labels = {1}; }),
                refuses("orchestrate: samples.labels.size() = 1, expected one for each of 5 samples"));
    EXPECT_THAT(with([](auto& drawn) { drawn.samples.inputs.clear(); }),
                refuses("orchestrate: samples.inputs.size() = 0, expected one for each of 1 encoders"));
    EXPECT_THAT(with([](auto&) {}, {.micro_batches = {0}}),
                refuses("orchestrate: options.micro_batches = 0, expected at least 1, below 2^32"));
    EXPECT_THAT(with([](auto&) {}, {.micro_batches = {2}, .micro_batch_of_sample = {micro_batch_id{2}}}),
                refuses("orchestrate: options.micro_batch_of_sample.size() = 1, expected one for each of 5 samples"));
}

/// A random step and what `orchestrate` makes of it.
class orchestrate_law : public testing::TestWithParam<unsigned> {
  protected:
    [[nodiscard]] std::uint64_t weight(std::size_t number, std::size_t item) const {
        auto const& phase = drawn.phases[number];
        sizes length{number < step.encoders() ? drawn.samples.inputs[number].lengths[item] : sequence(item)};
        length[0] = (length[0] + phase.pad_to - 1) / phase.pad_to * phase.pad_to;
        sizes result(1);
        phase.cost.weigh(length, result);
        return result[0];
    }

    [[nodiscard]] std::uint64_t output_tokens(std::size_t encoder, std::size_t unit) const {
        std::uint64_t const down = drawn.phases[encoder].tokens_per_output;
        return (drawn.samples.inputs[encoder].lengths[unit] + down - 1) / down;
    }

    [[nodiscard]] std::uint64_t sequence(std::size_t sample) const {
        std::uint64_t sum = drawn.samples.text[sample];
        for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
            auto const& offsets = step.units[encoder].offsets;
            for (std::size_t unit = offsets[sample]; unit < offsets[sample + 1]; ++unit) {
                sum += output_tokens(encoder, unit);
            }
        }
        return sum;
    }

    test::drawn_step const drawn = test::random_step(GetParam());
    planned_step const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
};

TEST_P(orchestrate_law, every_item_is_planned_once_in_the_micro_batch_of_its_sample) {
    for (std::size_t number = 0; number < step.phases.size(); ++number) {
        auto const& phase = step.phases[number];
        bool const encoder = number < step.encoders();
        std::size_t const items = encoder ? step.units[number].units() : drawn.samples.size();
        ASSERT_NO_THROW(require_partition("test", phase.plan, items));
        EXPECT_EQ(phase.plan.micro_batches, drawn.options.micro_batches.value);
        EXPECT_EQ(phase.layout, layout_of(phase.plan, drawn.phases[number].group, drawn.cluster.size()));
        for (std::size_t item = 0; encoder && item < items; ++item) {
            auto const sample = samples_of_units(step.units[number])[item];
            EXPECT_EQ(phase.layout.places[item].micro_batch, step.llm().layout[sample].micro_batch);
        }
    }
}

TEST_P(orchestrate_law, qualities_are_those_of_the_plans) {
    for (std::size_t number = 0; number < step.phases.size(); ++number) {
        auto const& phase = step.phases[number];
        ASSERT_EQ(phase.quality.size(), drawn.options.micro_batches.value);
        for (std::size_t slot = 0; slot < phase.quality.size(); ++slot) {
            std::uint64_t busiest = 0;
            std::uint64_t total = 0;
            for (std::size_t rank = 0; rank < phase.plan.ranks().value; ++rank) {
                std::uint64_t load = 0;
                for (item_id const item : phase.plan.batch(to_id<rank_id>(rank), to_id<micro_batch_id>(slot))) {
                    load += weight(number, to_index(item));
                }
                busiest = std::max(busiest, load);
                total += load;
            }
            EXPECT_EQ(phase.quality[slot].max_load, busiest);
            EXPECT_EQ(phase.quality[slot].total_load, total);
            EXPECT_LE(phase.quality[slot].lower_bound, busiest);
            EXPECT_EQ(phase.quality[slot].ranks, drawn.phases[number].group.ranks());
        }
        EXPECT_LE(sums_of(phase).one_batch_bound, sums_of(phase).max_loads);
        EXPECT_LE(sums_of(phase).lower_bounds, sums_of(phase).max_loads);
    }
}

TEST_P(orchestrate_law, outputs_arrive_with_their_samples_and_gradients_return_to_their_units) {
    for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
        auto const outputs = step.outputs(encoder);
        auto const owners = samples_of_units(step.units[encoder]);
        for (std::size_t unit = 0; unit < owners.size(); ++unit) {
            EXPECT_EQ(outputs.from().places[unit], step.phases[encoder].layout.places[unit]);
            EXPECT_EQ(outputs.to().places[unit].rank, step.llm().layout[owners[unit]].rank);
            EXPECT_EQ(outputs.to().places[unit].micro_batch, step.llm().layout[owners[unit]].micro_batch);
        }
        auto const to_llm =
            rearrangement{expand(step.home, step.units[encoder]), expand(step.llm().layout, step.units[encoder])};
        EXPECT_EQ(outputs, compose(to_llm, invert(step.raw(encoder)))) << "as good as going home in between";
        EXPECT_EQ(compose(invert(outputs), outputs), (rearrangement{outputs.from(), outputs.from()}));
    }
    EXPECT_EQ(compose(step.original_order(), step.text()), (rearrangement{step.home, step.home}));
}

TEST_P(orchestrate_law, traffic_is_that_of_the_exchanges_and_of_their_transposes) {
    step_traffic sum{.raw = {}, .outputs = {}, .trained = {}, .text = {}};
    sizes of_node(drawn.cluster.nodes());
    auto const count = [&](rearrangement const& move, sizes const& bytes) {
        auto const one = traffic_of(move, drawn.cluster, bytes);
        auto const back = traffic_of(invert(move), drawn.cluster, bytes);
        for (std::size_t from = 0; from < one.nodes; ++from) {
            for (std::size_t to = 0; to < one.nodes; ++to) {
                EXPECT_EQ(one.node_to_node[from * one.nodes + to], back.node_to_node[to * one.nodes + from]);
                if (from != to) {
                    of_node[from] += one.node_to_node[from * one.nodes + to];
                    of_node[to] += one.node_to_node[from * one.nodes + to];
                }
            }
        }
        sum.moved += one.moved;
        sum.between_nodes += one.between_nodes;
        return moved_bytes{.total = one.total, .moved = one.moved, .between_nodes = one.between_nodes};
    };
    for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
        auto const& phase = drawn.phases[encoder];
        auto const raw = field_per_token("raw", drawn.samples.inputs[encoder].lengths, phase.bytes_in).bytes;
        sizes outputs;
        for (std::size_t unit = 0; unit < raw.size(); ++unit) {
            outputs.push_back(output_tokens(encoder, unit) * phase.bytes_out);
        }
        sum.raw.push_back(count(step.raw(encoder), raw));
        sum.outputs.push_back(count(step.outputs(encoder), outputs));
        sum.trained.push_back(phase.trained);
        if (phase.trained) {
            (void)count(invert(step.outputs(encoder)), outputs);
        }
    }
    sum.text = count(step.text(), field_per_token("text", drawn.samples.text, drawn.phases.back().bytes_in).bytes);
    sum.busiest_node = of_node.empty() ? 0 : *std::ranges::max_element(of_node);
    EXPECT_EQ(step.traffic, sum);
}

TEST_P(orchestrate_law, first_and_last_pipeline_stage_plan_the_same_step) {
    EXPECT_EQ(step, orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options));
}

TEST_P(orchestrate_law, the_composed_exchange_moves_no_more_than_going_home_in_between) {
    for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
        sizes const bytes(step.units[encoder].units(), 1);
        auto const home =
            rearrangement{expand(step.home, step.units[encoder]), expand(step.llm().layout, step.units[encoder])};
        EXPECT_LE(traffic_of(step.outputs(encoder), drawn.cluster, bytes).moved,
                  traffic_of(invert(step.raw(encoder)), drawn.cluster, bytes).moved +
                      traffic_of(home, drawn.cluster, bytes).moved);
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, orchestrate_law, testing::Range(0u, 150u));

}  // namespace
}  // namespace evenkeel::orchestrate_test
