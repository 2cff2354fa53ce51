// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/dispatcher.hpp>

#include "tests/support/dispatched.hpp"
#include "tests/support/passing_communicator.hpp"

namespace evenkeel::test::dispatcher_faults_test {
namespace {

using testing::HasSubstr;

template <class Backend>
class dispatcher_fault_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(dispatcher_fault_on, backends, backend_name);

constexpr world_rank odd{1};

/// Passes everything on. Whoever has begun to gather over what is split from it meets `others` before it goes on: then
/// these have come, wherever their dispatchers run. Both outlive it.
class meeting_communicator final : public passing_communicator {
  public:
    meeting_communicator(comm::communicator& inner, comm::communicator& others)
        : passing_communicator{inner}, others_{others} {}

  private:
    meeting_communicator(std::unique_ptr<communicator> inner, comm::communicator& others)
        : passing_communicator{std::move(inner)}, others_{others} {}

    comm::pending do_all_gather(std::span<std::byte const> mine, std::span<std::uint64_t const> counts,
                                std::span<std::byte> all, comm::stream on) override {
        auto begun = passing_communicator::do_all_gather(mine, counts, all, on);
        others_.barrier().wait(patience);
        return begun;
    }
    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, comm::deadline until) override {
        auto part = passing_communicator::do_split(color, key, until);
        return std::unique_ptr<communicator>{new meeting_communicator{std::move(part), others_}};
    }

    comm::communicator& others_;
};

/// Passes everything on. What is split from it calls `before` before it aborts.
class telling_communicator final : public passing_communicator {
  public:
    telling_communicator(comm::communicator& inner, std::function<void()> before)
        : passing_communicator{inner}, before_{std::move(before)} {}

  private:
    telling_communicator(std::unique_ptr<communicator> inner, std::function<void()> before)
        : passing_communicator{std::move(inner)}, before_{std::move(before)} {}

    std::unique_ptr<communicator> do_split(std::uint32_t color, std::uint32_t key, comm::deadline until) override {
        auto part = passing_communicator::do_split(color, key, until);
        return std::unique_ptr<communicator>{new telling_communicator{std::move(part), before_}};
    }
    void do_abort(std::string_view reason, std::optional<world_rank> culprit) noexcept override {
        before_();
        passing_communicator::do_abort(reason, culprit);
    }

    std::function<void()> before_;
};

/// What a callback of the caller's does that stalls until it is let go.
class stall {
  public:
    void operator()() {
        for (called_ = true; !over_;) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }

    void wait_until_called() const {
        for (comm::deadline const end = patience; !called_ && !end.passed();) {
            std::this_thread::yield();
        }
    }
    void let_go() { over_ = true; }

  private:
    std::atomic<bool> called_ = false;
    std::atomic<bool> over_ = false;
};

/// A step on three ranks, and what it is made with. Tests make one rank do otherwise.
struct attempt {
    explicit attempt(comm::communicator& ranks)
        : world{ranks}, here{omni_samples(2, {3, 4, 2}), omni_phases({3}), ranks.rank()} {}

    [[nodiscard]] bool is_odd() const { return world.rank() == odd; }
    [[nodiscard]] comm::dispatcher dispatcher() { return {world, phases, patience, options}; }
    [[nodiscard]] comm::prepared_step prepare(comm::dispatcher& dispatch) {
        return dispatch.prepare(here.samples(), here.fields());
    }

    /// Has one of the callbacks do `what`.
    void in_callback(std::string_view callback, std::function<void()> what) {
        if (callback == "gather") {
            options.gather = [what](std::span<std::byte const>, std::span<std::byte>) { what(); };
        } else if (callback == "planned") {
            options.plan.planned = [what](std::size_t) { what(); };
        } else {
            options.allocate = [what, this](std::size_t, std::size_t bytes) {
                what();
                return std::span{room}.first(bytes);
            };
        }
    }

    /// The odd rank alone is refused, for `reason`; the others hear of it, and nobody goes on.
    void expect_to_be_refused(std::string const& reason) {
        for (bool const overlap : {true, false}) {
            options.overlap = overlap;
            auto dispatch = dispatcher();
            auto next = prepare(dispatch);
            if (is_odd()) {
                EXPECT_THAT(refusal_of([&] { return next.wait(patience); }), HasSubstr(reason));
                EXPECT_THAT(refusal_of([&] { return prepare(dispatch); }), HasSubstr(reason));
            } else {
                auto const error = error_of([&] { return next.wait(patience); });
                EXPECT_EQ(error.peer(), odd) << error.what();
                EXPECT_EQ(error_of([&] { return prepare(dispatch); }).peer(), odd);
            }
            EXPECT_FALSE(dispatch.usable());
        }
        world.barrier().wait(patience);
    }

