// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/orchestrate/orchestrate.hpp>
#include <evenkeel/orchestrate/step.hpp>

namespace evenkeel::step_test {
namespace {

auto refuses(std::string const& text) { return testing::ThrowsMessage<std::invalid_argument>(text); }

planned_step planned() {
    step_samples const samples{.counts = {1, 1},
                               .text = {5, 6},
                               .inputs = {{.units = units_of(std::vector<std::size_t>{1, 0}), .lengths = {3}}}};
    std::vector<phase> const phases{{.name = "vision", .group = flat_group({2})},
                                    {.name = "llm", .group = flat_group({2})}};
    return orchestrate(samples, phases, uniform_topology({2}, {1}), {.micro_batches = {2}});
}

TEST(planned_step, refuses_an_encoder_that_it_has_not) {
    auto const step = planned();
    EXPECT_THAT([&] { (void)step.raw(1); },
                refuses("planned_step::raw: encoder = 1, expected below the 1 encoders of the step"));
    EXPECT_THAT([&] { (void)step.outputs(1); },
                refuses("planned_step::outputs: encoder = 1, expected below the 1 encoders of the step"));
    EXPECT_EQ(step.raw(0).size(), 1u);
    EXPECT_EQ(step.outputs(0).size(), 1u);
}

TEST(planned_step, refuses_what_it_is_asked_where_nothing_has_been_planned) {
    planned_step const step;
    EXPECT_EQ(step.encoders(), 0u);
    EXPECT_THAT([&] { (void)step.llm(); }, refuses("planned_step::llm: phases.size() = 0, expected at least the LLM"));
    EXPECT_THAT([&] { (void)step.text(); },
                refuses("planned_step::text: phases.size() = 0, expected at least the LLM"));
    EXPECT_THAT([&] { (void)step.original_order(); },
                refuses("planned_step::original_order: phases.size() = 0, expected at least the LLM"));
    EXPECT_THAT([&] { (void)step.raw(0); }, refuses("planned_step::raw: phases.size() = 0, expected at least the LLM"));
    EXPECT_THAT([&] { (void)step.outputs(0); },
                refuses("planned_step::outputs: phases.size() = 0, expected at least the LLM"));
}

TEST(empty_ranks, refuse_a_micro_batch_that_the_phase_has_not) {
    auto const step = planned();
    EXPECT_THAT([&] { (void)empty_ranks(step.phases[0], micro_batch_id{2}); },
                refuses("empty_ranks: micro_batch = 2, expected below the 2 micro-batches of the phase"));
    EXPECT_EQ(
        empty_ranks(step.phases[0], micro_batch_id{0}).size() + empty_ranks(step.phases[0], micro_batch_id{1}).size(),
        3u);
    EXPECT_TRUE(empty_ranks(planned_phase{}).empty());
}

}  // namespace
}  // namespace evenkeel::step_test
