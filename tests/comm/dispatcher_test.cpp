// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/dispatcher.hpp>

#include "tests/support/delaying_communicator.hpp"
#include "tests/support/dispatched.hpp"
#include "tests/support/passing_communicator.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::test::dispatcher_test {
namespace {

template <class Backend>
class dispatcher_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(dispatcher_on, backends, backend_name);

using omni_counts = std::vector<std::size_t>;

/// Passes everything on, and sees every message of the ranks that are split from it.
class watched_communicator final : public passing_communicator {
  public:
    struct seen {
        std::size_t gathers = 0;
        std::uint64_t bytes_between_nodes = 0;   ///< sent
        std::vector<std::size_t> messages_sent;  ///< of each exchange
        std::uint64_t bytes_sent = 0;
        std::uint64_t bytes_received = 0;
    };

    watched_communicator(comm::communicator& inner, seen& all) : passing_communicator{inner}, all_{all} {}

  private:
    watched_communicator(std::unique_ptr<communicator> inner, seen& all)
        : passing_communicator{std::move(inner)}, all_{all} {}

    comm::pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                std::span<std::byte> all, comm::stream on) override {
        ++all_.gathers;
        return passing_communicator::do_all_gather(mine, counts, all, on);
    }
    comm::pending do_exchange(std::span<comm::outgoing const> sends, std::span<comm::incoming const> receives,
                              comm::stream on, comm::statement const& mine) override {
        all_.messages_sent.push_back(sends.size());
        for (auto const& message : sends) {
            all_.bytes_sent += message.bytes.size();
            if (topology().node_of(message.peer) != topology().node_of(rank())) {
                all_.bytes_between_nodes += message.bytes.size();
            }
        }
        for (auto const& message : receives) {
            all_.bytes_received += message.bytes.size();
        }
        return passing_communicator::do_exchange(sends, receives, on, mine);
    }
    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, comm::deadline until) override {
        auto part = passing_communicator::do_split(color, key, until);
        return std::unique_ptr<communicator>{new watched_communicator{std::move(part), all_}};
    }

    seen& all_;
};

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
            for (std::uint64_t step = 0; step < 4; ++step) {
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
            steps.push_back(omni_samples(11, {20, 2, 0, 25}));
            run_steps(world, dispatch, steps);
            EXPECT_TRUE(dispatch.usable());
        });
    }
}