    /// All ranks learn that the odd one means something else.
    void expect_to_disagree() {
        auto dispatch = dispatcher();
        auto next = prepare(dispatch);
        EXPECT_EQ(error_of([&] { return next.wait(patience); }).peer(), odd);
        EXPECT_FALSE(dispatch.usable());
        world.barrier().wait(patience);
    }

    comm::communicator& world;
    dispatched here;
    std::vector<phase> phases = omni_phases({3});
    comm::dispatcher_options options = {};
    std::vector<std::byte> room = std::vector<std::byte>(1 << 16);  ///< for what arrives of any field
};

TYPED_TEST(dispatcher_fault_on, names_the_rank_that_stalls_and_refuses_further_work) {
    for (bool const overlap : {true, false}) {
        this->run(3, [overlap](comm::communicator& world) {
            attempt one{world};
            one.options.overlap = overlap;
            auto const others = world.split(one.is_odd() ? 1 : 0, 0, patience);
            meeting_communicator meeting{world, *others};
            comm::dispatcher dispatch{meeting, one.phases, patience, one.options};
            if (!one.is_odd()) {
                auto next = one.prepare(dispatch);
                auto const until =
                    world.rank() == world_rank{0} ? comm::deadline{impatience} : comm::deadline{patience};
                auto const error = error_of([&] { return next.wait(until); });
                EXPECT_EQ(error.peer(), odd) << error.what();
                EXPECT_EQ(error_of([&] { return one.prepare(dispatch); }).peer(), odd);
                EXPECT_FALSE(dispatch.usable());
            }
            // The world is the caller's, and still there.
            world.barrier().wait(patience);
            if (one.is_odd()) {
                auto late = one.prepare(dispatch);
                EXPECT_EQ(error_of([&] { return late.wait(patience); }).peer(), odd);
            }
        });
    }
}

TYPED_TEST(dispatcher_fault_on, ends_the_step_in_use_when_the_next_one_fails) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto const others = world.split(one.is_odd() ? 1 : 0, 0, patience);
        meeting_communicator meeting{world, *others};
        comm::dispatcher dispatch{meeting, one.phases, patience, one.options};
        auto step = one.prepare(dispatch).wait(patience);
        // It is there on all ranks before the next one fails.
        world.barrier().wait(patience);
        if (!one.is_odd()) {
            auto next = one.prepare(dispatch);
            auto const until = world.rank() == world_rank{0} ? comm::deadline{impatience} : comm::deadline{patience};
            EXPECT_EQ(error_of([&] { return next.wait(until); }).peer(), odd);
        }
        world.barrier().wait(patience);
        EXPECT_EQ(error_of([&] { step.forward(0, {}).wait(patience); }).peer(), odd) << "nobody waits for the others";
    });
}

TYPED_TEST(dispatcher_fault_on, names_the_rank_that_does_not_come_to_a_forward) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto dispatch = one.dispatcher();
        auto step = one.prepare(dispatch).wait(patience);
        auto next = one.prepare(dispatch);
        auto const others = world.split(one.is_odd() ? 1 : 0, 0, patience);
        if (!one.is_odd()) {
            auto moving = step.forward(0, {});
            others->barrier().wait(patience);
            auto const until = world.rank() == world_rank{0} ? comm::deadline{impatience} : comm::deadline{patience};
            EXPECT_EQ(error_of([&] { moving.wait(until); }).peer(), odd);
        }
        world.barrier().wait(patience);
        EXPECT_EQ(error_of([&] { step.forward(0, {}).wait(patience); }).peer(), odd);
        EXPECT_EQ(error_of([&] { step.backward(0, {}).wait(patience); }).peer(), odd);
    });
}

TYPED_TEST(dispatcher_fault_on, tells_every_rank_when_one_counts_other_micro_batches) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        one.options.plan.micro_batches = {one.is_odd() ? 2U : 1U};
        one.expect_to_disagree();
    });
}

