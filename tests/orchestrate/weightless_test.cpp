// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/core/group.hpp>
#include <evenkeel/core/topology.hpp>
#include <evenkeel/cost/conv_attention.hpp>
#include <evenkeel/orchestrate/orchestrate.hpp>

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

}  // namespace
}  // namespace evenkeel::weightless_test
