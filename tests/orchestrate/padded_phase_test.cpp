// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/partition.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/cost/padded.hpp>
#include <evenkeel/orchestrate/bound.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>
#include <evenkeel/solve/balance_mixed.hpp>
#include <evenkeel/solve/balance_padded.hpp>

#include "tests/support/layouts.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::padded_phase_test {
namespace {

/// Two ranks; an audio encoder and an LLM. Rank 0 has drawn all four clips.
struct clips_on_one_rank {
    topology cluster = uniform_topology({2}, {2});
    step_samples samples{
        .counts = {4, 1},
        .text = {1, 1, 1, 1, 1900},
        .inputs = {{.units = units_of(std::vector<std::size_t>{1, 1, 1, 1, 0}), .lengths = {900, 100, 500, 400}}}};
    std::vector<phase> phases{{.name = "audio", .group = flat_group({2}), .bytes_in = 1024, .bytes_out = 7168},
                              {.name = "llm", .group = flat_group({2}), .bytes_in = 8}};
};

TEST(padded_phase, puts_clips_of_like_lengths_together) {
    clips_on_one_rank drawn;
    drawn.phases[0].cost = padded_cost{};
    auto const audio = orchestrate(drawn.samples, drawn.phases, drawn.cluster).phases[0];
    EXPECT_EQ(audio.quality[0].max_load, 1500u) << "three clips, padded to 500";
    EXPECT_EQ(audio.quality[0].total_load, 2400u);
    EXPECT_EQ(audio.plan, test::plan_of({{1, 2, 3}, {0}})) << "most of the bytes stay where they were drawn";
}

TEST(padded_phase, counts_what_is_packed_afterwards) {
    clips_on_one_rank drawn;
    conv_attention_cost const cost{.padded = 1, .linear = 4};
    drawn.phases[0].cost = cost;
    auto const audio = orchestrate(drawn.samples, drawn.phases, drawn.cluster).phases[0];
    EXPECT_EQ(audio.quality[0], balance(drawn.samples.inputs[0].lengths, rank_count{2}, cost).quality);
}

TEST(padded_phase, judges_a_given_plan_by_its_padded_loads) {
    clips_on_one_rank drawn;
    drawn.phases[0].method = phase_method::given;
    drawn.phases[0].given = test::plan_of({{0, 1}, {2, 3}});
    drawn.phases[0].cost = padded_cost{};
    auto const padded = orchestrate(drawn.samples, drawn.phases, drawn.cluster).phases[0].quality[0];
    EXPECT_EQ(padded.max_load, 1800u);
    EXPECT_EQ(padded.total_load, 2800u);
    drawn.phases[0].cost = conv_attention_cost{.padded = 1, .linear = 4};
    auto const both = orchestrate(drawn.samples, drawn.phases, drawn.cluster).phases[0].quality[0];
    EXPECT_EQ(both.max_load, 1800u + 4 * 1000);
    EXPECT_EQ(both.total_load, 2800u + 4 * 1900);
}

/// The load of one list of a plan.
std::uint64_t load_of_list(phase const& phase, std::vector<std::uint64_t> const& lengths,
                           std::span<item_id const> items) {
    std::uint64_t packed = 0;
    std::uint64_t longest = 0;
    std::uint64_t count = 0;
    for (item_id const item : items) {
        std::uint64_t const tokens = (lengths[to_index(item)] + phase.pad_to - 1) / phase.pad_to * phase.pad_to;
        std::vector<std::uint64_t> const one{tokens};
        std::vector<std::uint64_t> whole(1);
        std::vector<std::uint64_t> padded(1);
        phase.cost.weigh(one, whole, padded);
        packed += whole[0] - padded[0];
        longest = std::max(longest, padded[0]);
        count += whole[0] > 0 ? 1U : 0U;
    }
    return packed + count * longest;
}

class padded_phase_law : public testing::TestWithParam<std::uint64_t> {};

TEST_P(padded_phase_law, loads_are_padded_in_every_micro_batch_and_no_bound_is_above_them) {
    auto drawn = test::random_step(GetParam(), {1 + GetParam() % 16});
    for (std::size_t number = 0; number < drawn.phases.size(); ++number) {
        drawn.phases[number].cost =
            (number + GetParam()) % 2 == 0 ? phase_cost{padded_cost{}} : phase_cost{conv_attention_cost{}};
    }
    auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
    for (std::size_t number = 0; number < step.encoders(); ++number) {
        auto const& planned = step.phases[number];
        auto const& lengths = drawn.samples.inputs[number].lengths;
        EXPECT_NO_THROW(require_partition("test", planned.plan, lengths.size()));
        for (std::size_t slot = 0; slot < planned.quality.size(); ++slot) {
            std::uint64_t busiest = 0;
            std::uint64_t total = 0;
            for (std::size_t rank = 0; rank < planned.plan.ranks().value; ++rank) {
                auto const load = load_of_list(drawn.phases[number], lengths,
                                               planned.plan.batch(to_id<rank_id>(rank), to_id<micro_batch_id>(slot)));
                busiest = std::max(busiest, load);
                total += load;
            }
            EXPECT_EQ(planned.quality[slot].max_load, busiest);
            EXPECT_EQ(planned.quality[slot].total_load, total);
            EXPECT_LE(planned.quality[slot].lower_bound, busiest);
        }
        EXPECT_LE(planned.one_batch_bound, sums_of(planned).max_loads);
    }
    auto const bound = bound_of(drawn.samples, drawn.phases, drawn.cluster, step);
    EXPECT_LE(bound.between_nodes, step.traffic.between_nodes);
    EXPECT_LE(bound.busiest_node, step.traffic.busiest_node);
}

INSTANTIATE_TEST_SUITE_P(seeds, padded_phase_law, testing::Range<std::uint64_t>(0, 150));

}  // namespace
}  // namespace evenkeel::padded_phase_test