TYPED_TEST(dispatcher_fault_on, tells_every_rank_when_one_is_at_another_step) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        one.options.first_step = one.is_odd() ? 6 : 5;
        one.expect_to_disagree();
    });
}

TYPED_TEST(dispatcher_fault_on, tells_every_rank_when_one_plans_with_another_cost) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        if (one.is_odd()) {
            // No rank can see this in the arguments of another one: only in what comes out.
            one.phases.back().method = phase_method::given;
            one.phases.back().given = plan_of({{}, {}, {0, 1, 2, 3, 4, 5, 6, 7, 8}});
        }
        one.expect_to_disagree();
    });
}

TYPED_TEST(dispatcher_fault_on, moves_nothing_when_ranks_expect_other_sizes) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        one.here.fields()[1].columns = one.is_odd() ? 6 : 3;
        one.here.fields()[1].element_bytes = one.is_odd() ? 4 : 8;
        one.expect_to_disagree();
    });
}

TYPED_TEST(dispatcher_fault_on, says_which_buffer_does_not_fit) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto& bytes = one.here.fields()[1].bytes;
        if (one.is_odd()) {
            bytes = bytes.first(bytes.size() - 1);
        }
        one.expect_to_be_refused("fields[1].bytes.size()");
    });
}

TYPED_TEST(dispatcher_fault_on, says_which_phase_there_is_not) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        one.here.fields()[1].phase = one.is_odd() ? 3 : 0;
        one.expect_to_be_refused("fields[1].phase = 3");
    });
}

TYPED_TEST(dispatcher_fault_on, names_the_rank_whose_samples_are_refused_however_few_the_others_are) {
    this->run(2, [](comm::communicator& world) {
        dispatched here{omni_samples(2, {3, 4}), omni_phases({2}), world.rank()};
        comm::dispatcher dispatch{world, omni_phases({2}), patience};
        auto samples = here.samples();
        if (world.rank() == world_rank{0}) {
            samples.units = samples.units.first(1);
            auto next = dispatch.prepare(samples, here.fields());
            EXPECT_THAT(refusal_of([&] { return next.wait(patience); }), HasSubstr("samples.units.size() = 1"));
        } else {
            auto next = dispatch.prepare(samples, here.fields());
            auto const error = error_of([&] { return next.wait(patience); });
            EXPECT_EQ(error.peer(), world_rank{0}) << error.what();
            EXPECT_EQ(error.reason(), "rank 0 refused its arguments");
        }
    });
}

TYPED_TEST(dispatcher_fault_on, names_all_ranks_whose_samples_are_refused) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto dispatch = one.dispatcher();
        auto samples = one.here.samples();
        if (one.is_odd()) {
            auto next = dispatch.prepare(samples, one.here.fields());
            auto const error = error_of([&] { return next.wait(patience); });
            EXPECT_EQ(error.peer(), std::nullopt);
            EXPECT_EQ(error.reason(), "ranks 0, 2 refused their arguments");
        } else {
            samples.units = {};
            auto next = dispatch.prepare(samples, one.here.fields());
            EXPECT_THAT(refusal_of([&] { return next.wait(patience); }), HasSubstr("samples.units.size() = 0"));
        }
    });
}

TYPED_TEST(dispatcher_fault_on, ends_the_step_in_use_in_peace_when_the_next_one_is_refused) {
    for (bool const overlap : {true, false}) {
        this->run(3, [overlap](comm::communicator& world) {
            attempt one{world};
            one.options.overlap = overlap;
            auto dispatch = one.dispatcher();
            auto step = one.prepare(dispatch).wait(patience);
            // One rank is in the step already when the next one fails.
            std::optional<comm::pending> early;
            if (world.rank() == world_rank{0}) {
                early = step.forward(0, {});
            }
            auto& bytes = one.here.fields()[1].bytes;
            if (one.is_odd()) {
                bytes = bytes.first(bytes.size() - 1);
            }
            auto next = one.prepare(dispatch);
            EXPECT_ANY_THROW(static_cast<void>(next.wait(patience)));
            if (!early) {
                early = step.forward(0, {});
            }
            early->wait(patience);
            one.here.expect_to_move_outputs(step);
            EXPECT_ANY_THROW(static_cast<void>(one.prepare(dispatch)));
            EXPECT_FALSE(dispatch.usable());
        });
    }
}

