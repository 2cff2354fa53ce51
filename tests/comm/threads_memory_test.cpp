// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/agreement.hpp>
#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/threads.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/cargo.hpp"
#include "tests/support/mailbox.hpp"
#include "tests/support/scarce_memory.hpp"

namespace evenkeel::test {

thread_local long allocations_left = -1;

}  // namespace evenkeel::test

using evenkeel::test::allocations_left;

// Only so can an allocation in the middle of an operation be made to fail. Not inlined: g++ 12 takes `free` where it
// expects `delete` for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (allocations_left >= 0 && allocations_left-- == 0) {
        throw std::bad_alloc{};
    }
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc{};
}

// The one in libstdc++ calls the one above; a sanitizer brings one that does not.
[[gnu::noinline]] void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    try {
        return operator new(size);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace evenkeel::test {
namespace {

/// Runs `operation` on three ranks again and again; each time a later allocation of rank 1 fails, until none is left.
/// Rank 1 either gets its `std::bad_alloc` or does not need that memory; the others are told, and nobody waits in vain.
///
/// @param least  So often does rank 1 allocate, also where the others have been there before it.
void expect_to_survive(std::function<void(comm::communicator&)> const& operation, long least = 1) {
    for (long number = 0;; ++number) {
        SCOPED_TRACE("allocation " + std::to_string(number));
        ASSERT_LT(number, 1000);
        bool failed = false;
        bool thrown = false;
        try {
            comm::run_threads(uniform_topology(world_size{3}, node_size{3}), [&](comm::communicator& world) {
                if (world.rank() != world_rank{1}) {
                    operation(world);
                    return;
                }
                allocations_left = number;
                try {
                    operation(world);
                } catch (...) {
                    thrown = true;
                    failed = allocations_left < 0;
                    allocations_left = -1;
                    throw;
                }
                failed = allocations_left < 0;
                allocations_left = -1;
            });
        } catch (std::bad_alloc const&) {
            EXPECT_TRUE(thrown);
        } catch (comm::error const& error) {
            ADD_FAILURE() << "the cause was lost: " << error.what();
        }
        if (!failed) {
            EXPECT_GE(number, least);
            return;
        }
    }
}

TEST(threads_without_memory, fail_together_in_an_exchange) {
    expect_to_survive([](comm::communicator& world) {
        long const armed = std::exchange(allocations_left, -1);
        mailbox box{world, [](std::size_t, std::size_t) { return 20'000u; }};
        allocations_left = armed;
        box.exchange(world).wait(patience);
    });
}

TEST(threads_without_memory, fail_together_in_a_gathering) {
    expect_to_survive([](comm::communicator& world) {
        std::array<std::byte, 1> const mine{};
        std::array<std::byte, 3> all{};
        world.all_gather(mine, all).wait(patience);
        world.barrier().wait(patience);
    });
}

TEST(threads_without_memory, fail_together_in_a_split) {
    expect_to_survive([](comm::communicator& world) {
        auto const part = world.split(0, 0, patience);
        part->barrier().wait(patience);
    });
}

TEST(threads_without_memory, fail_together_in_an_agreement) {
    expect_to_survive([](comm::communicator& world) { comm::agree(world, "plan", 7, patience); }, 0);
}

TEST(threads_without_memory, fail_together_in_an_all_to_all) {
    auto const before = home_layout(std::vector<std::size_t>{2, 1, 1});
    auto const after = home_layout(std::vector<std::size_t>{1, 1, 2});
    rearrangement const move{before, after};
    expect_to_survive([&](comm::communicator& world) {
        long const armed = std::exchange(allocations_left, -1);
        cargo goods{move, world.rank(), {field_per_item("pixels", 4, 5'000), field_per_item("label", 4, 3)}};
        auto const fields = goods.moving();
        allocations_left = armed;
        comm::all_to_all(world, move, fields).wait(patience);
    });
}

TEST(threads_without_memory, tell_the_others_that_they_could_not_take_part) {
    auto bytes = untouched_bytes(2);
    for (long number = 0;; ++number) {
        ASSERT_LT(number, 1000);
        auto const ranks = comm::make_threads(uniform_topology(world_size{2}, node_size{2}));
        auto waiting = ranks[0]->exchange(std::array{comm::outgoing{world_rank{1}, bytes}}, {});
        allocations_left = number;
        try {
            auto const exchange = ranks[1]->exchange({}, std::array{comm::incoming{world_rank{0}, bytes}});
            bool const enough = allocations_left >= 0;
            allocations_left = -1;
            ASSERT_TRUE(enough) << "a failed allocation was ignored";
            EXPECT_TRUE(waiting.ready());
            return;
        } catch (std::bad_alloc const&) {
            allocations_left = -1;
            auto const error = error_of([&] { waiting.wait(patience); });
            EXPECT_EQ(error.peer(), world_rank{1});
            EXPECT_STREQ(error.what(), "exchange on rank 0: rank 1 could not take part");
        }
    }
}

TEST(threads_without_memory, are_told_when_a_rank_drops_its_transfer_or_aborts) {
    for (bool const abort : {false, true}) {
        auto const ranks = comm::make_threads(uniform_topology(world_size{2}, node_size{2}));
        auto exchange = ranks[0]->exchange({}, {});
        auto const part = std::string(100, 'x');
        allocations_left = 0;
        if (abort) {
            ranks[0]->abort(part);
        } else {
            exchange = {};
        }
        allocations_left = -1;
        EXPECT_EQ(error_of([&] { ranks[1]->barrier().wait(patience); }).peer(), world_rank{0});
    }
}

}  // namespace
}  // namespace evenkeel::test
