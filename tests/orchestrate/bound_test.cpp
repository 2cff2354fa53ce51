// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cost/attention.hpp>
#include <evenkeel/orchestrate/bound.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>

#include "tests/support/layouts.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::bound_test {
namespace {

using sizes = std::vector<std::uint64_t>;
using counts = std::vector<std::size_t>;

TEST(bound_of, is_the_load_that_a_node_cannot_keep_at_the_bytes_that_it_costs) {
    // Node 0 has drawn images of 60 tokens in all and may keep 30; nothing else is heavy.
    step_samples const samples{.counts = {3, 3},
                               .text = {30, 30, 30, 50, 50, 50},
                               .inputs = {{.units = units_of(counts{1, 1, 1, 0, 0, 0}), .lengths = {20, 20, 20}}}};
    std::vector<phase> const phases{
        {.name = "vision", .group = flat_group({2}), .bytes_in = 10, .bytes_out = 100, .tolerance = 0},
        {.name = "llm", .group = flat_group({2}), .bytes_in = 1, .tolerance = 1}};
    auto const cluster = uniform_topology({2}, {1});
    auto const step = orchestrate(samples, phases, cluster);
    auto const least = bound_of(samples, phases, cluster, step);
    // The busiest rank cannot have less than two images: one has to leave, with 20 tokens of 10 bytes and 30 of text.
    EXPECT_EQ(step.phases[0].quality[0].lower_bound, 40u);
    EXPECT_EQ(step.traffic.between_nodes, 20u * 10 + 30);
    EXPECT_LE(least.between_nodes, step.traffic.between_nodes);
    EXPECT_GE(least.between_nodes, 20u * 10);
    EXPECT_EQ(least.busiest_node, least.between_nodes);
}

TEST(bound_of, names_itself_where_it_refuses_what_orchestrate_would) {
    step_samples samples{.counts = {1}, .text = {5}};
    std::vector<phase> phases{{.name = "llm", .group = flat_group({1}), .bytes_in = 2}};
    auto const cluster = uniform_topology({1}, {1});
    auto const step = orchestrate(samples, phases, cluster);
    auto const bound = [&] { (void)bound_of(samples, phases, cluster, step); };
    samples.text[0] = std::uint64_t{1} << 63U;
    EXPECT_THAT(bound, testing::ThrowsMessage<std::overflow_error>(
                           "bound_of: phases[0] (llm): samples.text[0] * bytes_in, 9223372036854775808 * 2, exceeds 64 "
                           "bits"));
    phases[0].pad_to = 0;
    EXPECT_THAT(bound, testing::ThrowsMessage<std::invalid_argument>(
                           "bound_of: phases[0] (llm): pad_to = 0, expected at least 1"));
    phases.clear();
    EXPECT_THAT(
        bound, testing::ThrowsMessage<std::invalid_argument>("bound_of: phases.size() = 0, expected at least the LLM"));
}

TEST(bound_of, refuses_a_step_that_is_not_of_these_samples_and_phases) {
    step_samples const samples{
        .counts = {1, 1}, .text = {5, 6}, .inputs = {{.units = units_of(counts{1, 1}), .lengths = {3, 4}}}};
    std::vector<phase> const phases{{.name = "vision", .group = flat_group({2})},
                                    {.name = "llm", .group = flat_group({2})}};
    auto const cluster = uniform_topology({2}, {1});
    auto const step = orchestrate(samples, phases, cluster);
    auto other = samples;
    auto runs = phases;
    auto const bound = [&] { (void)bound_of(other, runs, cluster, step); };
    auto const refuses = [](std::string const& text) { return testing::ThrowsMessage<std::invalid_argument>(text); };
    other = {.counts = {2, 1}, .text = {5, 6, 7}, .inputs = {{.units = units_of(counts{1, 1, 0}), .lengths = {3, 4}}}};
    EXPECT_THAT(bound, refuses("bound_of: samples.text.size() = 3, expected one for each of 2 samples of the step"));
    other = {.counts = {0, 1}, .text = {5}, .inputs = {{.units = units_of(counts{2}), .lengths = {3, 4}}}};
    EXPECT_THAT(bound, refuses("bound_of: samples.text.size() = 1, expected one for each of 2 samples of the step"));
    other = samples;
    other.inputs[0] = {.units = units_of(counts{1, 0}), .lengths = {3}};
    EXPECT_THAT(bound, refuses("bound_of: phases[0] (vision): samples.inputs[0].lengths.size() = 1, expected one for "
                               "each of 2 units of the step"));
    other = samples;
    other.inputs.clear();
    runs.erase(runs.begin());
    EXPECT_THAT(bound, refuses("bound_of: phases.size() = 1, expected one for each of 2 phases of the step"));
    other = samples;
    runs = phases;
    runs[1].group = flat_group({1});
    EXPECT_THAT(bound, refuses("bound_of: phases[1] (llm): group.ranks() = 1, expected the 2 ranks of the step"));
    EXPECT_THAT([&] { (void)bound_of(samples, phases, cluster, planned_step{}); },
                refuses("bound_of: step.phases.size() = 0, expected at least the LLM"));
}

TEST(bound_of, is_nothing_where_everything_can_stay) {
    step_samples const samples{.counts = {1, 1}, .text = {5, 5}};
    std::vector<phase> const phases{{.name = "llm", .group = flat_group({2}), .bytes_in = 4}};
    auto const cluster = uniform_topology({2}, {1});
    EXPECT_EQ(bound_of(samples, phases, cluster, orchestrate(samples, phases, cluster)), step_bound{});
}

/// The shorter, the heavier.
struct falling_cost {
    [[nodiscard]] std::uint64_t weight(std::uint64_t length) const noexcept {
        return length == 1 ? std::numeric_limits<std::uint64_t>::max() - 9 : 1;
    }
};

TEST(bound_of, finds_the_cheapest_to_receive_however_large_bytes_and_loads_are) {
    // The third node may get the heavy unit of one byte instead of the light one of nearly 2^64.
    step_samples const samples{
        .counts = {1, 1, 0},
        .text = {0, 0},
        .inputs = {{.units = units_of(counts{1, 1}), .lengths = {std::numeric_limits<std::uint64_t>::max() - 99, 1}}}};
    std::vector<phase> const phases{{.name = "vision",
                                     .cost = falling_cost{},
                                     .group = {.members = {world_rank{0}, world_rank{2}}, .offsets = {0, 1, 2}},
                                     .bytes_in = 1,
                                     .tokens_per_output = std::numeric_limits<std::uint64_t>::max(),
                                     .tolerance = 0},
                                    {.name = "llm", .group = flat_group({3})}};
    auto const cluster = uniform_topology({3}, {1});
    auto const step = orchestrate(samples, phases, cluster);
    EXPECT_EQ(step.traffic.busiest_node, 1u);
    EXPECT_LE(bound_of(samples, phases, cluster, step).busiest_node, 1u);
}

TEST(bound_of, lets_a_node_receive_what_all_others_have_no_room_for) {
    // Three nodes give away 10 tokens each, and all of that has to go to the fourth.
    step_samples const samples{.counts = {11, 11, 11, 7},
                               .text = sizes(40),
                               .inputs = {{.units = units_of(counts(40, 1)), .lengths = sizes(40, 10)}}};
    std::vector<phase> const phases{
        {.name = "vision", .group = flat_group({4}), .bytes_in = 3, .bytes_out = 1, .tolerance = 0},
        {.name = "llm", .group = flat_group({4}), .tolerance = 1}};
    auto const cluster = uniform_topology({4}, {1});
    auto const step = orchestrate(samples, phases, cluster);
    auto const least = bound_of(samples, phases, cluster, step);
    EXPECT_EQ(least.between_nodes, 3u * 10 * 3);
    EXPECT_EQ(least.busiest_node, 3u * 10 * 3);
    EXPECT_EQ(step.traffic.busiest_node, 3u * 10 * 3);
}

/// Steps of 3 or 4 nodes of one rank, of units alone, small enough to try every layout.
TEST(bound_of, is_nothing_for_a_given_step_that_stays_uneven) {
    step_samples const samples{.counts = {3, 0}, .text = {5, 5, 5}};
    std::vector<phase> const phases{{.name = "llm",
                                     .group = flat_group({2}),
                                     .bytes_in = 4,
                                     .method = phase_method::given,
                                     .given = test::plan_of({{0, 1, 2}, {}})}};
    auto const cluster = uniform_topology({2}, {1});
    EXPECT_EQ(bound_of(samples, phases, cluster, orchestrate(samples, phases, cluster)), step_bound{});
}

TEST(bound_of, counts_no_unit_of_a_node_among_what_it_receives) {
    // Node 0 has to receive load of 20'000 in units of 10 tokens, half of it from either other node. Its own unit has
    // as much load for a fifteenth of the bytes.
    counts const drawn_on{1, 400, 400};
    step_samples samples{.counts = drawn_on,
                         .text = sizes(801),
                         .inputs = {{.units = units_of(counts(801, 1)), .lengths = sizes(801, 10)}}};
    samples.inputs[0].lengths.front() = 100;
    std::vector<phase> const phases{{.name = "vision",
                                     .cost = attention_cost{.linear = 0, .quadratic = 1},
                                     .group = flat_group({3}),
                                     .bytes_in = 1,
                                     .tolerance = 0},
                                    {.name = "llm", .group = flat_group({3}), .tolerance = 1}};
    auto const cluster = uniform_topology({3}, {1});
    auto const step = orchestrate(samples, phases, cluster);
    EXPECT_EQ(step.phases[0].quality[0].max_load, 30'000u);
    EXPECT_EQ(bound_of(samples, phases, cluster, step).busiest_node, 2000u);
    EXPECT_EQ(step.traffic.busiest_node, 2000u);
}

class busiest_node_law : public testing::TestWithParam<unsigned> {};

TEST_P(busiest_node_law, is_never_above_what_the_best_of_all_layouts_lets_a_node_send_and_receive) {
    test::seeded random{GetParam()};
    std::size_t const nodes = random.between(3, 4);
    std::size_t const count = random.between(1, nodes == 4 ? 6 : 7);
    step_samples samples{.counts = counts(nodes), .text = sizes(count)};
    encoder_inputs inputs{.units = units_of(counts(count, 1))};
    for (std::size_t unit = 0; unit < count; ++unit) {
        ++samples.counts[random.up_to(1) == 0 ? 0 : random.up_to(nodes - 1)];
        inputs.lengths.push_back(random.between(1, 12));
    }
    samples.inputs.push_back(inputs);
    std::vector<phase> const phases{{.name = "vision",
                                     .cost = attention_cost{.linear = 4, .quadratic = random.up_to(1)},
                                     .group = flat_group({nodes}),
                                     .bytes_in = random.between(1, 9),
                                     .tolerance = 0.05 * static_cast<double>(random.up_to(4))},
                                    {.name = "llm", .group = flat_group({nodes}), .tolerance = 1e9}};
    auto const cluster = uniform_topology({nodes}, {1});
    auto const step = orchestrate(samples, phases, cluster);
    auto const bound = bound_of(samples, phases, cluster, step);
    sizes weights(count);
    phases[0].cost.weigh(inputs.lengths, weights);
    std::uint64_t const allowed = detail::allowed_load(phases[0], step.phases[0].quality[0], {1});
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::size_t> at(count);
    for (bool more = true; more;) {
        sizes loads(nodes);
        sizes bytes(nodes);
        for (std::size_t unit = 0; unit < count; ++unit) {
            loads[at[unit]] += weights[unit];
            if (std::size_t const home = to_index(step.home.places[unit].rank); home != at[unit]) {
                bytes[home] += inputs.lengths[unit] * phases[0].bytes_in;
                bytes[at[unit]] += inputs.lengths[unit] * phases[0].bytes_in;
            }
        }
        if (*std::ranges::max_element(loads) <= allowed) {
            best = std::min(best, *std::ranges::max_element(bytes));
        }
        more = false;
        for (std::size_t unit = 0; unit < count && !more; ++unit) {
            more = ++at[unit] < nodes;
            at[unit] = more ? at[unit] : 0;
        }
    }
    EXPECT_LE(bound.busiest_node, best);
}

INSTANTIATE_TEST_SUITE_P(seeds, busiest_node_law, testing::Range(0u, 200u));

/// Steps of 2 nodes and up to 4 ranks, small enough to try every layout of every phase.
class bound_law : public testing::TestWithParam<unsigned> {};

TEST_P(bound_law, is_never_above_what_the_best_of_all_layouts_moves) {
    test::seeded random{GetParam()};
    std::size_t const ranks = random.between(2, 4);
    topology cluster;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        cluster.nodes_of_ranks.push_back(node_id{rank < (ranks + 1) / 2 ? 0u : 1u});
    }
    std::size_t const count = random.between(1, ranks == 4 ? 4 : 5);
    step_samples samples{.counts = counts(ranks)};
    counts units;
    encoder_inputs inputs;
    for (std::size_t sample = 0; sample < count; ++sample) {
        ++samples.counts[random.up_to(1) == 0 ? 0 : random.up_to(ranks - 1)];
        samples.text.push_back(random.up_to(20));
        units.push_back(inputs.lengths.size() < 3 ? random.up_to(1) : 0);
        if (units.back() == 1) {
            inputs.lengths.push_back(random.between(1, 30));
        }
    }
    inputs.units = units_of(units);
    samples.inputs.push_back(inputs);
    std::vector<phase> const phases{{.name = "vision",
                                     .group = flat_group({ranks}),
                                     .bytes_in = random.up_to(9),
                                     .bytes_out = random.up_to(9),
                                     .trained = random.up_to(1) == 0,
                                     .tolerance = 0.1},
                                    {.name = "llm",
                                     .cost = attention_cost{.linear = 1, .quadratic = random.up_to(1)},
                                     .group = flat_group({ranks}),
                                     .bytes_in = random.up_to(2),
                                     .tolerance = 0.1}};
    auto const step = orchestrate(samples, phases, cluster);
    auto const bound = bound_of(samples, phases, cluster, step);

    std::vector<sizes> weights;
    sizes sequences = samples.text;
    for (std::size_t unit = 0; unit < inputs.lengths.size(); ++unit) {
        sequences[to_index(samples_of_units(inputs.units)[unit])] += inputs.lengths[unit];
    }
    std::vector<sizes> lengths{inputs.lengths, sequences};
    sizes allowed;
    for (std::size_t number = 0; number < 2; ++number) {
        weights.emplace_back(lengths[number].size());
        phases[number].cost.weigh(lengths[number], weights.back());
        auto const& quality = step.phases[number].quality[0];
        allowed.push_back(std::max(quality.max_load, quality.lower_bound + quality.lower_bound / 10));
    }
    // Every placement of a phase that its ranks can bear.
    auto const placements = [&](std::size_t number) {
        std::vector<std::vector<std::size_t>> result;
        std::vector<std::size_t> at(weights[number].size());
        for (bool more = true; more;) {
            sizes loads(ranks);
            for (std::size_t item = 0; item < at.size(); ++item) {
                loads[at[item]] += weights[number][item];
            }
            if (*std::ranges::max_element(loads) <= allowed[number]) {
                result.push_back(at);
            }
            more = false;
            for (std::size_t item = 0; item < at.size() && !more; ++item) {
                more = ++at[item] < ranks;
                at[item] = more ? at[item] : 0;
            }
        }
        return result;
    };
    auto const node = [&](std::size_t rank) { return to_index(cluster.nodes_of_ranks[rank]); };
    auto const owners = samples_of_units(inputs.units);
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    for (auto const& encoded : placements(0)) {
        for (auto const& run : placements(1)) {
            std::uint64_t bytes = 0;
            for (std::size_t unit = 0; unit < encoded.size(); ++unit) {
                auto const owner = to_index(owners[unit]);
                auto const home = node(to_index(step.home.places[owner].rank));
                bytes += node(encoded[unit]) != home ? inputs.lengths[unit] * phases[0].bytes_in : 0;
                bytes += node(encoded[unit]) != node(run[owner])
                             ? inputs.lengths[unit] * phases[0].bytes_out * (phases[0].trained ? 2 : 1)
                             : 0;
            }
            for (std::size_t sample = 0; sample < run.size(); ++sample) {
                bytes += node(run[sample]) != node(to_index(step.home.places[sample].rank))
                             ? samples.text[sample] * phases[1].bytes_in
                             : 0;
            }
            best = std::min(best, bytes);
        }
    }
    EXPECT_LE(bound.between_nodes, best);
    EXPECT_LE(bound.busiest_node, best) << "each of two nodes is one end of everything";
    EXPECT_GE(step.traffic.between_nodes, best);
}

INSTANTIATE_TEST_SUITE_P(seeds, bound_law, testing::Range(0u, 300u));

}  // namespace
}  // namespace evenkeel::bound_test