TYPED_TEST(dispatcher_fault_on, passes_on_what_the_callers_allocator_throws_or_gives_too_little) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        std::vector<std::byte> room(1 << 16);
        one.options.allocate = [&](std::size_t, std::size_t bytes) -> std::span<std::byte> {
            if (one.is_odd()) {
                throw std::invalid_argument{"no room"};
            }
            return std::span{room}.first(bytes);
        };
        one.expect_to_be_refused("no room");
        one.options.allocate = [&](std::size_t, std::size_t bytes) {
            return std::span{room}.first(one.is_odd() ? bytes - 1 : bytes);
        };
        one.expect_to_be_refused("allocate[0].size()");
    });
}

TYPED_TEST(dispatcher_fault_on, passes_on_what_the_callers_gather_throws) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto const other = world.split(0, static_cast<std::uint32_t>(to_index(world.rank())), patience);
        one.options.gather = [&](std::span<std::byte const> mine, std::span<std::byte> all) {
            if (one.is_odd()) {
                throw std::invalid_argument{"no way"};
            }
            other->all_gather(mine, all).wait(patience);
        };
        auto dispatch = one.dispatcher();
        auto next = one.prepare(dispatch);
        if (one.is_odd()) {
            EXPECT_EQ(refusal_of([&] { return next.wait(patience); }), "no way");
            other->abort("its gather failed");
        } else {
            EXPECT_EQ(error_of([&] { return next.wait(patience); }).peer(), odd);
        }
    });
}

TYPED_TEST(dispatcher_fault_on, refuses_what_a_gather_gives_that_no_rank_has_sent) {
    this->run(1, [](comm::communicator& world) {
        comm::dispatcher_options options;
        options.gather = [](std::span<std::byte const>, std::span<std::byte> all) {
            std::ranges::fill(all, std::byte{0xff});
        };
        comm::dispatcher dispatch{world, {{.name = "llm", .group = flat_group({1})}}, patience, options};
        auto next = dispatch.prepare({}, {});
        EXPECT_THAT(refusal_of([&] { return next.wait(impatience); }), HasSubstr("the lengths of a rank"));
    });
}

TYPED_TEST(dispatcher_fault_on, waits_no_longer_than_it_was_told_for_a_callback_that_stalls) {
    this->run(3, [](comm::communicator& world) {
        for (std::string_view const callback : {"gather", "planned", "allocate"}) {
            attempt one{world};
            stall stalled;
            one.in_callback(callback, [&] { stalled(); });
            auto dispatch = one.dispatcher();
            {
                auto next = one.prepare(dispatch);
                stalled.wait_until_called();
                world.barrier().wait(patience);
                auto const error = error_of([&] { return next.wait(impatience); });
                EXPECT_THAT(error.reason(), HasSubstr("the deadline passed before a callback returned"));
                EXPECT_FALSE(error.can_go_on());
            }
            EXPECT_FALSE(dispatch.usable());
            EXPECT_EQ(error_of([&] { return one.prepare(dispatch); }).operation(), "prepare");
            stalled.let_go();
        }
        world.barrier().wait(patience);
    });
}

TYPED_TEST(dispatcher_fault_on, names_the_rank_whose_callback_stalls) {
    this->run(3, [](comm::communicator& world) {
        for (std::string_view const callback : {"planned", "allocate"}) {
            attempt one{world};
            stall stalled;
            if (!one.is_odd()) {
                stalled.let_go();
            }
            one.in_callback(callback, [&] { stalled(); });
            auto dispatch = one.dispatcher();
            {
                auto next = one.prepare(dispatch);
                stalled.wait_until_called();
                world.barrier().wait(patience);
                if (!one.is_odd()) {
                    auto const until =
                        world.rank() == world_rank{0} ? comm::deadline{impatience} : comm::deadline{patience};
                    auto const error = error_of([&] { return next.wait(until); });
                    EXPECT_EQ(error.peer(), odd) << error.what();
                }
                world.barrier().wait(patience);
            }
            EXPECT_FALSE(dispatch.usable());
            stalled.let_go();
        }
        world.barrier().wait(patience);
    });
}

