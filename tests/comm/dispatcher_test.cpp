// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/dispatcher.hpp>

#include "tests/support/delaying_communicator.hpp"
#include "tests/support/dispatched.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::test {
namespace {

template <class Backend>
class dispatcher_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(dispatcher_on, backends, backend_name);

using omni_counts = std::vector<std::size_t>;

/// Runs steps of the samples given, each prepared while the one before is in use; every byte is looked at.
void run_steps(comm::communicator& world, comm::dispatcher& dispatch, std::span<step_samples const> steps) {
    std::vector<std::unique_ptr<dispatched>> drawn;
    for (auto const& samples : steps) {
        drawn.push_back(std::make_unique<dispatched>(samples, omni_phases(world.size()), world.rank()));
    }
    auto next = dispatch.prepare(drawn[0]->samples(), drawn[0]->fields());
    for (std::size_t number = 0; number < steps.size(); ++number) {
        auto step = next.wait(patience);
        EXPECT_EQ(step.number(), number);
        if (number + 1 < steps.size()) {
            next = dispatch.prepare(drawn[number + 1]->samples(), drawn[number + 1]->fields());
        }
        drawn[number]->expect_arrived(step);
        drawn[number]->expect_to_move_outputs(step);
    }
}

TYPED_TEST(dispatcher_on, brings_raw_inputs_to_their_encoders_and_outputs_to_the_llm_and_back) {
    this->run(2, [](comm::communicator& world) {
        // Rank 0 has drawn an image of 8 tokens and one of 2, rank 1 nothing but text.
        bool const first = world.rank() == world_rank{0};
        std::vector<std::uint64_t> const text(first ? 1 : 2, 5);
        std::vector<std::uint64_t> const lengths =
            first ? std::vector<std::uint64_t>{8, 2} : std::vector<std::uint64_t>{};
        std::vector<std::size_t> const counts = first ? omni_counts{2} : omni_counts{0, 0};
        comm::drawn_units const vision{.counts = counts, .lengths = lengths};
        std::vector<phase> const phases{{.name = "vision", .group = flat_group({2}), .bytes_in = 3, .bytes_out = 2},
                                        {.name = "llm", .group = flat_group({2}), .bytes_in = 1}};
        auto const pixels = payload(1, first ? 30 : 0);

        comm::dispatcher dispatch{world, phases, patience};
        auto next = dispatch.prepare({.text = text, .units = {&vision, 1}},
                                     std::array{comm::step_field{.name = "pixels", .bytes = pixels, .columns = 3}});
        auto step = next.wait(patience);

        // Each rank encodes one of the images.
        auto const& plan = step.plan().phases[0].plan;
        ASSERT_EQ(plan.items.size(), 2U);
        auto const mine = plan[to_id<rank_id>(to_index(world.rank()))];
        ASSERT_EQ(mine.size(), 1U);
        bool const large = mine[0] == item_id{0};
        auto const both = payload(1, 30);
        EXPECT_TRUE(
            std::ranges::equal(step.arrived(0), large ? std::span{both}.first(24) : std::span{both}.subspan(24)));
        EXPECT_EQ(step.rows_of(0).at_encoder, large ? 8U : 2U);

        std::vector<std::byte> const outputs(2 * step.rows_of(0).at_encoder, large ? std::byte{1} : std::byte{2});
        std::vector<std::byte> arrived(2 * step.rows_of(0).at_llm);
        step.forward(0, std::array{comm::output_field{.name = "h", .source = outputs, .target = arrived, .columns = 2}})
            .wait(patience);
        if (!arrived.empty()) {
            EXPECT_EQ(arrived.size(), 20U) << "both images are of one sample";
            EXPECT_EQ(std::ranges::count(arrived, std::byte{1}), 16);
        }
        std::vector<std::byte> back(outputs.size());
        step.backward(0, std::array{comm::output_field{.name = "g", .source = arrived, .target = back, .columns = 2}})
            .wait(patience);
        EXPECT_EQ(back, outputs);
        EXPECT_EQ(step.statistics().samples, text.size());
        EXPECT_EQ(step.statistics().imbalance.size(), 2U);
    });
}

TYPED_TEST(dispatcher_on, prepares_a_step_while_another_one_is_in_use) {
    for (bool const overlap : {true, false}) {
        this->run(4, [overlap](comm::communicator& world) {
            comm::dispatcher dispatch{world, omni_phases({4}), patience, {.overlap = overlap}};
            std::vector<step_samples> steps;
            for (std::uint64_t step = 0; step < 6; ++step) {
                steps.push_back(omni_samples(step, {5, 3 + step, 0, 7}));
            }
            // Text alone, a short batch, one with a single sample, one with none at all.
            steps.push_back(omni_samples(7, {3, 3, 3, 3}));
            for (auto& inputs : steps.back().inputs) {
                inputs = {.units = units_of(std::vector<std::size_t>(12)), .lengths = {}, .starts = {}};
            }
            steps.push_back(omni_samples(8, {1, 1, 0, 1}));
            steps.push_back(omni_samples(9, {0, 0, 1, 0}));
            steps.push_back(omni_samples(10, {0, 0, 0, 0}));
            // Lengths that need more room than those before.
            steps.push_back(omni_samples(11, {20, 2, 0, 45}));
            run_steps(world, dispatch, steps);
            EXPECT_TRUE(dispatch.usable());
        });
    }
}

TYPED_TEST(dispatcher_on, moves_steps_over_groups_of_any_kind) {
    for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
        this->run(ranks, [](comm::communicator& world) {
            for (std::uint64_t seed = 0; seed < 6; ++seed) {
                SCOPED_TRACE("seed " + std::to_string(seed));
                auto const drawn = random_step(100 * world.size().value + seed, world.size());
                dispatched here{drawn.samples, drawn.phases, world.rank()};
                comm::dispatcher dispatch{
                    world, drawn.phases, patience, {.plan = drawn.options, .overlap = seed % 2 == 0}};
                auto step = dispatch.prepare(here.samples(), here.fields()).wait(patience);
                here.expect_arrived(step);
                here.expect_to_move_outputs(step);
            }
        });
    }
}