TYPED_TEST(dispatcher_on, moves_steps_over_groups_of_any_kind) {
    for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
        this->run(ranks, [](comm::communicator& world) {
            for (std::uint64_t seed = 0; seed < 6; ++seed) {
                if (!TypeParam::takes(seed)) {
                    continue;
                }
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
        if (!TypeParam::takes(seed)) {
            continue;
        }
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

TYPED_TEST(dispatcher_on, moves_outputs_one_micro_batch_after_the_other) {
    this->run(3, [](comm::communicator& world) {
        dispatched here{omni_samples(8, {6, 2, 9}), omni_phases({3}), world.rank()};
        comm::dispatcher dispatch{world, omni_phases({3}), patience, {.plan = {.micro_batches = {3}}}};
        auto step = dispatch.prepare(here.samples(), here.fields()).wait(patience);
        here.expect_arrived(step);
        here.expect_to_move_micro_batches(step);
        here.expect_to_move_outputs(step);
        EXPECT_NE(refusal_of([&] { step.forward(0, {}, {.micro_batch = micro_batch_id{3}}).wait(patience); }), "");
    });
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

TYPED_TEST(dispatcher_on, has_the_step_still_when_the_callers_log_throws) {
    this->run(2, [](comm::communicator& world) {
        dispatched here{omni_samples(5, {4, 1}), omni_phases({2}), world.rank()};
        bool full = world.rank() == world_rank{1};
        comm::dispatcher_options const options{.log = [&](comm::step_statistics const&) {
            if (std::exchange(full, false)) {
                throw std::invalid_argument{"disk full"};
            }
        }};
        comm::dispatcher dispatch{world, omni_phases({2}), patience, options};
        auto next = dispatch.prepare(here.samples(), here.fields());
        if (full) {
            EXPECT_EQ(refusal_of([&] { return next.wait(patience); }), "disk full");
            EXPECT_TRUE(dispatch.usable());
        }
        auto step = next.wait(patience);
        here.expect_arrived(step);
        here.expect_to_move_outputs(step);
    });
}

TYPED_TEST(dispatcher_on, sends_all_fields_in_one_message_per_peer_and_never_what_stays) {
    this->run(topology{{node_id{0}, node_id{1}, node_id{0}}}, [](comm::communicator& world) {
        dispatched here{omni_samples(6, {9, 0, 2}), omni_phases({3}), world.rank()};
        watched_communicator::seen seen;
        watched_communicator watched{world, seen};
        comm::dispatcher dispatch{watched, omni_phases({3}), patience, {.overlap = false}};
        auto step = dispatch.prepare(here.samples(), here.fields()).wait(patience);
        here.expect_arrived(step);
        // Seven fields of three phases; what moves is known from the plan.
        ASSERT_EQ(seen.messages_sent.size(), 1U);
        EXPECT_LE(seen.messages_sent[0], 2U);
        std::uint64_t held = 0;
        std::uint64_t arrived = 0;
        for (std::size_t field = 0; field < here.fields().size(); ++field) {
            held += here.fields()[field].bytes.size();
            arrived += step.arrived(field).size();
        }
        auto const& moved = step.statistics();
        EXPECT_EQ(moved.bytes_sent, seen.bytes_sent);
        EXPECT_EQ(moved.bytes_received, seen.bytes_received);
        EXPECT_EQ(moved.bytes_kept, held - seen.bytes_sent);
        EXPECT_EQ(moved.bytes_kept, arrived - seen.bytes_received);
        EXPECT_EQ(moved.bytes_between_nodes, seen.bytes_between_nodes);
        // Of all phases here, the load of the busiest rank over the mean.
        for (std::size_t phase = 0; phase < 3; ++phase) {
            EXPECT_DOUBLE_EQ(moved.imbalance[phase], step.plan().phases[phase].quality[0].imbalance());
        }
    });
}

TYPED_TEST(dispatcher_on, takes_ranks_along_that_send_nothing_or_have_nothing_at_all) {
    this->run(3, [](comm::communicator& world) {
        // Rank 0 has two samples and hands one to rank 1, which sends nothing; rank 2 has no part in it.
        std::vector<phase> phases{{.name = "llm", .group = flat_group({3}), .method = phase_method::given}};
        phases[0].given = plan_of({{0}, {1}, {}});
        bool const first = world.rank() == world_rank{0};
        auto const text = first ? std::vector<std::uint64_t>{4, 6} : std::vector<std::uint64_t>{};
        auto const tokens = payload(3, first ? 10 : 0);
        watched_communicator::seen seen;
        watched_communicator watched{world, seen};
        comm::dispatcher dispatch{watched, phases, patience, {.overlap = false}};
        for (std::size_t number = 0; number < 3; ++number) {
            auto const step =
                dispatch.prepare({.text = text}, std::array{comm::step_field{.name = "t", .bytes = tokens}})
                    .wait(patience);
            auto const whole = payload(3, 10);
            auto const expected = first                           ? std::span{whole}.first(4)
                                  : world.rank() == world_rank{1} ? std::span{whole}.subspan(4)
                                                                  : std::span<std::byte const>{};
            EXPECT_TRUE(std::ranges::equal(step.arrived(0), expected));
            EXPECT_EQ(seen.messages_sent.size(), number + 1) << "every rank takes part in every exchange";
            EXPECT_EQ(seen.gathers, number + 1);
        }
        EXPECT_EQ(seen.bytes_sent, first ? 18U : 0U);
    });
}

TYPED_TEST(dispatcher_on, needs_no_byte_of_room_where_nothing_arrives) {
    this->run(2, [](comm::communicator& world) {
        // All that there is stays on rank 0.
        std::vector<phase> phases{{.name = "llm", .group = flat_group({2}), .method = phase_method::given}};
        phases[0].given = plan_of({{0, 1}, {}});
        bool const first = world.rank() == world_rank{0};
        auto const text = first ? std::vector<std::uint64_t>{4, 6} : std::vector<std::uint64_t>{};
        auto const tokens = payload(3, first ? 20 : 0);
        std::size_t asked = 0;
        std::vector<std::byte> room(20);
        comm::dispatcher_options const options{.allocate = [&](std::size_t, std::size_t bytes) {
            ++asked;
            return std::span{room}.first(bytes);
        }};
        comm::dispatcher dispatch{world, phases, patience, options};
        auto const step =
            dispatch.prepare({.text = text}, std::array{comm::step_field{.name = "t", .bytes = tokens, .columns = 2}})
                .wait(patience);
        EXPECT_TRUE(std::ranges::equal(step.arrived(0), tokens));
        EXPECT_EQ(step.statistics().bytes_sent, 0U);
        EXPECT_EQ(step.statistics().bytes_kept, tokens.size());
        EXPECT_EQ(asked, first ? 1U : 0U);
    });
}

}  // namespace
}  // namespace evenkeel::test::dispatcher_test