TYPED_TEST(dispatcher_fault_on, names_the_rank_whose_callback_stalls_also_where_its_own_deadline_passes_first) {
    this->run(3, [](comm::communicator& world) {
        for (std::string_view const callback : {"gather", "planned", "allocate"}) {
            SCOPED_TRACE(callback);
            attempt one{world};
            stall stalled;
            if (one.is_odd()) {
                one.in_callback(callback, [&] { stalled(); });
            }
            auto dispatch = one.dispatcher();
            {
                auto next = one.prepare(dispatch);
                if (one.is_odd()) {
                    stalled.wait_until_called();
                }
                auto const until = one.is_odd() ? comm::deadline{impatience} : comm::deadline{patience};
                auto const error = error_of([&] { return next.wait(until); });
                // One that gathers may wait for any of the others.
                EXPECT_EQ(error.peer(), callback == "gather" ? std::nullopt : std::optional{odd}) << error.what();
                EXPECT_THAT(error.reason(), HasSubstr("the deadline passed before a callback returned"));
            }
            stalled.let_go();
        }
        world.barrier().wait(patience);
    });
}

TYPED_TEST(dispatcher_fault_on, says_that_the_deadline_passed_also_where_the_callback_returns_right_after) {
    this->run(1, [](comm::communicator& world) {
        std::vector<std::uint64_t> const text{3, 4};
        std::vector<std::byte> const bytes(7);
        std::vector<std::byte> room(7);
        comm::step_field const field{.name = "text", .bytes = bytes};
        std::atomic<bool> over = false;
        comm::dispatcher_options options;
        options.allocate = [&](std::size_t, std::size_t) {
            while (!over) {
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
            return std::span{room};
        };
        std::optional<comm::dispatcher> dispatch;
        auto const be_slow = [&] {
            // The first to tell is the one that waits.
            if (!over.exchange(true)) {
                for (comm::deadline const end = patience; dispatch->usable() && !end.passed();) {
                    std::this_thread::yield();
                }
            }
        };
        telling_communicator telling{world, be_slow};
        dispatch.emplace(telling, std::vector<phase>{{.name = "llm", .group = flat_group({1})}}, patience, options);
        auto next = dispatch->prepare({.text = text}, {&field, 1});
        EXPECT_THAT(error_of([&] { return next.wait(impatience); }).reason(),
                    HasSubstr("the deadline passed before a callback returned"));
    });
}

TYPED_TEST(dispatcher_fault_on, refuses_samples_that_do_not_belong_together) {
    this->run(1, [](comm::communicator& world) {
        std::vector<phase> const phases{{.name = "vision", .group = flat_group({1})},
                                        {.name = "llm", .group = flat_group({1})}};
        std::vector<std::uint64_t> const two{3, 4};
        std::vector<std::uint64_t> const one{5};
        std::vector<std::size_t> const units{1, 1};
        std::vector<std::size_t> const too_many{1, 2};
        std::vector<std::size_t> const for_one_sample{2};
        auto const refused = [&](comm::drawn_samples const& samples) {
            comm::dispatcher dispatch{world, phases, patience};
            return refusal_of([&] { return dispatch.prepare(samples, {}).wait(patience); });
        };
        comm::drawn_units vision{.counts = units, .lengths = two};
        EXPECT_THAT(refused({.text = two}), HasSubstr("samples.units.size() = 0"));
        EXPECT_THAT(refused({.text = two, .labels = one, .units = {&vision, 1}}),
                    HasSubstr("samples.labels.size() = 1"));
        vision.starts = one;
        EXPECT_THAT(refused({.text = two, .units = {&vision, 1}}), HasSubstr("samples.units[0].starts.size() = 1"));
        vision = {.counts = too_many, .lengths = two};
        EXPECT_THAT(refused({.text = two, .units = {&vision, 1}}), HasSubstr("samples.units[0].counts[1] = 2"));
        vision = {.counts = units, .lengths = one};
        EXPECT_THAT(refused({.text = two, .units = {&vision, 1}}), HasSubstr("samples.units[0].counts[1] = 1"));
        vision = {.counts = for_one_sample, .lengths = two};
        EXPECT_THAT(refused({.text = two, .units = {&vision, 1}}), HasSubstr("samples.units[0].counts.size() = 1"));
        EXPECT_THAT(refusal_of([&] { return comm::dispatcher{world, {}, patience}; }), HasSubstr("phases.size() = 0"));
    });
}

TYPED_TEST(dispatcher_fault_on, gets_the_same_error_of_planning_on_every_rank) {
    this->run(3, [](comm::communicator& world) {
        std::vector<phase> const phases{{.name = "llm", .cost = attention_cost{}, .group = flat_group({3})}};
        comm::dispatcher dispatch{world, phases, patience};
        std::vector<std::uint64_t> const text(1, ~std::uint64_t{0});
        auto next = dispatch.prepare({.text = text}, {});
        EXPECT_THROW(static_cast<void>(next.wait(patience)), std::overflow_error);
        EXPECT_FALSE(dispatch.usable());
        world.barrier().wait(patience);
    });
}

TYPED_TEST(dispatcher_fault_on, has_two_steps_at_a_time_and_waits_for_each_once) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto dispatch = one.dispatcher();
        auto first = one.prepare(dispatch);
        auto second = one.prepare(dispatch);
        EXPECT_THAT(refusal_of([&] { return one.prepare(dispatch); }), HasSubstr("steps that exist = 2"));
        std::optional step{first.wait(patience)};
        EXPECT_THAT(refusal_of([&] { return first.wait(patience); }), HasSubstr("waited for already"));
        auto moving = step->forward(1, {});
        step.reset();
        EXPECT_THAT(refusal_of([&] { return one.prepare(dispatch); }), HasSubstr("steps that exist = 2"))
            << "its transfer has not ended";
        moving.wait(patience);
        moving = {};
        auto third = one.prepare(dispatch);
        one.here.expect_arrived(second.wait(patience));
        one.here.expect_arrived(third.wait(patience));
        EXPECT_TRUE(third.ready());
    });
}