TYPED_TEST(dispatcher_on, moves_the_same_bytes_whatever_the_delays) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        this->run(3, [seed](comm::communicator& world) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            delaying_communicator late{world, 10 * seed + to_index(world.rank()), 400};
            comm::dispatcher dispatch{late, omni_phases({3}), patience, {.overlap = seed % 4 != 0}};
            std::vector<step_samples> steps;
            for (std::uint64_t step = 0; step < 3; ++step) {
                steps.push_back(omni_samples(100 * seed + step, {2, seed % 3, 3}));
            }
            run_steps(world, dispatch, steps);
        });
    }
}

TYPED_TEST(dispatcher_on, may_go_backward_on_another_thread_than_forward) {
    this->run(3, [](comm::communicator& world) {
        dispatched here{omni_samples(3, {4, 0, 6}), omni_phases({3}), world.rank()};
        comm::dispatcher dispatch{world, omni_phases({3}), patience};
        auto step = dispatch.prepare(here.samples(), here.fields()).wait(patience);
        here.expect_to_move_outputs(step);
        std::jthread{[&] { here.expect_to_move_outputs(step); }}.join();
        here.expect_to_move_outputs(step);
    });
}

TYPED_TEST(dispatcher_on, gathers_over_and_fills_what_the_caller_gives) {
    this->run(3, [](comm::communicator& world) {
        auto const other = world.split(0, static_cast<std::uint32_t>(to_index(world.rank())), patience);
        std::vector<std::vector<std::byte>> rooms(8);
        std::size_t gathered = 0;
        std::vector<std::uint64_t> logged;
        dispatched here{omni_samples(5, {4, 1, 9}), omni_phases({3}), world.rank()};
        comm::dispatcher_options const options{
            .first_step = 41,
            .gather =
                [&](std::span<std::byte const> mine, std::span<std::byte> all) {
                    ++gathered;
                    other->all_gather(mine, all).wait(patience);
                },
            .allocate =
                [&](std::size_t field, std::size_t bytes) {
                    rooms[field] = untouched_bytes(bytes + 5);
                    return std::span{rooms[field]};
                },
            .log = [&](comm::step_statistics const& step) { logged.push_back(step.step); }};
        comm::dispatcher dispatch{world, omni_phases({3}), patience, options};
        auto const step = dispatch.prepare(here.samples(), here.fields()).wait(patience);
        here.expect_arrived(step);
        for (std::size_t field = 0; field < here.fields().size(); ++field) {
            EXPECT_TRUE(step.arrived(field).empty() || step.arrived(field).data() == rooms[field].data());
        }
        EXPECT_GE(gathered, 1U);
        EXPECT_EQ(logged, std::vector<std::uint64_t>{41});
    });
}

TYPED_TEST(dispatcher_on, sends_one_message_per_peer_and_keeps_to_itself_what_stays) {
    this->run(3, [](comm::communicator& world) {
        dispatched here{omni_samples(6, {9, 0, 2}), omni_phases({3}), world.rank()};
        comm::dispatcher dispatch{world, omni_phases({3}), patience, {.overlap = false}};
        auto step = dispatch.prepare(here.samples(), here.fields()).wait(patience);
        std::uint64_t held = 0;
        for (auto const& field : here.fields()) {
            held += field.bytes.size();
        }
        auto const& moved = step.statistics();
        EXPECT_EQ(moved.bytes_sent + moved.bytes_kept, held);
        std::uint64_t arrived = 0;
        for (std::size_t field = 0; field < here.fields().size(); ++field) {
            arrived += step.arrived(field).size();
        }
        EXPECT_EQ(moved.bytes_received + moved.bytes_kept, arrived);
        EXPECT_EQ(moved.bytes_between_nodes, 0U) << "all ranks are on one node";
    });
}

TYPED_TEST(dispatcher_on, needs_no_byte_of_room_where_nothing_arrives) {
    this->run(2, [](comm::communicator& world) {
        // Plans of the caller's: rank 1 sends all that it has, and rank 0, whose samples stay, gets nothing for them.
        std::vector<phase> phases{{.name = "llm", .group = flat_group({2}), .method = phase_method::given}};
        phases[0].given = plan_of({{0, 1}, {}});
        std::vector<std::uint64_t> const text =
            world.rank() == world_rank{0} ? std::vector<std::uint64_t>{4, 6} : std::vector<std::uint64_t>{};
        auto const tokens = payload(3, text.empty() ? 0 : 20);
        comm::dispatcher dispatch{world, phases, patience};
        auto const step =
            dispatch.prepare({.text = text}, std::array{comm::step_field{.name = "t", .bytes = tokens, .columns = 2}})
                .wait(patience);
        EXPECT_TRUE(std::ranges::equal(step.arrived(0), tokens));
        EXPECT_EQ(step.statistics().bytes_sent, 0U);
        EXPECT_EQ(step.statistics().bytes_kept, tokens.size());
    });
}

}  // namespace
}  // namespace evenkeel::test
