// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/dispatcher.hpp>

#include "tests/support/dispatched.hpp"

namespace evenkeel::test::dispatcher_record_test {
namespace {

using testing::HasSubstr;

comm::step_record some_record() {
    auto samples = omni_samples(1, {2, 0, 3});
    samples.labels = samples.text;
    return {.number = 7,
            .hash = 0x0123456789abcdef,
            .samples = std::move(samples),
            .plans = {plan_of({{1, 0}, {}, {2}}), plan_of({{}, {0}, {}}), plan_of({{0}, {}, {2, 1}}, 1)}};
}

TEST(step_record, comes_back_as_it_was_written) {
    EXPECT_EQ(comm::read_record(comm::write_record(some_record())), some_record());
    EXPECT_EQ(comm::read_record(comm::write_record({})), comm::step_record{});
}

TEST(step_record, is_refused_when_it_is_cut_off_or_followed_by_more) {
    auto const written = comm::write_record(some_record());
    for (std::size_t size = 0; size < written.size(); ++size) {
        EXPECT_NE(refusal_of([&] { return comm::read_record(std::span{written}.first(size)); }), "") << size;
    }
    auto longer = written;
    longer.resize(written.size() + 8);
    EXPECT_THAT(refusal_of([&] { return comm::read_record(longer); }), HasSubstr("more behind it"));
}

TEST(step_record, is_refused_when_any_bit_of_it_has_changed) {
    auto written = comm::write_record(some_record());
    for (std::size_t bit = 0; bit < 8 * written.size(); bit += 7) {
        auto const flip = static_cast<std::byte>(1U << bit % 8);
        written[bit / 8] ^= flip;
        EXPECT_NE(refusal_of([&] { return comm::read_record(written); }), "") << bit;
        written[bit / 8] ^= flip;
    }
    written[0] ^= std::byte{1};
    EXPECT_THAT(refusal_of([&] { return comm::read_record(written); }), HasSubstr("bytes = something else"));
    written[0] ^= std::byte{1};
    written[8] ^= std::byte{2};
    EXPECT_THAT(refusal_of([&] { return comm::read_record(written); }), HasSubstr("version 3"));
}

template <class Backend>
class replayed_step_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(replayed_step_on, backends, backend_name);

TYPED_TEST(replayed_step_on, moves_the_same_bytes_after_a_restart) {
    this->run(3, [](comm::communicator& world) {
        dispatched here{omni_samples(4, {5, 0, 8}), omni_phases({3}), world.rank()};
        comm::dispatcher_options const options{.plan = {.micro_batches = {2}}};
        comm::dispatcher before{world, omni_phases({3}), patience, options};
        for (int earlier = 0; earlier < 2; ++earlier) {
            here.expect_arrived(before.prepare(here.samples(), here.fields()).wait(patience));
        }
        auto step = before.prepare(here.samples(), here.fields()).wait(patience);
        auto const written = comm::write_record(step.record());

        // A planner that would decide otherwise: what counts is what was decided then.
        auto phases = omni_phases({3});
        for (auto& phase : phases) {
            phase.method = phase_method::scratch;
        }
        comm::dispatcher after{world, phases, patience, options};
        auto again = after.replay(comm::read_record(written), here.fields()).wait(patience);
        EXPECT_EQ(again.number(), 2U);
        EXPECT_EQ(again.hash(), step.hash());
        EXPECT_EQ(again.record(), step.record());
        for (std::size_t field = 0; field < here.fields().size(); ++field) {
            EXPECT_TRUE(std::ranges::equal(again.arrived(field), step.arrived(field)));
        }
        here.expect_arrived(again);
        here.expect_to_move_outputs(again);
        auto const next = after.prepare(here.samples(), here.fields()).wait(patience);
        EXPECT_EQ(next.number(), 3U) << "training goes on after it";
    });
}

TYPED_TEST(replayed_step_on, is_refused_where_it_was_made_by_another_job) {
    this->run(2, [](comm::communicator& world) {
        dispatched here{omni_samples(4, {2, 3}), omni_phases({2}), world.rank()};
        comm::dispatcher dispatch{world, omni_phases({2}), patience};
        auto const record = dispatch.prepare(here.samples(), here.fields()).wait(patience).record();
        auto const refused = [&](std::vector<phase> phases, comm::step_record const& with) {
            comm::dispatcher other{world, std::move(phases), patience};
            return refusal_of([&] { return other.replay(with, here.fields()).wait(patience); });
        };
        auto more = omni_phases({2});
        more.insert(more.begin(), more.front());
        EXPECT_THAT(refused(more, record), HasSubstr("record.plans.size() = 3"));
        auto one_rank = omni_phases({2});
        one_rank[0].group = flat_group({1});
        EXPECT_THAT(refused(one_rank, record), HasSubstr("given->ranks() = 2"));
        auto changed = record;
        ++changed.samples.text[0];
        EXPECT_THAT(refused(omni_phases({2}), changed), HasSubstr("record.hash"));
    });
}

}  // namespace
}  // namespace evenkeel::test::dispatcher_record_test