TYPED_TEST(dispatcher_fault_on, ends_for_all_when_one_drops_a_step_or_is_destroyed) {
    for (bool const destroyed : {true, false}) {
        this->run(3, [destroyed](comm::communicator& world) {
            attempt one{world};
            std::optional dispatch{one.dispatcher()};
            // The others come to the exchange only once the odd rank has gone.
            std::optional<comm::prepared_step> next;
            if (one.is_odd()) {
                next = one.prepare(*dispatch);
                if (destroyed) {
                    dispatch.reset();
                }
                next.reset();
            }
            world.barrier().wait(patience);
            if (!one.is_odd()) {
                next = one.prepare(*dispatch);
                EXPECT_EQ(error_of([&] { return next->wait(patience); }).peer(), odd);
            }
        });
    }
}

TYPED_TEST(dispatcher_fault_on, ends_for_all_when_one_drops_a_step_that_is_there_already) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto dispatch = one.dispatcher();
        auto step = one.prepare(dispatch).wait(patience);
        std::optional next{one.prepare(dispatch)};
        for (comm::deadline const end = patience; !next->ready() && !end.passed();) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        world.barrier().wait(patience);
        if (one.is_odd()) {
            next.reset();
            EXPECT_FALSE(dispatch.usable());
        } else {
            auto const error = error_of([&] { step.forward(0, {}).wait(patience); });
            EXPECT_EQ(error.peer(), odd) << error.what();
            EXPECT_THAT(error.reason(), HasSubstr("dropped without a wait"));
            EXPECT_FALSE(dispatch.usable());
        }
    });
}

TYPED_TEST(dispatcher_fault_on, refuses_fields_that_a_step_does_not_have) {
    this->run(1, [](comm::communicator& world) {
        std::vector<std::uint64_t> const text{3, 4};
        std::vector<std::byte> const bytes(7);
        comm::dispatcher dispatch{world, {{.name = "llm", .group = flat_group({1})}}, patience};
        comm::step_field const field{.name = "text", .bytes = bytes};
        auto const step = dispatch.prepare({.text = text}, {&field, 1}).wait(patience);
        EXPECT_EQ(step.arrived(0).size(), 7U);
        EXPECT_EQ(refusal_of([&] { return step.arrived(1); }), "arrived: field = 1, expected one of the 1 fields");
    });
}

TYPED_TEST(dispatcher_fault_on, refuses_more_rows_than_64_bits_count) {
    struct one_each {
        std::uint64_t weight(std::uint64_t) const { return 1; }
    };
    this->run(1, [](comm::communicator& world) {
        std::vector<std::uint64_t> const text(2);
        std::vector<std::size_t> const counts{1, 1};
        std::vector<std::uint64_t> const lengths(2, std::uint64_t{1} << 63);
        comm::drawn_units const vision{.counts = counts, .lengths = lengths};
        comm::dispatcher dispatch{world,
                                  {{.name = "vision", .cost = one_each{}, .group = flat_group({1})},
                                   {.name = "llm", .cost = one_each{}, .group = flat_group({1})}},
                                  patience};
        auto const step = dispatch.prepare({.text = text, .units = {&vision, 1}}, {}).wait(patience);
        EXPECT_THROW(static_cast<void>(step.rows_of(0)), std::overflow_error);
    });
}

