// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/interleaved.hpp>
#include <evenkeel/pipeline/one_f_one_b.hpp>
#include <evenkeel/pipeline/validate.hpp>
#include <evenkeel/pipeline/zero_bubble.hpp>

#include "tests/support/schedule_generator.hpp"
#include "tests/support/schedules.hpp"

namespace evenkeel::validate_test {
namespace {

using enum instruction_kind;
using test::make;

std::size_t position_of(schedule const& pipeline, instruction const& one) {
    return static_cast<std::size_t>(std::ranges::find(pipeline.instructions, one) - pipeline.instructions.begin());
}

schedule without(schedule pipeline, std::size_t position) {
    pipeline.instructions.erase(pipeline.instructions.begin() + static_cast<std::ptrdiff_t>(position));
    for (auto& offset : pipeline.offsets) {
        offset -= offset > position ? 1 : 0;
    }
    return pipeline;
}

schedule swapped(schedule pipeline, instruction const& a, instruction const& b) {
    std::swap(pipeline.instructions.at(position_of(pipeline, a)), pipeline.instructions.at(position_of(pipeline, b)));
    return pipeline;
}

std::string first_fault(std::span<schedule const> pipelines) {
    auto const faults = faults_of(pipelines);
    return faults.empty() ? "none" : faults.front().text;
}
std::string first_fault(schedule const& pipeline) { return first_fault(std::span{&pipeline, 1}); }

TEST(faults_of, finds_none_in_pipelines_that_meet_at_their_batch_syncs) {
    EXPECT_EQ(first_fault(std::array{distmm_pipe(stage_count{2}, {6}, {2}), distmm_pipe(stage_count{4}, {12}, {4})}),
              "none");
    EXPECT_EQ(first_fault(std::span<schedule const>{}), "none");
}

TEST(faults_of, names_what_is_missing) {
    auto const drawn = distmm_pipe(stage_count{4}, {8}, {4});
    auto const lacking = [&](instruction const& one) { return first_fault(without(drawn, position_of(drawn, one))); };

    EXPECT_EQ(lacking(make(forward, 1, 2)), "pipelines[0], device 1: F3 is missing");
    EXPECT_EQ(lacking(make(backward, 0, 7)), "pipelines[0], device 0: B8 is missing");
    EXPECT_EQ(lacking(make(send_activation, 2, 0)), "pipelines[0], device 2: SEND_F1 is missing");
    EXPECT_EQ(lacking(make(receive_activation, 3, 0)), "pipelines[0], device 3: RECV_F1 is missing");
    EXPECT_EQ(lacking(make(send_gradient, 3, 4)), "pipelines[0], device 3: SEND_B5 is missing");
    EXPECT_EQ(lacking(make(receive_gradient, 0, 4)), "pipelines[0], device 0: RECV_B5 is missing");
    EXPECT_EQ(lacking(make(batch_sync, 3, 1)), "pipelines[0], device 3: S2 is missing");
}

TEST(faults_of, names_what_stands_before_what_it_needs) {
    auto const drawn = distmm_pipe(stage_count{2}, {4}, {2});

    EXPECT_EQ(first_fault(swapped(drawn, make(forward, 1, 1), make(batch_sync, 1, 0))),
              "pipelines[0], device 1: S1 stands before F2, which it needs");
    EXPECT_EQ(first_fault(swapped(drawn, make(batch_sync, 1, 0), make(backward, 1, 0))),
              "pipelines[0], device 1: B1 stands before S1, which it needs");
    EXPECT_EQ(first_fault(swapped(drawn, make(receive_activation, 1, 0), make(forward, 1, 0))),
              "pipelines[0], device 1: F1 stands before RECV_F1, which it needs");
    EXPECT_EQ(first_fault(swapped(drawn, make(forward, 0, 0), make(send_activation, 0, 0))),
              "pipelines[0], device 0: SEND_F1 stands before F1, which it needs");
    EXPECT_EQ(first_fault(swapped(drawn, make(batch_sync, 1, 0), make(batch_sync, 1, 1))),
              "pipelines[0], device 1: S2 stands before F3, which it needs");
    auto const parts = zero_bubble_h1(stage_count{2}, {2});
    EXPECT_EQ(first_fault(swapped(parts, make(input_gradient, 0, 0), make(weight_gradient, 0, 0))),
              "pipelines[0], device 0: W1 stands before I1, which it needs");
    EXPECT_EQ(first_fault(swapped(parts, make(input_gradient, 1, 0), make(send_gradient, 1, 0))),
              "pipelines[0], device 1: SEND_B1 stands before I1, which it needs");
}

TEST(faults_of, names_what_is_out_of_order) {
    EXPECT_EQ(first_fault(swapped(distmm_pipe(stage_count{1}, {2}, {2}), make(forward, 0, 0), make(forward, 0, 1))),
              "pipelines[0], device 0: F1 stands after the forward of a later micro-batch");

    auto crossed = gpipe(stage_count{2}, {2});
    crossed = swapped(crossed, make(receive_gradient, 0, 0), make(receive_gradient, 0, 1));
    crossed = swapped(crossed, make(backward, 0, 0), make(backward, 0, 1));
    EXPECT_EQ(first_fault(crossed), "pipelines[0], device 0: RECV_B2 stands where SEND_B1 of stage 1 arrives");
}

TEST(faults_of, names_every_device_of_a_deadlock) {
    // The second stage wants all forwards before its first backward, the first one sends only one before it waits.
    schedule const drawn{
        .stages = 2,
        .micro_batches = 2,
        .instructions = {make(forward, 0, 0), make(send_activation, 0, 0), make(receive_gradient, 0, 0),
                         make(backward, 0, 0), make(forward, 0, 1), make(send_activation, 0, 1),
                         make(receive_gradient, 0, 1), make(backward, 0, 1), make(receive_activation, 1, 0),
                         make(forward, 1, 0), make(receive_activation, 1, 1), make(forward, 1, 1), make(backward, 1, 0),
                         make(send_gradient, 1, 0), make(backward, 1, 1), make(send_gradient, 1, 1)},
        .offsets = {0, 8, 16}};
    auto const faults = faults_of(drawn);

    ASSERT_EQ(faults.size(), 2u);
    EXPECT_EQ(faults[0].kind, fault_kind::deadlock);
    EXPECT_EQ(faults[0].text, "pipelines[0], device 0: RECV_B1 waits for SEND_B1 of device 1, which never gets there");
    EXPECT_EQ(faults[1].text, "pipelines[0], device 1: RECV_F2 waits for SEND_F2 of device 0, which never gets there");
}

TEST(faults_of, names_pipelines_that_do_not_meet_equally_often) {
    EXPECT_EQ(first_fault(std::array{distmm_pipe(stage_count{2}, {4}, {2}), distmm_pipe(stage_count{1}, {3}, {1})}),
              "pipelines[1]: 3 batch-syncs, but pipelines[0] has 2");
    EXPECT_EQ(first_fault(std::array{distmm_pipe(stage_count{2}, {4}, {2}), one_f_one_b(stage_count{1}, {3})}),
              "pipelines[1]: 0 batch-syncs, but pipelines[0] has 2");
}

TEST(faults_of, names_strangers_and_repetitions) {
    auto drawn = one_f_one_b(stage_count{2}, {2});
    auto const with = [&](std::size_t position, instruction const& one) {
        auto changed = drawn;
        changed.instructions[position] = one;
        return first_fault(changed);
    };
    EXPECT_EQ(with(0, make(forward, 1, 0)), "pipelines[0], device 0: F1 has no place there");
    EXPECT_EQ(with(0, make(forward, 7, 0)), "pipelines[0], device 0: F1 has no place there");
    EXPECT_EQ(with(0, make(forward, 0, 2)), "pipelines[0], device 0: F3 has no place there");
    EXPECT_EQ(with(0, make(batch_sync, 0, 0)), "pipelines[0], device 0: S1 has no place there");
    EXPECT_EQ(with(0, make(receive_activation, 0, 0)), "pipelines[0], device 0: RECV_F1 has no place there");
    EXPECT_EQ(with(0, make(static_cast<instruction_kind>(77), 0, 0)), "pipelines[0], device 0: ?1 has no place there");
    EXPECT_EQ(with(0, make(forward, 0, 1)), "pipelines[0], device 0: F2 stands there twice");
    EXPECT_EQ(with(0, make(input_gradient, 0, 0)), "pipelines[0], device 0: F1 is missing");

    auto in_parts = one_f_one_b(stage_count{1}, {1});
    in_parts.instructions.push_back(make(weight_gradient, 0, 0));
    in_parts.offsets.back() = 3;
    EXPECT_EQ(first_fault(in_parts), "pipelines[0], device 0: B1 stands beside a part of itself");

    auto const lacking = interleaved(device_count{2}, stage_count{4}, {2});
    EXPECT_EQ(first_fault(without(lacking, position_of(lacking, make(backward, 2, 1)))),
              "pipelines[0], device 0: B2 of stage 2 is missing");
}

TEST(faults_of, refuses_counts_that_describe_no_pipeline) {
    auto const drawn = distmm_pipe(stage_count{2}, {4}, {2});
    auto const with = [&](auto change) {
        auto changed = drawn;
        change(changed);
        return first_fault(changed);
    };
    EXPECT_EQ(with([](schedule& one) { one.offsets = {}; }),
              "pipelines[0]: the offsets do not cut the instructions into devices");
    EXPECT_EQ(with([](schedule& one) { one.offsets = {0}; }),
              "pipelines[0]: the offsets do not cut the instructions into devices");
    EXPECT_EQ(with([](schedule& one) {
                  one.offsets = {0, 90, 3};
              }),
              "pipelines[0]: the offsets do not cut the instructions into devices");
    EXPECT_EQ(with([](schedule& one) { one.stages = 3; }), "pipelines[0]: 3 stages on 2 devices");
    EXPECT_EQ(with([](schedule& one) { one.stages = 0; }), "pipelines[0]: 0 stages on 2 devices");
    EXPECT_EQ(with([](schedule& one) { one.group = 3; }), "pipelines[0]: 4 micro-batches in groups of 3");
    EXPECT_EQ(with([](schedule& one) { one.micro_batches = 4'000'000'000; }),
              "pipelines[0]: 34 instructions for 2 stages and 4000000000 micro-batches");
}

TEST(require_valid, throws_the_first_fault_and_counts_the_others) {
    auto drawn = one_f_one_b(stage_count{1}, {2});
    drawn.instructions = {make(forward, 0, 0), make(backward, 0, 0)};
    drawn.offsets = {0, 2};
    try {
        require_valid("simulate", std::span{&drawn, 1});
        FAIL() << "accepted";
    } catch (std::invalid_argument const& error) {
        EXPECT_STREQ(error.what(), "simulate: pipelines[0], device 0: F2 is missing; faults in all: 2");
    }
    drawn = one_f_one_b(stage_count{1}, {2});
    EXPECT_NO_THROW(require_valid("simulate", std::span{&drawn, 1}));
}

/// Every schedule that builders and chance make, small enough to change each of its instructions.
std::vector<std::vector<schedule>> small_schedules() {
    std::vector<std::vector<schedule>> result{
        {distmm_pipe(stage_count{3}, {4}, {2})},
        {distmm_pipe(stage_count{2}, {4}, {2}), distmm_pipe(stage_count{1}, {2}, {1})},
        {gpipe_sync(stage_count{2}, {4}, {2})},
        {zero_bubble_h1(stage_count{3}, {3})},
        {interleaved(device_count{2}, stage_count{4}, {2})},
    };
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        result.push_back(test::schedule_generator{seed}.draw());
    }
    return result;
}

TEST(faults_of, refuses_every_schedule_with_one_instruction_removed_by_its_name) {
    std::size_t removed = 0;
    for (auto const& pipelines : small_schedules()) {
        for (std::size_t number = 0; number < pipelines.size(); ++number) {
            for (std::size_t position = 0; position < pipelines[number].instructions.size(); ++position) {
                auto changed = pipelines;
                changed[number] = without(pipelines[number], position);
                auto const faults = faults_of(changed);
                auto lost = pipelines[number].instructions[position];
                ASSERT_FALSE(faults.empty());
                EXPECT_EQ(faults.front().pipeline, number);
                EXPECT_EQ(faults.front().what, lost);
                EXPECT_THAT(faults.front().text, testing::HasSubstr(drawn_name(lost)));
                ++removed;
            }
        }
    }
    EXPECT_GT(removed, 1000u);
}

TEST(faults_of, refuses_exactly_the_swaps_after_which_devices_cannot_come_to_their_ends) {
    std::size_t refused = 0;
    std::size_t harmless = 0;
    for (auto const& pipelines : small_schedules()) {
        ASSERT_TRUE(test::runs_to_the_end(pipelines));
        for (std::size_t number = 0; number < pipelines.size(); ++number) {
            auto const& own = pipelines[number];
            for (std::size_t device = 0; device < own.devices(); ++device) {
                for (std::size_t a = own.offsets[device]; a < own.offsets[device + 1]; ++a) {
                    // Neighbours, and some that are far apart.
                    for (std::size_t b = a + 1; b < own.offsets[device + 1]; b += 1 + (b - a) / 2) {
                        auto changed = pipelines;
                        std::swap(changed[number].instructions[a], changed[number].instructions[b]);
                        auto const faults = faults_of(changed);
                        ASSERT_EQ(faults.empty(), test::runs_to_the_end(changed))
                            << (faults.empty() ? "accepted" : faults.front().text);
                        if (faults.empty()) {
                            ++harmless;
                        } else {
                            ASSERT_TRUE(faults.front().what);
                            EXPECT_THAT(faults.front().text, testing::HasSubstr(drawn_name(*faults.front().what)));
                            ++refused;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(refused, 2000u);
    EXPECT_GT(harmless, 100u);
}

}  // namespace
}  // namespace evenkeel::validate_test