TYPED_TEST(dispatcher_fault_on, holds_the_deadline_of_each_of_two_threads_that_wait) {
    this->run(2, [](comm::communicator& world) {
        dispatched here{omni_samples(2, {3, 4}), omni_phases({2}), world.rank()};
        auto const others = world.split(0, static_cast<std::uint32_t>(to_index(world.rank())), patience);
        bool const late = world.rank() == odd;
        bool first = !late;
        std::deque<std::vector<std::byte>> rooms;
        std::atomic<bool> inside = false;
        std::atomic<bool> over = false;
        auto const await = [](std::atomic<bool> const& event) {
            for (comm::deadline const end = patience; !event && !end.passed();) {
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
        };
        comm::dispatcher_options options;
        // The deadline of the second passes while the first step is in here.
        options.allocate = [&](std::size_t, std::size_t bytes) -> std::span<std::byte> {
            if (std::exchange(first, false)) {
                inside = true;
                await(over);
            }
            return rooms.emplace_back(bytes);
        };
        comm::dispatcher dispatch{world, omni_phases({2}), patience, options};
        auto next = dispatch.prepare(here.samples(), here.fields());
        // Nobody comes to the second, and it takes the first along.
        auto const wait_for_first = [&] {
            EXPECT_THAT(error_of([&] { return next.wait(patience); }).reason(),
                        HasSubstr("the deadline passed before a callback returned"));
        };
        if (late) {
            wait_for_first();
        } else {
            auto after_next = dispatch.prepare(here.samples(), here.fields());
            std::thread second{[&] {
                await(inside);
                EXPECT_THAT(error_of([&] { return after_next.wait(impatience); }).reason(),
                            HasSubstr("the deadline passed before a callback returned"));
                over = true;
            }};
            wait_for_first();
            second.join();
        }
        others->barrier().wait(patience);
    });
}

TYPED_TEST(dispatcher_fault_on, says_which_row_exceeds_64_bits) {
    this->run(1, [](comm::communicator& world) {
        std::vector<std::uint64_t> const text{3, 4};
        comm::dispatcher dispatch{world, {{.name = "llm", .group = flat_group({1})}}, patience};
        comm::step_field const field{
            .name = "text", .bytes = {}, .columns = std::uint64_t{1} << 40, .element_bytes = std::uint64_t{1} << 40};
        auto next = dispatch.prepare({.text = text}, {&field, 1});
        std::string said;
        try {
            static_cast<void>(next.wait(patience));
        } catch (std::overflow_error const& caught) {
            said = caught.what();
        }
        EXPECT_EQ(said, "prepare: fields[0].columns = 1099511627776 of .element_bytes = 1099511627776 exceed 64 bits");
    });
}

TYPED_TEST(dispatcher_fault_on, goes_on_after_outputs_that_do_not_fit) {
    this->run(3, [](comm::communicator& world) {
        attempt one{world};
        auto dispatch = one.dispatcher();
        auto step = one.prepare(dispatch).wait(patience);
        std::vector<std::byte> const source(step.rows_of(0).at_encoder * 8);
        std::vector<std::byte> target(step.rows_of(0).at_llm * 8 + (one.is_odd() ? 1 : 0));
        std::array const fields{comm::output_field{.name = "h", .source = source, .target = target, .columns = 8}};
        if (one.is_odd()) {
            EXPECT_THAT(refusal_of([&] { step.forward(0, fields).wait(patience); }),
                        HasSubstr("fields[0].target.size()"));
        } else {
            EXPECT_EQ(error_of([&] { step.forward(0, fields).wait(patience); }).peer(), odd);
        }
        EXPECT_THAT(refusal_of([&] { step.forward(2, fields).wait(patience); }), HasSubstr("encoder = 2"));
        one.here.expect_to_move_outputs(step);
        EXPECT_TRUE(dispatch.usable());
    });
}

}  // namespace
}  // namespace evenkeel::test::dispatcher_faults_test
